/* A ranking for programs, as JSON and CSV, with the same filters as the page. */
#include "cgi/page/leaderboard.h"
#include "cgi/page/pages.h"
#include "cgi/render/csv.h"
#include "cgi/render/json.h"
#include "lib/base/format.h"
#include "lib/base/interval.h"
#include "lib/base/scope.h"
#include "lib/gpu/floor.h"

struct whole_ranking {
	struct shown_leaderboard shown;
	const struct ranked_gpu *gpu; /* NULL: the leaderboard has no device and no rows */
	struct ranking_list list;
	struct speed_up speed_up;
};

static int read_whole(struct request *request, struct whole_ranking *whole)
{
	const struct task_view *view;
	int rc = shown_leaderboard_of_request(request, &whole->shown);
	if (!rc)
		rc = ranked_gpu_of_request(request, &whole->shown, &whole->gpu);
	if (!rc)
		rc = ranking_list_read_all(request, &whole->shown, whole->gpu, &whole->list);
	if (!rc)
		rc = task_view_get(request, whole->shown.leaderboard.task_version_id,
			whole->shown.version_revision, &view);
	if (!rc)
		rc = speed_up_read(request, view->task, whole->list.baselines, whole->list.baseline_count,
			&whole->speed_up);
	request->may_be_cached = !rc;
	return rc;
}

/* ---- JSON ---- */

static json_t *row_json(const struct whole_ranking *whole, const struct ranking_row *row)
{
	format_text submitted_at;
	format_iso(submitted_at, row->submitted_at_ms);
	const struct interval interval =
		floor_interval_of(whole->gpu->name, row->score_ns, row->score_err_ns);
	return json_pack("{s:I, s:b, s:s, s:f, s:I, s:s, s:s?, s:o, s:s, s:I, s:o, s:o, s:o, s:o, s:o}",
		"rank", (json_int_t)row->place, "tie", (int)row->is_tie, "user", row->user, "score_ns",
		row->score_ns, "submission", (json_int_t)row->submission_id, "submitted_at", submitted_at,
		"engine", row->engine, "score_err_ns", json_number(row->score_err_ns), "language",
		dialect_find(whole->shown.leaderboard.language, row->dialect)->name, "attempts",
		(json_int_t)row->attempts, "interval_95_low_ns", json_number(interval.low_ns),
		"interval_95_high_ns", json_number(interval.high_ns), "floor_ns",
		json_number(floor_reached_ns(whole->gpu->name, row->score_ns)), "results",
		json_count(row->results), "speed_up",
		json_number(speed_up_of(&whole->speed_up, row->score_ns)));
}

int page_leaderboard_json(struct request *request)
{
	struct whole_ranking whole = { 0 };
	int rc = read_whole(request, &whole);
	if (rc)
		return rc;
	json_t *rows = json_array();
	for (size_t i = 0; i < whole.list.row_count; i++)
		json_array_append_new(rows, row_json(&whole, &whole.list.rows[i]));
	return respond_json(request,
		json_pack("{s:s, s:s?, s:I, s:s?, s:o, s:o}", "leaderboard", whole.shown.leaderboard.name,
			"gpu", whole.gpu ? whole.gpu->name : NULL, "version",
			(json_int_t)whole.shown.leaderboard.version_number, "baseline",
			whole.speed_up.baseline ? whole.speed_up.baseline->user : NULL, "baselines",
			speed_up_json(&whole.speed_up, whole.gpu ? whole.gpu->name : NULL), "rows", rows));
}

/* ---- CSV ---- */

static void csv_count(struct buffer *out, int64_t number)
{
	if (number == SQL_NULL_INTEGER)
		csv_text(out, "");
	else
		csv_integer(out, number);
}

/* A baseline has no user. Its name is in the last column, which is empty for users. */
static void csv_row(struct buffer *out, const struct whole_ranking *whole,
	const struct ranking_row *row, bool is_baseline)
{
	format_text submitted_at;
	const char *language = whole->shown.leaderboard.language;
	const struct interval interval =
		floor_interval_of(whole->gpu->name, row->score_ns, row->score_err_ns);
	format_iso(submitted_at, row->submitted_at_ms);
	csv_count(out, is_baseline ? SQL_NULL_INTEGER : row->place);
	csv_text(out, is_baseline ? "" : row->user);
	csv_real(out, row->score_ns);
	csv_count(out, row->submission_id);
	csv_text(out, submitted_at);
	csv_text(out, row->engine ? row->engine : "");
	csv_real(out, row->score_err_ns);
	csv_text(out, is_baseline ? "" : dialect_find(language, row->dialect)->name);
	csv_count(out, is_baseline ? SQL_NULL_INTEGER : row->attempts);
	csv_real(out, interval.low_ns);
	csv_real(out, interval.high_ns);
	csv_real(out, floor_reached_ns(whole->gpu->name, row->score_ns));
	csv_text(out, is_baseline ? "" : row->is_tie ? "true" : "false");
	csv_count(out, is_baseline ? SQL_NULL_INTEGER : row->results);
	csv_real(out, speed_up_of(&whole->speed_up, row->score_ns));
	csv_text(out, is_baseline ? row->user : "");
	csv_end_line(out);
}

/* Returns a file name: "matmul-version-2-H200-filtered.csv". */
static const char *csv_name(struct arena *arena, const struct whole_ranking *whole)
{
	const char *version = shows_old_version(&whole->shown)
		? arena_printf(arena, "-version-%lld", (long long)whole->shown.leaderboard.version_number)
		: "";
	return arena_printf(arena, "%s%s-%s%s.csv", whole->shown.leaderboard.name, version,
		whole->gpu ? whole->gpu->name : "none", whole->list.is_filtered ? "-filtered" : "");
}

int page_leaderboard_csv(struct request *request)
{
	static const char *const header[] = { "rank", "user", "score_ns", "submission", "submitted_at",
		"engine", "score_err_ns", "language", "attempts", "interval_95_low_ns",
		"interval_95_high_ns", "floor_ns", "tie", "results", "speed_up", "baseline" };
	struct whole_ranking whole = { 0 };
	int rc = read_whole(request, &whole);
	if (rc)
		return rc;
	response_as_text(request, csv_name(request->arena, &whole), true);
	request->content_type = "text/csv; charset=utf-8; header=present";
	for (size_t i = 0; i < COUNT(header); i++)
		csv_text(&request->body, header[i]);
	csv_end_line(&request->body);
	for (size_t i = 0; i < whole.list.row_count; i++)
		csv_row(&request->body, &whole, &whole.list.rows[i], false);
	for (size_t i = 0; i < whole.speed_up.count; i++)
		csv_row(&request->body, &whole, whole.speed_up.baselines[i], true);
	return 0;
}
