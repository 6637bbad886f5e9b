/* The page of a leaderboard. */
#include "cgi/page/leaderboard.h"

#include "cgi/page/announcement.h"
#include "cgi/page/home.h"
#include "cgi/page/leaderboard_charts.h"
#include "cgi/page/pages.h"
#include "cgi/render/picture.h"
#include "lib/task/version.h"
#include "templates/leaderboard.h"

#include <math.h>
#include <string.h>

/* ---- baselines among the rows ---- */

/* Baselines faster than this time belong to an earlier page. */
static double begin_ns(const struct ranking_list *list)
{
	return list->paging.page > 1 && list->row_count ? list->rows[0].score_ns : -INFINITY;
}

/* Baselines slower than this time belong to a later page. */
static double end_ns(const struct ranking_list *list)
{
	return list->paging.page < list->paging.pages && list->row_count
		? list->rows[list->row_count - 1].score_ns
		: INFINITY;
}

size_t baselines_before(const struct ranking_list *list, size_t index, size_t *first)
{
	double from = begin_ns(list),
		   to = index < list->row_count ? list->rows[index].score_ns : end_ns(list);
	for (size_t i = 0; i < index && list->baseline_count;
		 i++) /* a comparison can rank a row with a longer time above a faster one */
		from = fmax(from, list->rows[i].score_ns);
	size_t count = 0;
	*first = 0;
	while (*first < list->baseline_count && list->baselines[*first].score_ns < from)
		++*first;
	while (*first + count < list->baseline_count && list->baselines[*first + count].score_ns < to)
		count++;
	return count;
}

/* ---- the page ---- */

const char *ranking_other_columns(struct arena *arena, const struct leaderboard_view *view)
{
	struct ranking_filter other = view->list.filter;
	other.all_columns = !other.all_columns;
	return ranking_address(arena, view->shown, view->gpu, &other, "",
		view->list.paging.page > 1 ? view->list.paging.page : 0);
}

const char *ranking_export(
	struct arena *arena, const struct leaderboard_view *view, const char *ending)
{
	const char *address =
		ranking_address(arena, view->shown, view->gpu, &view->list.filter, ending, 0);
	return arena_printf(arena, "%s%cpage=all", address, strchr(address, '?') ? '&' : '?');
}

static void count_reasons(struct leaderboard_view *view)
{
	for (size_t i = 0; i < view->list.row_count; i++) {
		const struct ranking_row *row = &view->list.rows[i];
		view->reasons += row->reason != NULL;
		view->comparisons += row->comparison_count;
		for (size_t c = 0; c < row->comparison_count; c++)
			view->open_comparisons += head_to_head_is_open(&row->comparisons[c]);
	}
}

const char *ranking_reasons_title(struct arena *arena, const struct leaderboard_view *view)
{
	if (!view->comparisons)
		return view->reasons
			? arena_printf(arena, "%s with a reason", plural(arena, (int64_t)view->reasons, "rank"))
			: "";
	const char *all = plural(arena, (int64_t)view->comparisons, "head-to-head");
	return view->open_comparisons
		? arena_printf(arena, "%s, %zu running", all, view->open_comparisons)
		: all;
}

static void description_of(struct request *request, struct leaderboard_view *view, int64_t now_ms)
{
	enum { usual_columns = 5, more_columns = 4 };
	view->state = leaderboard_state(&view->shown->leaderboard, now_ms);
	view->may_edit = view->shown->viewer_right >= RIGHT_CHANGE;
	view->summary = home_summary(request->arena, view->task->task->description);
	count_reasons(view);
	view->light = (struct speed_of_light){ .ns = NAN };
	if (view->gpu)
		view->light = speed_of_light(request->arena, view->task->task, view->gpu->name);
	view->columns = usual_columns;
	if (view->list.filter.all_columns)
		view->columns += more_columns + (view->light.ns > 0) + (view->speed_up.baseline != NULL);
}

static const struct page_share *share_of(
	struct request *request, const struct leaderboard_view *view)
{
	struct page_share *share = arena_alloc(request->arena, sizeof *share);
	*share = (struct page_share){
		.description = view->gpu
			? arena_printf(request->arena,
				"The ranking of %s on %s: kernels timed on this site's own devices.",
				view->shown->leaderboard.name, view->gpu->name)
			: "A leaderboard for GPU kernels, timed on this site's own devices.",
		.picture = picture_is_possible()
			? ranking_address(request->arena, view->shown, view->gpu, NULL, "/share.png", 0)
			: NULL,
		.feed = ranking_address(request->arena, view->shown, NULL, NULL, ".atom", 0),
		.feed_title = arena_printf(request->arena, "Records of %s", view->shown->leaderboard.name),
	};
	return share;
}

int page_leaderboard(struct request *request)
{
	const char *other_view = request_query(request, "view");
	if (other_view && *other_view)
		return page_leaderboard_charts(request, other_view);
	struct shown_leaderboard shown;
	struct page page = page_make(request, "", "leaderboards");
	struct leaderboard_view view = { .shown = &shown };
	int rc = shown_leaderboard_of_request(request, &shown);
	if (!rc)
		rc = ranked_gpu_of_request(request, &shown, &view.gpu);
	if (!rc)
		rc = ranking_list_read(request, &shown, view.gpu, &view.list);
	if (!rc)
		rc = task_view_get(
			request, shown.leaderboard.task_version_id, shown.version_revision, &view.task);
	if (!rc)
		rc = speed_up_read(request, view.task->task, view.list.baselines, view.list.baseline_count,
			&view.speed_up);
	if (!rc)
		rc = announcements_read(request, shown.leaderboard.id, &page);
	if (rc)
		return rc;
	description_of(request, &view, page.now_ms);
	page.title = shown.leaderboard.name;
	page.share = share_of(request, &view);
	leaderboard_page(&request->body, &page, &view, request->arena);
	request->may_be_cached = true;
	return 0;
}
