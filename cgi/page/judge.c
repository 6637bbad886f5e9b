/* The page that explains how Podium measures times. */
#include "cgi/page/judge.h"

#include "cgi/page/pages.h"
#include "lib/base/scope.h"
#include "templates/judge.h"

#include <string.h>

static const struct {
	const char *engine, *meaning;
} MEANINGS[] = {
	{ "sealed",
		"The engine “sealed” counts the work of the device: a launcher replays what the "
		"submission launched, without the submission’s host code." },
	{ "isolated",
		"The engine “isolated” counts the call with its host code: the clock, the inputs "
		"and the check are in a process apart from the submission." },
	{ "custom",
		"With the engine “custom”, the task’s own harness runs beside the submission and "
		"takes the time." },
};

const char *engine_meaning(const char *engine)
{
	for (size_t i = 0; i < COUNT(MEANINGS); i++)
		if (strcmp(MEANINGS[i].engine, engine) == 0)
			return MEANINGS[i].meaning;
	return "";
}

int page_judge(struct request *request)
{
	struct page page = page_make(request, "How times are taken", "");
	judge_page(&request->body, &page);
	request->may_be_cached = true;
	return 0;
}
