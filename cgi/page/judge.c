/* The page that explains how Podium measures times. */
#include "cgi/page/judge.h"

#include "cgi/page/pages.h"
#include "lib/base/scope.h"
#include "templates/judge.h"

#include <string.h>

static const struct {
	const char *engine, *meaning;
} MEANINGS[] = {
	{ "isolated", "Clock, inputs and check were in a process apart from the submission." },
	{ "custom", "The task’s own harness ran beside the submission and took the time." },
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
