/* Sentences that explain the figures of a submission's results. */
#include "cgi/page/submission.h"

#include "cgi/page/job_words.h"
#include "cgi/render/html.h"
#include "lib/base/format.h"
#include "lib/base/scope.h"
#include "lib/result/verdict.h"

#include <jansson.h>
#include <math.h>
#include <string.h>

struct printed job_printed(struct arena *arena, const struct job_row *job)
{
	json_t *tail = job->tail ? json_loads(job->tail, 0, NULL) : NULL;
	const char *out = json_string_value(json_object_get(tail, "stdout")),
			   *err = json_string_value(json_object_get(tail, "stderr"));
	struct printed printed = { arena_strdup(arena, out ? out : ""),
		arena_strdup(arena, err ? err : "") };
	json_decref(tail);
	return printed;
}

/* ---- stages ---- */

bool stage_has_failed(const struct stage_row *stage)
{
	return stage->verdict && strcmp(stage->verdict, "passed") != 0;
}

bool stage_is_timed(const struct stage_row *stage)
{
	return strcmp(stage->name, "benchmark") == 0 || strcmp(stage->name, "ranked") == 0;
}

size_t stage_passed_cases(const struct stage_row *stage)
{
	size_t passed = 0;
	for (size_t i = 0; i < stage->case_count; i++)
		passed += strcmp(stage->cases[i].verdict, "passed") == 0;
	return passed;
}

const char *submission_stage_title(const struct stage_row *stage)
{
	return stage_is_timed(stage)              ? "Time"
		: strcmp(stage->name, "test") == 0    ? "Test"
		: strcmp(stage->name, "profile") == 0 ? "Profile"
		: strcmp(stage->name, "compile") == 0 ? "Compile"
											  : stage->name;
}

const char *submission_stage_words(struct arena *arena, const struct stage_row *stage)
{
	if (strcmp(stage->name, "compile") == 0)
		return "compiled";
	if (!stage->case_count)
		return arena_printf(arena, "%s passed", stage->name);
	if (strcmp(stage->name, "test") == 0)
		return arena_printf(arena, "%s passed", plural(arena, (int64_t)stage->case_count, "test"));
	return stage_is_timed(stage)
		? arena_printf(arena, "%s timed", plural(arena, (int64_t)stage->case_count, "shape"))
		: "profiled";
}

bool stage_has_details(const struct submission_view *view, const struct stage_row *stage)
{
	bool has_output = stage->output_days != SQL_NULL_INTEGER || (stage->out && *stage->out)
		|| (stage->err && *stage->err) || (stage->command && *stage->command);
	return (stage->case_count && strcmp(stage->name, "test") == 0)
		|| (stage->kernels && view->may_see_source) || (stage->conditions && !stage_is_timed(stage))
		|| (view->may_see_output && has_output);
}

int64_t submission_error_line(
	const struct submission_view *view, const struct job_row *job, const struct stage_row *stage)
{
	const char *messages[] = { job->reason, stage->message };
	for (size_t i = 0; i < COUNT(messages); i++) {
		int64_t line = line_link_first(messages[i], &view->lines);
		if (line)
			return line;
	}
	if (!view->may_see_output)
		return 0;
	return strcmp(stage->name, "compile") == 0 ? line_link_first(stage->err, &view->lines)
											   : line_link_last(stage->err, &view->lines);
}

/* ---- the whole submission ---- */

struct next_step submission_next_step(const struct submission_view *view)
{
	const char *verdict = submission_verdict(view->jobs, view->job_count);
	if (!view->is_author || view->row->dry_run || !verdict)
		return (struct next_step){ 0 };
	switch (verdict_from_name(verdict)) {
	case VERDICT_PASSED:
		return strcmp(view->row->mode, "ranked") == 0
			? (struct next_step){ .title = "Improve it" }
			: (struct next_step){ .title = "Submit it ranked", .mode = "ranked" };
	case VERDICT_CANCELLED:
	case VERDICT_INTERNAL_ERROR: return (struct next_step){ .title = "Submit again" };
	default: return (struct next_step){ .title = "Fix and submit again" };
	}
}

/* The best rank of the jobs; 0: none is ranked. */
static const struct job_row *best_ranked(const struct submission_view *view)
{
	const struct job_row *best = NULL;
	for (size_t i = 0; i < view->job_count; i++)
		if (view->jobs[i].place != SQL_NULL_INTEGER && (!best || view->jobs[i].place < best->place))
			best = &view->jobs[i];
	return best;
}

