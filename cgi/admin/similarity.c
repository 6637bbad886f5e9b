/* The page of similar submissions, for those who may read all of a leaderboard. */
#include "cgi/admin/similarity.h"

#include "cgi/admin/leaderboard.h"
#include "cgi/page/pages.h"
#include "templates/similarity.h"

int similarity_read(
	struct request *request, struct leaderboard *leaderboard, struct similarity_view *view)
{
	struct similar_pair *pairs;
	int rc = leaderboard_of_reader(request, leaderboard);
	if (!rc)
		rc = similarity_list(
			request->db, request->arena, leaderboard->id, &pairs, &view->count, request->error);
	if (rc)
		return rc;
	view->leaderboard = leaderboard;
	view->pairs = pairs;
	return 0;
}

int page_similarity(struct request *request)
{
	struct leaderboard leaderboard;
	struct similarity_view view;
	int rc = similarity_read(request, &leaderboard, &view);
	if (rc)
		return rc;
	struct page page = page_make(request,
		arena_printf(request->arena, "Similar submissions to %s", leaderboard.name), "admin");
	similarity_page(&request->body, &page, &view);
	return 0;
}
