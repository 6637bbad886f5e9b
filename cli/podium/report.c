#include "cli/podium/report.h"

#include "cli/podium/outcome.h"
#include "cli/podium/table.h"
#include "cli/podium/verdicts.h"
#include "lib/floor.h"
#include "lib/format.h"
#include "lib/peaks.h"
#include "lib/result.h"
#include "lib/scope.h"
#include "lib/text.h"

#include <ctype.h>
#include <inttypes.h>
#include <math.h>
#include <string.h>

enum { tail_lines = 20 };

/* ---- text of strangers ---- */

static void write_line(struct buffer *out, const char *indent, const char *line, size_t length)
{
	buffer_text(out, indent);
	while (length && line[length - 1] == '\r')
		length--;
	for (size_t at = 0, step; at < length; at += step) {
		const char *tab = memchr(line + at, '\t', length - at);
		step = tab ? (size_t)(tab - line) - at : length - at;
		cleanup_buffer struct buffer piece = {0};
		buffer_append(&piece, line + at, step);
		text_append_printable(out, buffer_string(&piece));
		buffer_text(out, tab ? "    " : "");
		step += tab != NULL;
	}
	buffer_byte(out, '\n');
}

static size_t count_lines(const char *text)
{
	size_t lines = 0;
	for (; *text; text += strcspn(text, "\n"), text += *text == '\n')
		lines++;
	return lines;
}

/* The last lines of a text, each behind `indent`. */
static void write_tail(struct buffer *out, const char *indent, const char *text)
{
	size_t lines = count_lines(text), skipped = lines > tail_lines ? lines - tail_lines : 0;
	if (skipped)
		buffer_printf(out, "%s(%zu lines before these are left out; --json has them)\n", indent, skipped);
	for (; *text; text += *text == '\n') {
		size_t length = strcspn(text, "\n");
		if (skipped)
			skipped--;
		else
			write_line(out, indent, text, length);
		text += length;
	}
}

static void write_fact(struct buffer *out, const char *name, const char *value)
{
	if (!value || !*value)
		return;
	buffer_printf(out, "  %-11s", name);
	text_append_printable(out, value);
	buffer_byte(out, '\n');
}

/* ---- the verdict ---- */

static void write_verdict_name(struct buffer *out, const struct report *report, const char *name, enum verdict verdict)
{
	cleanup_buffer struct buffer word = {0};
	text_append_printable(&word, name);
	if (word.length)
		word.data[0] = (char)toupper((unsigned char)word.data[0]);
	if (report->in_colour)
		buffer_printf(out, "\x1b[1;%dm%s.\x1b[0m", verdict == VERDICT_PASSED ? 32 : 31, buffer_string(&word));
	else
		buffer_printf(out, "%s.", buffer_string(&word));
}

static void write_score(struct buffer *out, const struct report *report)
{
	format_text score;
	format_duration_err(score, outcome_number(report->outcome, "score_ns"), outcome_number(report->outcome, "score_err_ns"));
	if (*score)
		buffer_printf(out, "Score: %s\n", score);
}

static void write_verdict(struct buffer *out, const struct report *report)
{
	const char *name = outcome_text(report->outcome, "verdict"), *reason = outcome_text(report->outcome, "reason");
	enum verdict verdict = verdict_from_name(name);
	write_verdict_name(out, report, name, verdict);
	buffer_printf(out, " %s\n", verdict_advice_at_home(verdict));
	if (strcmp(reason, verdict_advice(verdict)) != 0)
		write_tail(out, "", reason);
	write_score(out, report);
}

/* ---- the first failing case ---- */

static bool is_test(const json_t *stage)
{
	return strcmp(outcome_text(stage, "stage"), "test") == 0;
}

static bool has_failed(const json_t *one)
{
	return strcmp(outcome_text(one, "verdict"), "passed") != 0;
}

static int64_t number_of(const json_t *one)
{
	return json_integer_value(json_object_get(one, "index")) + 1;
}