const char *submission_title_state(struct arena *arena, const struct submission_view *view)
{
	const char *state = submission_state(view->jobs, view->job_count),
			   *verdict = submission_verdict(view->jobs, view->job_count);
	const struct job_row *best = best_ranked(view);
	cleanup_buffer struct buffer rank = { 0 };
	for (size_t i = 0; i < view->job_count; i++)
		if (strcmp(view->jobs[i].state, "running") == 0 && job_progress(&view->jobs[i]).of)
			return view->jobs[i].progress;
	if (strcmp(state, "done") != 0 || !verdict)
		return strcmp(state, "done") == 0 ? "finished" : state;
	if (strcmp(verdict, "passed") != 0 || !best)
		return verdict;
	html_rank(&rank, best->place, best->is_tied == 1);
	return arena_printf(arena, "rank %s", buffer_string(&rank));
}

/* ---- figures ---- */

bool stage_is_judged(const struct stage_row *stage)
{
	for (size_t i = 0; i < stage->case_count; i++)
		if (stage->cases[i].blocks != SQL_NULL_INTEGER)
			return true;
	return false;
}

bool stage_has_device(const struct stage_row *stage)
{
	for (size_t i = 0; i < stage->case_count; i++)
		if (stage->cases[i].device)
			return true;
	return false;
}

bool case_has_note(const struct case_row *one)
{
	return one->runs != SQL_NULL_INTEGER && strcmp(one->verdict, "passed") == 0 && one->message
		&& *one->message;
}

bool stage_has_notes(const struct stage_row *stage)
{
	for (size_t i = 0; i < stage->case_count; i++)
		if (case_has_note(&stage->cases[i]))
			return true;
	return false;
}

size_t stage_pictures(const struct stage_row *stage)
{
	struct samples_range range;
	size_t pictures = 0;
	for (size_t i = 0; i < stage->case_count; i++)
		pictures += samples_range(&stage->cases[i].samples, &range);
	return pictures;
}

bool stage_has_plans(const struct stage_row *stage)
{
	for (size_t i = 0; i < stage->case_count; i++)
		if (stage->cases[i].plan)
			return true;
	return false;
}

bool stage_is_traced(const struct stage_row *stage)
{
	for (size_t i = 0; i < stage->case_count; i++)
		if (stage->cases[i].plan && !isnan(stage->cases[i].plan->call_ns))
			return true;
	return false;
}

bool plan_is_open(const struct stage_row *stage, size_t index)
{
	for (size_t i = 0; i < index; i++)
		if (stage->cases[i].plan)
			return false;
	return strcmp(stage->name, "test") != 0 && stage->cases[index].plan->count <= plan_first_rows;
}

/* Returns the task's formulas, such as "8 * size", as the end of a sentence. */
static const char *formula_words(struct arena *arena, const struct submission_row *row)
{
	if (row->bytes && row->flops)
		return arena_printf(arena, "bytes = %s, operations = %s", row->bytes, row->flops);
	return row->bytes ? arena_printf(arena, "bytes = %s", row->bytes)
					  : arena_printf(arena, "operations = %s", row->flops);
}

/* Appends the peaks of the number types that the cases use: "989 TFLOP/s in fp16, 67 TFLOP/s in
 * fp32". */
static void append_compute_peaks(struct buffer *out, struct arena *arena,
	const struct gpu_peaks *peaks, const struct stage_row *stage)
{
	bool used[NUMBER_TYPES] = { 0 };
	const char *before = ", and without sparsity ";
	for (size_t i = 0; i < stage->case_count; i++)
		used[peaks_number_type(stage->cases[i].spec)] = true;
	for (int type = 0; type < NUMBER_TYPES; type++) {
		if (!used[type] || !(peaks->tflop_s[type] > 0))
			continue;
		buffer_printf(out, "%s%s in %s", before,
			result_figure(arena, peaks->tflop_s[type], "TFLOP/s"),
			peaks_number_name((enum number_type)type));
		before = ", ";
	}
}

const char *submission_rates_meaning(struct arena *arena, const struct submission_row *row,
	const struct job_row *job, const struct stage_row *stage)
{
	const struct gpu_peaks *peaks = peaks_find(job->gpu);
	cleanup_buffer struct buffer text = { 0 };
	if (!row->bytes && !row->flops)
		return NULL;
	buffer_printf(&text,
		"Rates count the work that the task states (%s), not what the kernel moves or computes. ",
		formula_words(arena, row));
	if (!peaks) {
		buffer_printf(&text, "The peak rates of %s are not known here, so there is no percentage.",
			strcmp(job->gpu, "CPU") == 0 ? "a CPU" : job->gpu);
		return arena_strdup(arena, buffer_string(&text));
	}
	buffer_printf(&text, "Percentages are of what the maker states for %s: %s of memory bandwidth",
		peaks->model, result_figure(arena, peaks->memory_gb_s, "GB/s"));
	if (row->flops)
		append_compute_peaks(&text, arena, peaks, stage);
	buffer_printf(&text, " (%s).", peaks->source);
	return arena_strdup(arena, buffer_string(&text));
}
