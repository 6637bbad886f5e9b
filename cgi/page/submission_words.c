/* Sentences that explain the figures of a submission's results. */
#include "cgi/page/submission.h"

#include "lib/base/scope.h"

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
