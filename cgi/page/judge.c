/* The page that explains how Podium measures times. */
#include "templates/judge.h"
#include "cgi/page/help.h"
#include "cgi/page/pages.h"

static const struct help_heading HEADINGS[] = {
	{ "sealed", "Sealed" },
	{ "isolated", "Isolated" },
	{ "custom", "Custom" },
	{ "ties", "Ties" },
	{ "held", "Held for review" },
	{ 0 },
};

int page_judge(struct request *request)
{
	struct page page = page_make(request, "How the engines measure", "help");
	page.help_headings = HEADINGS;
	judge_page(&request->body, &page);
	request->may_be_cached = true;
	return 0;
}