static void write_failure(struct buffer *out, struct arena *arena, const struct report *report, const json_t *one)
{
	const char *message = outcome_text(one, "message");
	const struct mismatch mismatch = result_mismatch(arena, message);
	format_text tolerance = "";
	if (report->task->tolerance > 0)
		snprintf(tolerance, sizeof tolerance, "%g", report->task->tolerance);
	write_tail(out, "  ", !mismatch.place ? message : mismatch.summary ? mismatch.summary : "");
	if (!mismatch.place)
		return;
	write_fact(out, "first at", mismatch.place);
	write_fact(out, "expected", mismatch.expected);
	write_fact(out, "got", mismatch.got);
	write_fact(out, "off by", mismatch.off);
	write_fact(out, "tolerance", mismatch.tolerance ? mismatch.tolerance : tolerance);
}

static void write_first_failure(struct buffer *out, struct arena *arena, const struct report *report)
{
	size_t i, j;
	json_t *stage, *one;
	json_array_foreach(json_object_get(report->outcome, "stages"), i, stage)
		json_array_foreach(json_object_get(stage, "cases"), j, one)
			if (has_failed(one) && *outcome_text(one, "message")) {
				buffer_printf(out, "\nFirst failing case, %s %" PRId64 ": ",
					is_test(stage) ? "test" : "benchmark", number_of(one));
				text_append_printable(out, outcome_text(one, "spec"));
				buffer_byte(out, '\n');
				write_failure(out, arena, report, one);
				return;
			}
}

/* ---- the cases of a stage ---- */

struct cell { struct arena *arena; const struct report *report; const json_t *one; };

static const char *number(const struct cell *cell)
{
	return arena_printf(cell->arena, "%" PRId64, number_of(cell->one));
}

static const char *spec(const struct cell *cell)
{
	return outcome_text(cell->one, "spec");
}

static const char *result(const struct cell *cell)
{
	return outcome_text(cell->one, "verdict");
}

static const char *duration(const struct cell *cell, const char *key)
{
	format_text text;
	format_duration_ns(text, outcome_number(cell->one, key));
	return arena_strdup(cell->arena, text);
}

static const char *time_of(const struct cell *cell)
{
	format_text text;
	if (has_failed(cell->one))
		return result(cell);
	format_duration_err(text, outcome_number(cell->one, "mean_ns"), outcome_number(cell->one, "err_ns"));
	return arena_strdup(cell->arena, text);
}

static const char *interval(const struct cell *cell)
{
	format_text text;
	format_duration_range(text, outcome_number(cell->one, "low_ns"), outcome_number(cell->one, "high_ns"));
	return arena_strdup(cell->arena, text);
}

static const char *best(const struct cell *cell) { return duration(cell, "best_ns"); }
static const char *worst(const struct cell *cell) { return duration(cell, "worst_ns"); }
static const char *constant(const struct cell *cell) { return duration(cell, "constant_ns"); }
static const char *own(const struct cell *cell) { return duration(cell, "own_ns"); }

static const char *overrun(const struct cell *cell)
{
	return isnan(outcome_number(cell->one, "gap_ns")) ? "none" : duration(cell, "gap_ns");
}

static const char *count_of(const struct cell *cell, const char *key)
{
	double count = outcome_number(cell->one, key);
	return isnan(count) ? NULL : arena_printf(cell->arena, "%.0f", count);
}

static const char *runs(const struct cell *cell) { return count_of(cell, "runs"); }
static const char *blocks(const struct cell *cell) { return count_of(cell, "blocks"); }
static const char *repeated(const struct cell *cell) { return count_of(cell, "repeated"); }

static struct rates rates_of(const struct cell *cell)
{
	const struct task *task = cell->report->task;
	return rates_of_case(task->flops, task->bytes, spec(cell), outcome_number(cell->one, "mean_ns"), cell->report->device->model);
}

static const char *rate(struct arena *arena, double value, const char *unit, double percent, const char *of)
{
	const char *figure = result_figure(arena, value, unit), *share = result_figure(arena, percent, "%");
	return figure && share ? arena_printf(arena, "%s, %s of %s", figure, share, of) : figure;
}

