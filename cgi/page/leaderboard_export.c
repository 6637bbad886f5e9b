/* A ranking for programs, as JSON and CSV, with the same filters and pages as the page. With
 * ?page=all the answer is the whole ranking, which is sent piece by piece. */
#include "cgi/page/leaderboard.h"
#include "cgi/page/pages.h"
#include "cgi/render/csv.h"
#include "cgi/render/json.h"
#include "lib/base/format.h"
#include "lib/base/interval.h"
#include "lib/base/scope.h"
#include "lib/gpu/floor.h"

#include <string.h>

enum { rows_per_piece = 500 };

struct export
{
	struct shown_leaderboard shown;
	const struct ranked_gpu *gpu; /* NULL: the leaderboard has no device and no rows */
	struct ranking_list list;
	struct speed_up speed_up;
	bool is_all;
	const struct format *format;
	int64_t written; /* rows */
	bool has_ended;
};

struct format {
	void (*write_row)(
		struct buffer *out, const struct export *export, const struct ranking_row *row);
	void (*write_end)(struct buffer *out, const struct export *export);
};

static int read_export(struct request *request, struct export *export)
{
	const struct task_view *view;
	export->is_all = strcmp(request_query_or(request, "page", ""), "all") == 0;
	int rc = shown_leaderboard_of_request(request, &export->shown);
	if (!rc)
		rc = ranked_gpu_of_request(request, &export->shown, &export->gpu);
	if (!rc)
		rc = (export->is_all ? ranking_list_read_all : ranking_list_read)(
			request, &export->shown, export->gpu, &export->list);
	if (!rc)
		rc = task_view_get(request, export->shown.leaderboard.task_version_id,
			export->shown.version_revision, &view);
	if (!rc)
		rc = speed_up_read(request, view->task, export->list.baselines, export->list.baseline_count,
			&export->speed_up);
	request->may_be_cached = !rc;
	return rc;
}

/* Returns the address of the next page, or NULL. */
static const char *next_address(
	struct arena *arena, const struct export *export, const char *ending)
{
	const struct paging *paging = &export->list.paging;
	return !export->is_all && paging->page < paging->pages ? ranking_address(
			   arena, &export->shown, export->gpu, &export->list.filter, ending, paging->page + 1)
														   : NULL;
}

/* ---- pieces ---- */

static void write_rows(
	struct buffer *out, struct export *export, const struct ranking_row *rows, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		export->format->write_row(out, export, &rows[i]);
		export->written++;
	}
}

/* The next rows of a whole ranking without a filter. They go to an arena of their own, so that a
 * long ranking needs no more memory than a piece of it. */
static int write_next_positions(struct request *request, struct export *export)
{
	cleanup_arena struct arena *arena = arena_new();
	struct ranking_row *rows;
	size_t count;
	int64_t first = export->written + 1, last = export->written + rows_per_piece;
	int rc =
		ranking_rows_read(request, arena, &export->shown, export->gpu, first, last, &rows, &count);
	if (!rc)
		write_rows(&request->body, export, rows, count);
	/* The ranking may have become shorter since the first piece. */
	if (!rc && count < rows_per_piece)
		export->list.total = export->written;
	return rc;
}

static void write_next_found(struct buffer *out, struct export *export)
{
	size_t left = export->list.row_count - (size_t) export->written;
	size_t count = left < rows_per_piece ? left : rows_per_piece;
	write_rows(out, export, export->list.rows + export->written, count);
}

static int write_piece(struct request *request)
{
	struct export *export = request->stream_state;
	int rc = 0;
	if (export->has_ended)
		return 0;
	if (export->written < export->list.total) {
		if (export->list.is_filtered)
			write_next_found(&request->body, export);
		else
			rc = write_next_positions(request, export);
	}
	export->has_ended = export->written >= export->list.total;
	if (!rc && export->has_ended)
		export->format->write_end(&request->body, export);
	return rc;
}

/* Writes the rows behind the head that is in the body. */
static int finish_export(struct request *request, struct export *export)
{
	if (!export->is_all) {
		write_rows(&request->body, export, export->list.rows, export->list.row_count);
		export->format->write_end(&request->body, export);
		return 0;
	}
	request->stream = write_piece;
	request->stream_state = export;
	return write_piece(request);
}

/* ---- JSON ---- */

static void json_row(struct buffer *out, const struct export *export, const struct ranking_row *row)
{
	format_text submitted_at;
	format_iso(submitted_at, row->submitted_at_ms);
	const struct interval interval =
		floor_interval_of(export->gpu->name, row->score_ns, row->score_err_ns);
	const struct {
		const char *name;
		double number;
	} numbers[] = {
		{ "score_ns", row->score_ns },
		{ "score_err_ns", row->score_err_ns },
		{ "interval_95_low_ns", interval.low_ns },
		{ "interval_95_high_ns", interval.high_ns },
		{ "floor_ns", floor_reached_ns(export->gpu->name, row->score_ns) },
		{ "speed_up", speed_up_of(&export->speed_up, row->score_ns) },
	};
	buffer_printf(out, "%s{\"rank\":%lld,\"tie\":%s,\"user\":", export->written ? ",\n" : "",
		(long long)row->place, row->is_tie ? "true" : "false");
	json_append_text(out, row->user);
	buffer_printf(out,
		",\"submission\":%lld,\"submitted_at\":\"%s\",\"engine\":", (long long)row->submission_id,
		submitted_at);
	json_append_text(out, row->engine);
	buffer_text(out, ",\"language\":");
	json_append_text(out, dialect_find(export->shown.leaderboard.language, row->dialect)->name);
	buffer_printf(out, ",\"attempts\":%lld,\"results\":", (long long)row->attempts);
	json_append_count(out, row->results);
	for (size_t i = 0; i < COUNT(numbers); i++) {
		buffer_printf(out, ",\"%s\":", numbers[i].name);
		json_append_number(out, numbers[i].number);
	}
	buffer_byte(out, '}');
}

