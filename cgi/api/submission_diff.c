/* Compares two submissions. */
#include "cgi/page/submission_diff.h"
#include "cgi/api/api.h"
#include "cgi/api/calls.h"

#include <math.h>
#include <string.h>

enum { context_lines = 3, most_diff_rows = 20000 };

/* Compares the times of submission b with those of a. A ratio below 1 means that b is faster. */
static json_t *times_json(const struct submission_diff_times *times)
{
	const struct submission_diff_ratio ratio = submission_diff_ratio(times);
	const char *verdict = ratio.is_tie ? "tie"
		: isnan(ratio.low)             ? NULL
		: ratio.ratio < 1              ? "faster"
									   : "slower";
	return json_pack("{s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o}", "a_ns", json_number(times->a_ns),
		"a_err_ns", json_number(times->a_err_ns), "b_ns", json_number(times->b_ns), "b_err_ns",
		json_number(times->b_err_ns), "ratio", json_number(ratio.ratio), "lower",
		json_number(ratio.low), "upper", json_number(ratio.high), "verdict", json_text(verdict));
}

static json_t *diff_gpu_json(const struct submission_diff_gpu *gpu)
{
	json_t *cases = json_array(), *differences = json_array();
	for (size_t i = 0; i < gpu->case_count; i++) {
		json_t *one = times_json(&gpu->cases[i].times);
		json_object_set_new(one, "spec", json_text(gpu->cases[i].spec));
		json_array_append_new(cases, one);
	}
	for (size_t i = 0; i < gpu->fact_count; i++)
		json_array_append_new(differences,
			json_pack("{s:s, s:o, s:o}", "name", gpu->facts[i].name, "a",
				json_text(gpu->facts[i].a), "b", json_text(gpu->facts[i].b)));
	return json_pack("{s:s, s:o, s:o, s:o, s:o, s:o}", "gpu", gpu->gpu, "a_verdict",
		json_text(gpu->a_verdict), "b_verdict", json_text(gpu->b_verdict), "score",
		times_json(&gpu->score), "cases", cases, "environment_differences", differences);
}

static json_t *side_json(const struct submission_diff_side *side)
{
	return json_pack("{s:I, s:s, s:s, s:I, s:s, s:s, s:o}", "id", (json_int_t)side->id, "user",
		side->user, "leaderboard", side->leaderboard, "task_version",
		(json_int_t)side->version_number, "mode", side->mode, "file_name", side->file_name,
		"submitted_at", json_moment(side->submitted_at_ms));
}

/* ---- the sources ---- */

/* Writes the head of a hunk: its first line and line count in each text. */
static void append_hunk_head(struct buffer *out, const struct diff_row *rows, size_t count)
{
	size_t a = 0, b = 0, a_first = 0, b_first = 0;
	for (size_t i = 0; i < count; i++) {
		a_first = a_first || !rows[i].a ? a_first : rows[i].a;
		b_first = b_first || !rows[i].b ? b_first : rows[i].b;
		a += rows[i].kind != DIFF_ADDED;
		b += rows[i].kind != DIFF_REMOVED;
	}
	buffer_printf(out, "@@ -%zu,%zu +%zu,%zu @@\n", a_first, a, b_first, b);
}

static size_t append_hunk(struct buffer *out, const struct diff_row *rows, size_t count)
{
	size_t length = 0;
	while (length < count && rows[length].kind != DIFF_GAP)
		length++;
	if (length)
		append_hunk_head(out, rows, length);
	for (size_t i = 0; i < length; i++)
		buffer_printf(out, "%c%s\n",
			rows[i].kind == DIFF_SAME        ? ' '
				: rows[i].kind == DIFF_ADDED ? '+'
											 : '-',
			rows[i].text);
	return length;
}

/* Returns a unified diff of both sources, or NULL if the viewer may not see both. */
static const char *diff_text(struct request *request, const struct submission_diff_side *a,
	const struct submission_diff_side *b, bool *is_cut)
{
	struct diff_row *rows;
	cleanup_buffer struct buffer out = { 0 };
	*is_cut = false;
	if (!a->source.bytes || !b->source.bytes)
		return NULL;
	struct diff diff = diff_of(
		request->arena, a->source.bytes, a->source.length, b->source.bytes, b->source.length);
	size_t count = diff.removed + diff.added
		? diff_rows(request->arena, &diff, context_lines, most_diff_rows, &rows, is_cut)
		: 0;
	if (count)
		buffer_printf(&out, "--- %lld/%s\n+++ %lld/%s\n", (long long)a->id, a->file_name,
			(long long)b->id, b->file_name);
	for (size_t i = 0; i < count; i++)
		i += append_hunk(&out, rows + i, count - i);
	return arena_strdup(request->arena, buffer_string(&out));
}

/* ---- the call ---- */

static int read_submission_number(struct request *request, const char *name, int64_t *id)
{
	int rc = api_query_integer(request, name, 1, INT64_MAX, 0, id);
	return rc || *id
		? rc
		: fail_field(request->error, name, "Name two submissions: ?a=NUMBER&b=NUMBER.");
}

int api_compare(struct request *request)
{
	struct submission_diff_view view = { 0 };
	int64_t a_id, b_id;
	bool is_cut;
	int rc = read_submission_number(request, "a", &a_id);
	if (!rc)
		rc = read_submission_number(request, "b", &b_id);
	if (!rc)
		rc = submission_diff_read(request, a_id, b_id, &view);
	if (rc)
		return rc;
	json_t *gpus = json_array();
	for (size_t i = 0; i < view.gpu_count; i++)
		json_array_append_new(gpus, diff_gpu_json(&view.gpus[i]));
	const char *diff = diff_text(request, view.a, view.b, &is_cut);
	return respond_json(request,
		json_pack("{s:o, s:o, s:o, s:o, s:b}", "a", side_json(view.a), "b", side_json(view.b),
			"gpus", gpus, "diff", json_text(diff), "diff_cut", (int)is_cut));
}