static const char *bandwidth(const struct cell *cell)
{
	const struct rates rates = rates_of(cell);
	return rate(cell->arena, rates.gb_s, "GB/s", rates.memory_percent, "peak");
}

static const char *compute(const struct cell *cell)
{
	const struct rates rates = rates_of(cell);
	return rate(cell->arena, rates.tflop_s, "TFLOP/s", rates.compute_percent, peaks_number_name(rates.type));
}

static struct device_state device_of(const struct cell *cell)
{
	cleanup_free char *json = json_dumps(json_object_get(cell->one, "device"), JSON_COMPACT);
	return result_device(cell->arena, json);
}

static const char *sm_clock(const struct cell *cell) { return device_of(cell).sm_clock; }
static const char *memory_clock(const struct cell *cell) { return device_of(cell).memory_clock; }
static const char *temperature(const struct cell *cell) { return device_of(cell).temperature; }
static const char *power(const struct cell *cell) { return device_of(cell).power; }
static const char *slowed_by(const struct cell *cell) { return device_of(cell).slowed_by; }

static bool is_measured(const json_t *one)
{
	return !isnan(outcome_number(one, "blocks"));
}

/* A table of cases: which of them, its columns, and what is in these. Columns that hold nothing are left out. */
struct layout {
	bool (*takes)(const json_t *one);     /* NULL: all */
	struct table_column columns[table_most_columns];
	const char *(*cells[table_most_columns])(const struct cell *cell);
};
static const struct layout TESTS = { NULL,
	{ { "#", true }, { "Case", false }, { "Result", false } },
	{ number, spec, result } };
static const struct layout TIMES = { NULL,
	{ { "#", true }, { "Shape", false }, { "Time", true }, { "95 % interval", true }, { "Best", true }, { "Worst", true },
		{ "Runs", true }, { "Bandwidth", true }, { "Compute", true } },
	{ number, spec, time_of, interval, best, worst, runs, bandwidth, compute } };
static const struct layout MEASUREMENT = { is_measured,
	{ { "#", true }, { "Constant, subtracted", true }, { "Overrun, added", true }, { "Blocks", true }, { "Repeated", true },
		{ "Own clock, never ranked", true }, { "SM clock", true }, { "Memory clock", true }, { "Temperature", true },
		{ "Power", true }, { "Slowed down by", false } },
	{ number, constant, overrun, blocks, repeated, own, sm_clock, memory_clock, temperature, power, slowed_by } };

static size_t column_count(const struct layout *layout)
{
	size_t count = 0;
	while (count < table_most_columns && layout->columns[count].heading)
		count++;
	return count;
}

/* False where it has no case for such a table. */
static bool write_cases(struct buffer *out, struct arena *arena, const struct report *report, const json_t *stage,
	const struct layout *layout, const char *title)
{
	const json_t *cases = json_object_get(stage, "cases");
	size_t columns = column_count(layout), i;
	json_t *one;
	struct table table = table_make(arena, layout->columns, columns, json_array_size(cases));
	json_array_foreach(cases, i, one) {
		const struct cell cell = { arena, report, one };
		const char *cells[table_most_columns];
		if (layout->takes && !layout->takes(one))
			continue;
		for (size_t column = 0; column < columns; column++)
			cells[column] = layout->cells[column](&cell);
		table_add(&table, cells);
	}
	if (!table.row_count)
		return false;
	buffer_text(out, title);
	table_write(out, &table, "  ");
	return true;
}

static void write_tables(struct buffer *out, struct arena *arena, const struct report *report, const json_t *stage)
{
	if (is_test(stage)) {
		write_cases(out, arena, report, stage, &TESTS, "");
		return;
	}
	write_cases(out, arena, report, stage, &TIMES, "");
	if (write_cases(out, arena, report, stage, &MEASUREMENT, "  How it was measured:\n"))
		buffer_text(out, "  The constant is what the same call took with an empty kernel, measured in turns with the submission's.\n"
			"  The own clock is what the submission measured in its own process, which it could make say anything.\n");
}