static void json_end(struct buffer *out, const struct export *export)
{
	(void)export;
	buffer_text(out, "]}\n");
}

/* Writes everything but the rows. Without its last brace the rows can follow. */
static int json_head(struct request *request, const struct export *export)
{
	const struct ranked_gpu *gpu = export->gpu;
	const struct paging *paging = &export->list.paging;
	int rc = respond_json(request,
		json_pack("{s:s, s:s?, s:I, s:s?, s:o, s:I, s:o, s:o, s:s?}", "leaderboard",
			export->shown.leaderboard.name, "gpu", gpu ? gpu->name : NULL, "version",
			(json_int_t) export->shown.leaderboard.version_number, "baseline",
			export->speed_up.baseline ? export->speed_up.baseline->user : NULL, "baselines",
			speed_up_json(&export->speed_up, gpu ? gpu->name : NULL), "total",
			(json_int_t) export->list.total, "page",
			json_count(export->is_all || !gpu ? SQL_NULL_INTEGER : paging->page), "pages",
			json_count(export->is_all || !gpu ? SQL_NULL_INTEGER : paging->pages), "next",
			next_address(request->arena, export, ".json")));
	if (rc)
		return rc;
	request->body.length -= strlen("}\n");
	buffer_text(&request->body, ",\"rows\":[");
	return 0;
}

int page_leaderboard_json(struct request *request)
{
	static const struct format json = { json_row, json_end };
	struct export *export = arena_alloc(request->arena, sizeof *export);
	export->format = &json;
	int rc = read_export(request, export);
	if (!rc)
		rc = json_head(request, export);
	return rc ? rc : finish_export(request, export);
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
static void csv_line(struct buffer *out, const struct export *export, const struct ranking_row *row,
	bool is_baseline)
{
	format_text submitted_at;
	const char *language = export->shown.leaderboard.language;
	const struct interval interval =
		floor_interval_of(export->gpu->name, row->score_ns, row->score_err_ns);
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
	csv_real(out, floor_reached_ns(export->gpu->name, row->score_ns));
	csv_text(out, is_baseline ? "" : row->is_tie ? "true" : "false");
	csv_count(out, is_baseline ? SQL_NULL_INTEGER : row->results);
	csv_real(out, speed_up_of(&export->speed_up, row->score_ns));
	csv_text(out, is_baseline ? row->user : "");
	csv_end_line(out);
}

static void csv_row(struct buffer *out, const struct export *export, const struct ranking_row *row)
{
	csv_line(out, export, row, false);
}

/* The baselines follow the last row of the ranking. */
static void csv_end(struct buffer *out, const struct export *export)
{
	bool is_last = export->is_all || export->list.paging.page == export->list.paging.pages;
	for (size_t i = 0; i < export->speed_up.count && is_last; i++)
		csv_line(out, export, export->speed_up.baselines[i], true);
}

/* Returns a file name: "matmul-version-2-H200-filtered.csv". */
static const char *csv_name(struct arena *arena, const struct export *export)
{
	const char *version = shows_old_version(&export->shown)
		? arena_printf(arena, "-version-%lld", (long long)export->shown.leaderboard.version_number)
		: "";
	return arena_printf(arena, "%s%s-%s%s.csv", export->shown.leaderboard.name, version,
		export->gpu ? export->gpu->name : "none", export->list.is_filtered ? "-filtered" : "");
}

int page_leaderboard_csv(struct request *request)
{
	static const char *const header[] = { "rank", "user", "score_ns", "submission", "submitted_at",
		"engine", "score_err_ns", "language", "attempts", "interval_95_low_ns",
		"interval_95_high_ns", "floor_ns", "tie", "results", "speed_up", "baseline" };
	static const struct format csv = { csv_row, csv_end };
	struct export *export = arena_alloc(request->arena, sizeof *export);
	export->format = &csv;
	int rc = read_export(request, export);
	if (rc)
		return rc;
	response_as_text(request, csv_name(request->arena, export), true);
	request->content_type = "text/csv; charset=utf-8; header=present";
	const char *next = next_address(request->arena, export, ".csv");
	if (next)
		response_header(request, "Link", arena_printf(request->arena, "<%s>; rel=\"next\"", next));
	for (size_t i = 0; i < COUNT(header); i++)
		csv_text(&request->body, header[i]);
	csv_end_line(&request->body);
	return finish_export(request, export);
}
