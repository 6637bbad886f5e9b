/* A leaderboard's page. */
#include "cgi/leaderboard.h"

#include "cgi/announcement.h"
#include "cgi/board_charts.h"
#include "cgi/pages.h"
#include "cgi/picture.h"
#include "lib/scope.h"
#include "templates/leaderboard.h"

#include <math.h>

/* ---- the speed of light ---- */

static const char *memory_peak(struct arena *arena, const struct gpu_peaks *peaks)
{
	return arena_printf(arena, "%.3g TB/s", peaks->memory_gb_s / 1e3);
}

/* Rates that a score of 1 ns would be: as many percent of the peak as the bound has ns, times 100.
 */
struct speed_of_light speed_of_light(struct arena *arena, const struct task *task, const char *gpu)
{
	const struct gpu_peaks *peaks = peaks_find(gpu);
	struct speed_of_light light = { .ns = NAN };
	if (!peaks)
		return light;
	const struct rates rates = rates_of_score(task, 1, gpu);
	double gpus = task_most_ranks(task), memory_ns = rates.memory_percent / 100 / gpus,
		   compute_ns = rates.compute_percent / 100 / gpus;
	if (!isfinite(memory_ns) && !isfinite(compute_ns))
		return light;
	bool memory = !isfinite(compute_ns) || memory_ns >= compute_ns;
	light.ns = memory ? memory_ns : compute_ns;
	light.limit = memory ? "memory" : peaks_number_name(rates.type);
	light.peak = memory ? memory_peak(arena, peaks)
						: arena_printf(arena, "%.4g TFLOP/s", peaks->tflop_s[rates.type]);
	return light;
}

double least_time_of_case(const struct task *task, size_t index, const char *gpu)
{
	const struct rates rates =
		rates_of_case(task->flops, task->bytes, task->benchmarks[index], 1, gpu);
	return fmax(rates.memory_percent, rates.compute_percent) / 100
		/ task_most_ranks(task); /* what is not known is no bound */
}

const char *share_of_peak(struct arena *arena, const struct speed_of_light *light, double score_ns)
{
	double percent = 100 * light->ns / score_ns;
	if (!isfinite(percent))
		return "";
	if (percent < .005)
		return "<0.01 %";
	return arena_printf(arena,
		percent < 9.95        ? "%.2f %%"
			: percent < 999.5 ? "%.1f %%"
							  : "%.0f %%",
		percent);
}

/* ---- baselines among the rows ---- */

/* Where the list begins: what is faster than its first row belongs to an earlier page. */
static double begin_ns(const struct ranking_list *list)
{
	return list->paging.page > 1 && list->row_count ? list->rows[0].score_ns : -INFINITY;
}

/* And where it ends. */
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
		 i++) /* a comparison may have put a slower row before a faster one */
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

static bool have_comparisons(const struct ranking_list *list)
{
	for (size_t i = 0; i < list->row_count; i++)
		if (list->rows[i].comparison_count)
			return true;
	return false;
}

static void describe(struct request *request, struct leaderboard_view *view, int64_t now_ms)
{
	enum { columns_without_peak = 9 };
	view->state = board_condition(view->board, now_ms);
	view->may_edit = board_is_managed_by(view->board, &request->viewer);
	view->has_comparisons = have_comparisons(&view->list);
	view->light = (struct speed_of_light){ .ns = NAN };
	if (view->gpu)
		view->light = speed_of_light(request->arena, view->task->task, view->gpu->name);
	view->columns = columns_without_peak + (view->light.ns > 0);
}

static const struct page_share *share_of(
	struct request *request, const struct leaderboard_view *view)
{
	struct page_share *share = arena_alloc(request->arena, sizeof *share);
	*share = (struct page_share){
		.description = view->gpu
			? arena_printf(request->arena,
				"The ranking of %s on %s: kernels timed on this site's own devices.",
				view->board->name, view->gpu->name)
			: "A leaderboard for GPU kernels, timed on this site's own devices.",
		.picture = picture_is_possible()
			? ranking_address(request->arena, view->board, view->gpu, NULL, "/share.png", 0)
			: NULL,
		.feed = ranking_address(request->arena, view->board, NULL, NULL, ".atom", 0),
		.feed_title = arena_printf(request->arena, "Records of %s", view->board->name),
	};
	return share;
}

static int draw_trend(struct request *request, struct leaderboard_view *view)
{
	struct trend trend = { .board = view->board,
		.gpu = view->gpu,
		.light = &view->light,
		.own_id = view->list.own ? request->viewer.id : 0 };
	return board_trend(request, &trend, &view->charts_html);
}

int page_leaderboard(struct request *request)
{
	const char *other_view = request_query(request, "view");
	if (other_view && *other_view)
		return page_board_view(request, other_view);
	struct board board;
	struct page page = page_make(request, "", "leaderboards");
	struct leaderboard_view view = { .board = &board };
	int rc = board_of_request(request, &board);
	if (!rc)
		rc = board_chosen_gpu(request, &board, &view.gpu);
	if (!rc)
		rc = ranking_list_read(request, &board, view.gpu, &view.list);
	if (!rc)
		rc = task_view_get(request, board.task_version_id, board.version_revision, &view.task);
	if (!rc)
		rc = announcements_read(request, board.id, &page);
	if (!rc)
		describe(request, &view, page.now_ms);
	if (!rc && view.gpu)
		rc = draw_trend(request, &view);
	if (rc)
		return rc;
	page.title = board.name;
	page.share = share_of(request, &view);
	leaderboard_page(&request->body, &page, &view, request->arena);
	request->may_be_cached = true;
	return 0;
}
