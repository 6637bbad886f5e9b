/* The page that explains how Podium measures times. */
#include "templates/judge.h"
#include "cgi/page/pages.h"

int page_judge(struct request *request)
{
	struct page page = page_make(request, "How times are taken", "help");
	judge_page(&request->body, &page);
	request->may_be_cached = true;
	return 0;
}