/* ---- the kernels of CUDA C++ ---- */

static const char *amount(struct arena *arena, int64_t value)
{
	return value >= 0 ? arena_printf(arena, "%" PRId64, value) : NULL;
}

static void write_kernels(struct buffer *out, struct arena *arena, const json_t *stage)
{
	static const struct table_column columns[] = {
		{ "Kernel", false }, { "Registers", true }, { "Shared memory", true }, { "Stack", true }, { "Spill stores", true },
		{ "Spill loads", true },
	};
	cleanup_free char *json = json_dumps(json_object_get(stage, "kernels"), JSON_COMPACT);
	struct kernel *kernels;
	size_t count = result_kernels(arena, json, &kernels);
	struct table table = table_make(arena, columns, COUNT(columns), count);
	for (size_t i = 0; i < count; i++) {
		const struct kernel *one = &kernels[i];
		const char *cells[] = { one->name, amount(arena, one->registers), amount(arena, one->shared_bytes),
			amount(arena, one->stack_bytes), amount(arena, one->spill_store_bytes), amount(arena, one->spill_load_bytes) };
		table_add(&table, cells);
	}
	if (count)
		table_write(out, &table, "  ");
}

static void write_slowed(struct buffer *out, struct arena *arena, const json_t *stage)
{
	cleanup_free char *json = json_dumps(json_object_get(stage, "conditions"), JSON_COMPACT);
	struct condition *conditions;
	size_t count = result_conditions(arena, json, &conditions);
	for (size_t i = 0; i < count; i++)
		if (strcmp(conditions[i].when, "while timed") == 0 && strcmp(conditions[i].slowed_by, "nothing") != 0) {
			buffer_text(out, "  While it was timed the GPU was slowed down by: ");
			text_append_printable(out, conditions[i].slowed_by);
			buffer_byte(out, '\n');
		}
}

static void write_stage(struct buffer *out, struct arena *arena, const struct report *report, const json_t *stage)
{
	const char *verdict = outcome_text(stage, "verdict"), *message = outcome_text(stage, "message");
	double duration_ms = outcome_number(stage, "duration_ms");
	format_text took = "";
	if (duration_ms >= 0)
		format_stopwatch(took, (int64_t)duration_ms);
	buffer_byte(out, '\n');
	text_append_printable(out, outcome_text(stage, "stage"));
	buffer_text(out, ": ");
	text_append_printable(out, *verdict ? verdict : "not ended");
	buffer_printf(out, "%s%s\n", *took ? ", " : "", took);
	if (*message && strcmp(verdict, "passed") != 0 && strcmp(message, outcome_text(report->outcome, "reason")) != 0)
		write_tail(out, "  ", message);
	write_kernels(out, arena, stage);
	write_tables(out, arena, report, stage);
	write_slowed(out, arena, stage);
}

/* ---- what the result rests on ---- */

static void write_engine(struct buffer *out, const struct report *report)
{
	const char *engine = outcome_text(report->outcome, "engine"), *reason = outcome_text(report->outcome, "engine_reason");
	if (!*engine)
		return;
	cleanup_buffer struct buffer words = {0};
	buffer_printf(&words, "%s%s%s", engine, *reason ? ". The task's own harness took the times. " : "", reason);
	write_fact(out, "Engine", buffer_string(&words));
}

static void write_device(struct buffer *out, const struct report *report)
{
	const struct device *device = report->device;
	cleanup_buffer struct buffer words = {0};
	buffer_printf(&words, "%s, %s", device->model, device->product);
	if (!device_is_cpu(device))
		buffer_printf(&words, ", %s", device->uuid);
	write_fact(out, "Device", buffer_string(&words));
}

