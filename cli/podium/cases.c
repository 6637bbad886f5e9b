#include "cli/podium/cases.h"

#include "cli/podium/outcome.h"
#include "cli/podium/table.h"
#include "lib/base/format.h"
#include "lib/base/member.h"
#include "lib/base/scope.h"
#include "lib/base/text.h"
#include "lib/gpu/floor.h"
#include "lib/gpu/peaks.h"
#include "lib/result/result.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

bool stage_is_test(const json_t *stage)
{
	return strcmp(member_text(stage, "stage"), "test") == 0;
}

bool case_has_failed(const json_t *one)
{
	return strcmp(member_text(one, "verdict"), "passed") != 0;
}

/* Returns the index of the stage's first case among the cases of the task. If the task ranks by its
 * last benchmark, the stages "ranked" and "profile" run only that one. */
static size_t first_case(const struct report *report, const json_t *stage)
{
	const char *name = member_text(stage, "stage");
	return strcmp(name, "ranked") == 0 || strcmp(name, "profile") == 0
		? task_first_ranked(report->task)
		: 0;
}

int64_t case_number(const struct report *report, const json_t *stage, const json_t *one)
{
	const int64_t most = INT64_MAX - 1 - (int64_t)first_case(report, stage);
	int64_t index = json_integer_value(json_object_get(one, "index"));
	return (index < most ? index : most) + (int64_t)first_case(report, stage) + 1;
}

/* ---- cells ---- */

struct cell {
	struct arena *arena;
	const struct report *report;
	const json_t *stage, *one;
};

static const char *number_cell(const struct cell *cell)
{
	return arena_printf(cell->arena, "%" PRId64, case_number(cell->report, cell->stage, cell->one));
}

static const char *spec_cell(const struct cell *cell)
{
	return member_text(cell->one, "spec");
}

static const char *result_cell(const struct cell *cell)
{
	return member_text(cell->one, "verdict");
}

static const char *duration_of(const struct cell *cell, const char *key)
{
	format_text text;
	format_duration_ns(text, member_real(cell->one, key));
	return arena_strdup(cell->arena, text);
}

static const char *time_cell(const struct cell *cell)
{
	format_text text;
	if (case_has_failed(cell->one))
		return result_cell(cell);
	double mean_ns = member_real(cell->one, "mean_ns"), err_ns = member_real(cell->one, "err_ns");
	format_measured(text, mean_ns, err_ns, floor_reached_ns(cell->report->device->model, mean_ns));
	return arena_strdup(cell->arena, text);
}

static const char *interval_cell(const struct cell *cell)
{
	format_text text;
	if (case_has_failed(cell->one))
		return NULL;
	format_interval(
		text, interval_of(member_real(cell->one, "mean_ns"), member_real(cell->one, "err_ns")));
	return arena_strdup(cell->arena, text);
}

static const char *best_cell(const struct cell *cell)
{
	return duration_of(cell, "best_ns");
}
static const char *worst_cell(const struct cell *cell)
{
	return duration_of(cell, "worst_ns");
}
static const char *constant_cell(const struct cell *cell)
{
	return duration_of(cell, "constant_ns");
}
static const char *own_cell(const struct cell *cell)
{
	return duration_of(cell, "own_ns");
}

static const char *overrun_cell(const struct cell *cell)
{
	return isnan(member_real(cell->one, "gap_ns")) ? "none" : duration_of(cell, "gap_ns");
}

static const char *count_of(const struct cell *cell, const char *key)
{
	double count = member_real(cell->one, key);
	return isnan(count) ? NULL : arena_printf(cell->arena, "%.0f", count);
}

static const char *runs_cell(const struct cell *cell)
{
	return count_of(cell, "runs");
}
static const char *blocks_cell(const struct cell *cell)
{
	return count_of(cell, "blocks");
}
static const char *repeated_cell(const struct cell *cell)
{
	return count_of(cell, "repeated");
}

static struct rates rates_of(const struct cell *cell)
{
	const struct task *task = cell->report->task;
	return rates_of_case(task->flops, task->bytes, spec_cell(cell),
		member_real(cell->one, "mean_ns"), cell->report->device->model);
}

static const char *rate_words(
	struct arena *arena, double value, const char *unit, double percent, const char *of)
{
	const char *figure = result_figure(arena, value, unit),
			   *share = result_figure(arena, percent, "%");
	return figure && share ? arena_printf(arena, "%s, %s of %s", figure, share, of) : figure;
}

static const char *bandwidth_cell(const struct cell *cell)
{
	const struct rates rates = rates_of(cell);
	return rate_words(cell->arena, rates.gb_s, "GB/s", rates.memory_percent, "peak");
}

static const char *compute_cell(const struct cell *cell)
{
	const struct rates rates = rates_of(cell);
	return rate_words(cell->arena, rates.tflop_s, "TFLOP/s", rates.compute_percent,
		peaks_number_name(rates.type));
}

static struct device_state device_state_of(const struct cell *cell)
{
	cleanup_free char *json = json_dumps(json_object_get(cell->one, "device"), JSON_COMPACT);
	return result_device(cell->arena, json);
}

static const char *sm_clock_cell(const struct cell *cell)
{
	return device_state_of(cell).sm_clock;
}
static const char *memory_clock_cell(const struct cell *cell)
{
	return device_state_of(cell).memory_clock;
}
static const char *temperature_cell(const struct cell *cell)
{
	return device_state_of(cell).temperature;
}
static const char *power_cell(const struct cell *cell)
{
	return device_state_of(cell).power;
}
static const char *slowed_by_cell(const struct cell *cell)
{
	return device_state_of(cell).slowed_by;
}

static bool is_measured(const json_t *one)
{
	return !isnan(member_real(one, "blocks"));
}

/* ---- the tables ---- */

/* A kind of table: which cases it lists, and its columns. A table leaves out empty columns. */
struct layout {
	bool (*takes)(const json_t *one); /* whether the table lists the case; NULL: lists all cases */
	struct layout_column {
		const char *heading;
		bool is_number; /* as in struct table_column */
		const char *(*cell)(const struct cell *cell);
	} columns[table_most_columns];
};
static const struct layout TESTS = {
	.columns = {
		{ "#", true, number_cell },
		{ "Case", false, spec_cell },
		{ "Result", false, result_cell },
	},
};
static const struct layout TIMES = {
	.columns = {
		{ "#", true, number_cell },
		{ "Shape", false, spec_cell },
		{ "Time", true, time_cell },
		{ "Best", true, best_cell },
		{ "Worst", true, worst_cell },
		{ "Runs", true, runs_cell },
		{ "Bandwidth", true, bandwidth_cell },
		{ "Compute", true, compute_cell },
	},
};
/* For times that a judge has measured. Their best and worst values are times of blocks of calls. */
static const struct layout JUDGED_TIMES = {
	.columns = {
		{ "#", true, number_cell },
		{ "Shape", false, spec_cell },
		{ "Time", true, time_cell },
		{ "95 % interval", true, interval_cell },
		{ "Best block", true, best_cell },
		{ "Worst block", true, worst_cell },
		{ "Runs", true, runs_cell },
		{ "Bandwidth", true, bandwidth_cell },
		{ "Compute", true, compute_cell },
	},
};
static const struct layout MEASUREMENT = {
	.takes = is_measured,
	.columns = {
		{ "#", true, number_cell },
		{ "Constant, subtracted", true, constant_cell },
		{ "Overrun, added", true, overrun_cell },
		{ "Blocks", true, blocks_cell },
		{ "Repeated", true, repeated_cell },
		{ "Own clock, never ranked", true, own_cell },
		{ "SM clock", true, sm_clock_cell },
		{ "Memory clock", true, memory_clock_cell },
		{ "Temperature", true, temperature_cell },
		{ "Power", true, power_cell },
		{ "Slowed down by", false, slowed_by_cell },
	},
};

static size_t make_columns(const struct layout *layout, struct table_column *columns)
{
	size_t count = 0;
	for (; count < table_most_columns && layout->columns[count].heading; count++)
		columns[count] = (struct table_column){ layout->columns[count].heading,
			layout->columns[count].is_number };
	return count;
}

/* Appends the title and the table. Returns false and appends nothing if the table would list no
 * case. */
static bool write_cases(struct buffer *out, struct arena *arena, const struct report *report,
	const json_t *stage, const struct layout *layout, const char *title)
{
	const json_t *cases = json_object_get(stage, "cases");
	struct table_column columns[table_most_columns];
	size_t count = make_columns(layout, columns), i;
	json_t *one;
	struct table table = table_make(arena, columns, count, json_array_size(cases));
	json_array_foreach(cases, i, one)
	{
		const struct cell cell = { arena, report, stage, one };
		const char *cells[table_most_columns];
		if (layout->takes && !layout->takes(one))
			continue;
		for (size_t column = 0; column < count; column++)
			cells[column] = layout->columns[column].cell(&cell);
		table_add(&table, cells);
	}
	if (!table.row_count)
		return false;
	buffer_text(out, title);
	table_write(out, &table, "  ");
	return true;
}

static bool is_judged(const json_t *stage)
{
	size_t i;
	json_t *one;
	json_array_foreach(json_object_get(stage, "cases"), i, one) if (is_measured(one)) return true;
	return false;
}

/* Prints the judge's notes on the times that the judge measured. */
static void write_notes(struct buffer *out, const struct report *report, const json_t *stage)
{
	size_t i;
	json_t *one;
	json_array_foreach(json_object_get(stage, "cases"), i, one)
	{
		if (!is_measured(one) || case_has_failed(one) || !*member_text(one, "message"))
			continue;
		buffer_printf(out, "  Benchmark %" PRId64 ": ", case_number(report, stage, one));
		text_append_printable(out, member_text(one, "message"));
		buffer_byte(out, '\n');
	}
}

void cases_write(
	struct buffer *out, struct arena *arena, const struct report *report, const json_t *stage)
{
	if (stage_is_test(stage)) {
		write_cases(out, arena, report, stage, &TESTS, "");
		return;
	}
	write_cases(out, arena, report, stage, is_judged(stage) ? &JUDGED_TIMES : &TIMES, "");
	if (!write_cases(out, arena, report, stage, &MEASUREMENT, "  How it was measured:\n"))
		return;
	write_notes(out, report, stage);
	buffer_text(out,
		"  The constant is the time of the same call with an empty kernel, interleaved with the "
		"submission's calls.\n"
		"  An overrun is the submission's work on the device before and after its calls.\n"
		"  The own clock is the submission's own measurement. Podium does not trust it.\n");
}