static void write_environment(struct buffer *out, struct arena *arena, const struct report *report)
{
	static const char *const keys[] = { "driver", "nvcc", "python", "torch", "triton" };
	json_t *chosen = json_object();
	struct fact *facts;
	for (size_t i = 0; i < COUNT(keys); i++)
		json_object_set(chosen, keys[i], json_object_get(json_object_get(report->outcome, "environment"), keys[i]));
	cleanup_free char *json = json_dumps(chosen, JSON_COMPACT);
	json_decref(chosen);
	cleanup_buffer struct buffer words = {0};
	size_t count = result_environment(arena, json, &facts);
	for (size_t i = 0; i < count; i++)
		buffer_printf(&words, "%s%s %s", i ? ", " : "", facts[i].name, facts[i].value);
	write_fact(out, "With", buffer_string(&words));
}

/* What the server would say of a ranked result that its GPU cannot reach. */
static void write_objection(struct buffer *out, struct arena *arena, const struct report *report)
{
	bool warm = strcmp(outcome_text(report->outcome, "engine"), "isolated") != 0;
	size_t i, j;
	json_t *stage, *one;
	json_array_foreach(json_object_get(report->outcome, "stages"), i, stage)
		json_array_foreach(json_object_get(stage, "cases"), j, one) {
			const struct floor_case floor = { report->task->flops, report->task->bytes, outcome_text(one, "spec"),
				report->device->model, warm };
			const char *objection = strcmp(outcome_text(stage, "stage"), "ranked") == 0
				? floor_objection(arena, &floor, outcome_number(one, "mean_ns")) : NULL;
			if (objection) {
				buffer_printf(out, "The server would hold this for review. Benchmark %" PRId64 ": %s\n", number_of(one), objection);
				return;
			}
		}
}

static bool is_asked_for(const struct report *report)
{
	for (size_t i = 0; i < report->task->gpu_count; i++)
		if (strcmp(report->task->gpus[i], report->device->model) == 0)
			return true;
	return report->task->gpu_count == 0;
}

/* Where what was measured here differs from what the server measures. */
static void write_differences(struct buffer *out, const struct report *report)
{
	const json_t *seed = json_object_get(report->outcome, "secret_seed");
	if (json_is_integer(seed))
		buffer_printf(out, "The seeds differ from the server's, whose are secret; --seed %lld repeats this run.\n", json_integer_value(seed));
	if (!is_asked_for(report)) {
		buffer_text(out, "The task is for ");
		for (size_t i = 0; i < report->task->gpu_count; i++) {
			buffer_text(out, !i ? "" : i + 1 == report->task->gpu_count ? " and " : ", ");
			text_append_printable(out, report->task->gpus[i]);
		}
		buffer_printf(out, ", so times will be others there than on %s.\n", report->device->model);
	}
}

/* ---- what was printed ---- */

static void write_output(struct buffer *out, const json_t *stage)
{
	static const struct { const char *key, *words; } STREAMS[] = { { "stdout", "Standard output" }, { "stderr", "Standard error" } };
	bool compiles = strcmp(outcome_text(stage, "stage"), "compile") == 0;
	for (size_t i = 0; i < COUNT(STREAMS); i++) {
		const char *text = outcome_text(stage, STREAMS[i].key);
		if (!*text)
			continue;
		buffer_printf(out, "\n%s of ", compiles && i == 0 ? "Output" : STREAMS[i].words);
		text_append_printable(out, outcome_text(stage, "stage"));
		buffer_text(out, ":\n");
		write_tail(out, "  | ", text);
	}
}

void report_write(struct buffer *out, struct arena *arena, const struct report *report)
{
	const json_t *stages = json_object_get(report->outcome, "stages");
	size_t i;
	json_t *stage;
	write_verdict(out, report);
	write_first_failure(out, arena, report);
	json_array_foreach(stages, i, stage)
		write_stage(out, arena, report, stage);
	buffer_byte(out, '\n');
	write_engine(out, report);
	write_device(out, report);
	write_environment(out, arena, report);
	write_objection(out, arena, report);
	write_differences(out, report);
	json_array_foreach(stages, i, stage)
		write_output(out, stage);
}
