#include "cli/podium/report.h"

#include "cli/podium/outcome.h"
#include "cli/podium/plans.h"
#include "cli/podium/print.h"
#include "cli/podium/table.h"
#include "cli/podium/verdicts.h"
#include "lib/base/format.h"
#include "lib/base/member.h"
#include "lib/base/scope.h"
#include "lib/base/text.h"
#include "lib/gpu/floor.h"
#include "lib/result/result.h"
#include "lib/task/engine.h"

#include <ctype.h>
#include <inttypes.h>
#include <string.h>

/* ---- the verdict ---- */

static void write_verdict_name(
	struct buffer *out, const struct report *report, const char *name, enum verdict verdict)
{
	cleanup_buffer struct buffer word = { 0 };
	text_append_printable(&word, name);
	if (word.length)
		word.data[0] = (char)toupper((unsigned char)word.data[0]);
	if (report->in_colour)
		buffer_printf(
			out, "\x1b[1;%dm%s.\x1b[0m", verdict == VERDICT_PASSED ? 32 : 31, buffer_string(&word));
	else
		buffer_printf(out, "%s.", buffer_string(&word));
}

static void write_score(struct buffer *out, const struct report *report)
{
	format_text score;
	double score_ns = member_real(report->outcome, "score_ns");
	format_measured(score, score_ns, member_real(report->outcome, "score_err_ns"),
		floor_reached_ns(report->device->model, score_ns));
	if (*score)
		buffer_printf(out, "Score: %s\n", score);
}

static void write_verdict(struct buffer *out, const struct report *report)
{
	const char *name = member_text(report->outcome, "verdict"),
			   *reason = member_text(report->outcome, "reason");
	enum verdict verdict = verdict_from_name(name);
	write_verdict_name(out, report, name, verdict);
	buffer_printf(out, " %s\n", verdict_advice_at_home(verdict));
	if (strcmp(reason, verdict_advice(verdict)) != 0)
		print_tail(out, "", reason);
	write_score(out, report);
}

/* ---- the first failing case ---- */

static void write_failure(
	struct buffer *out, struct arena *arena, const struct report *report, const json_t *one)
{
	const char *message = member_text(one, "message");
	const struct mismatch mismatch = result_mismatch(arena, message);
	format_text tolerance = "";
	if (report->task->tolerance > 0)
		snprintf(tolerance, sizeof tolerance, "%g", report->task->tolerance);
	print_tail(out, "  ", !mismatch.place ? message : mismatch.summary ? mismatch.summary : "");
	if (!mismatch.place)
		return;
	print_fact(out, "first at", mismatch.place);
	print_fact(out, "expected", mismatch.expected);
	print_fact(out, "got", mismatch.got);
	print_fact(out, "off by", mismatch.off);
	print_fact(out, "tolerance", mismatch.tolerance ? mismatch.tolerance : tolerance);
}

/* Whether the reason that is printed below the verdict already gives the case's message. */
static bool is_told(const struct report *report, const json_t *one)
{
	return strcmp(member_text(one, "message"), member_text(report->outcome, "reason")) == 0;
}

static void write_first_failure(
	struct buffer *out, struct arena *arena, const struct report *report)
{
	size_t i, j;
	json_t *stage, *one;
	json_array_foreach(json_object_get(report->outcome, "stages"), i, stage)
		json_array_foreach(json_object_get(stage, "cases"), j,
			one) if (case_has_failed(one) && *member_text(one, "message") && !is_told(report, one))
	{
		buffer_printf(out, "\nFirst failing case, %s %" PRId64 ": ",
			stage_is_test(stage) ? "test" : "benchmark", case_number(report, stage, one));
		text_append_printable(out, member_text(one, "spec"));
		buffer_byte(out, '\n');
		write_failure(out, arena, report, one);
		return;
	}
}

/* ---- the kernels of CUDA C++ ---- */

static const char *amount_cell(struct arena *arena, int64_t value)
{
	return value >= 0 ? arena_printf(arena, "%" PRId64, value) : NULL;
}

static void write_kernels(struct buffer *out, struct arena *arena, const json_t *stage)
{
	static const struct table_column columns[] = {
		{ "Kernel", false },
		{ "Registers", true },
		{ "Shared memory", true },
		{ "Stack", true },
		{ "Spill stores", true },
		{ "Spill loads", true },
	};
	cleanup_free char *json = json_dumps(json_object_get(stage, "kernels"), JSON_COMPACT);
	struct kernel *kernels;
	size_t count = result_kernels(arena, json, &kernels);
	struct table table = table_make(arena, columns, COUNT(columns), count);
	for (size_t i = 0; i < count; i++) {
		const struct kernel *one = &kernels[i];
		const char *cells[] = { one->name, amount_cell(arena, one->registers),
			amount_cell(arena, one->shared_bytes), amount_cell(arena, one->stack_bytes),
			amount_cell(arena, one->spill_store_bytes), amount_cell(arena, one->spill_load_bytes) };
		table_add(&table, cells);
	}
	if (count)
		table_write(out, &table, "  ");
}

static void write_plans(
	struct buffer *out, struct arena *arena, const struct report *report, const json_t *stage)
{
	size_t i, j;
	json_t *plan, *one;
	json_array_foreach(json_object_get(stage, "plans"), i, plan)
	{
		const json_t *nodes = json_object_get(plan, "nodes");
		buffer_printf(out, "\nPlan of %s ", stage_is_test(stage) ? "test" : "benchmark");
		json_array_foreach(json_object_get(stage, "cases"), j, one)
		{
			if (member_whole(one, "index", -1) == member_whole(plan, "index", -2))
				buffer_printf(out, "%" PRId64 ", ", case_number(report, stage, one));
		}
		buffer_printf(out, "%s:\n", plural(arena, (int64_t)json_array_size(nodes), "node"));
		plan_write(out, arena, nodes);
	}
}

static void write_slowed(struct buffer *out, struct arena *arena, const json_t *stage)
{
	cleanup_free char *json = json_dumps(json_object_get(stage, "conditions"), JSON_COMPACT);
	struct condition *conditions;
	size_t count = result_conditions(arena, json, &conditions);
	for (size_t i = 0; i < count; i++)
		if (strcmp(conditions[i].when, "while timed") == 0
			&& strcmp(conditions[i].slowed_by, "nothing") != 0) {
			buffer_text(out, "  During timing, this slowed the GPU down: ");
			text_append_printable(out, conditions[i].slowed_by);
			buffer_byte(out, '\n');
		}
}

static void write_stage(
	struct buffer *out, struct arena *arena, const struct report *report, const json_t *stage)
{
	const char *verdict = member_text(stage, "verdict"), *message = member_text(stage, "message");
	double duration_ms = member_real(stage, "duration_ms");
	format_text took = "";
	if (duration_ms >= 0 && duration_ms < 1e15)
		format_stopwatch(took, (int64_t)duration_ms);
	buffer_byte(out, '\n');
	text_append_printable(out, member_text(stage, "stage"));
	buffer_text(out, ": ");
	text_append_printable(out, *verdict ? verdict : "not ended");
	buffer_printf(out, "%s%s\n", *took ? ", " : "", took);
	if (*message && strcmp(message, member_text(report->outcome, "reason")) != 0)
		print_tail(out, "  ", message);
	write_kernels(out, arena, stage);
	cases_write(out, arena, report, stage);
	write_plans(out, arena, report, stage);
	write_slowed(out, arena, stage);
}

/* ---- how the result was measured ---- */

static void write_engine(struct buffer *out, const struct report *report)
{
	const char *engine = member_text(report->outcome, "engine"),
			   *reason = member_text(report->outcome, "engine_reason");
	if (!*engine)
		return;
	const struct engine_choice choice = engine_on(report->task->choice, report->device->model);
	cleanup_buffer struct buffer words = { 0 };
	buffer_text(&words, engine);
	if (*reason)
		buffer_printf(&words, ". The task's own harness ran the submission. %s", reason);
	else if (choice.reason && strcmp(engine, task_engine_name(choice.engine)) == 0)
		buffer_printf(&words, ". %s", choice.reason);
	print_fact(out, "Engine", buffer_string(&words));
	print_fact(out, "Counts", engine_meaning(engine));
}

static void write_device(struct buffer *out, const struct report *report)
{
	const struct device *device = report->device;
	cleanup_buffer struct buffer words = { 0 };
	buffer_printf(&words, "%s, %s", device->model, device->product);
	if (!device_is_cpu(device))
		buffer_printf(&words, ", %s", device->uuid);
	print_fact(out, "Device", buffer_string(&words));
}

static void write_environment(struct buffer *out, struct arena *arena, const struct report *report)
{
	static const char *const keys[] = { "driver", "nvcc", "python", "torch", "triton" };
	json_t *chosen = json_object();
	struct fact *facts;
	for (size_t i = 0; i < COUNT(keys); i++)
		json_object_set(chosen, keys[i],
			json_object_get(json_object_get(report->outcome, "environment"), keys[i]));
	cleanup_free char *json = json_dumps(chosen, JSON_COMPACT);
	json_decref(chosen);
	cleanup_buffer struct buffer words = { 0 };
	size_t count = result_environment(arena, json, &facts);
	for (size_t i = 0; i < count; i++)
		buffer_printf(&words, "%s%s %s", i ? ", " : "", facts[i].name, facts[i].value);
	print_fact(out, "With", buffer_string(&words));
}

/* Whether a judge measured the times. A judge gives each call a new input, which is in no cache. */
static bool is_judged(const struct report *report)
{
	enum task_engine engine = task_engine_from_name(member_text(report->outcome, "engine"));
	return engine == ENGINE_ISOLATED || engine == ENGINE_SEALED;
}

/* Warns that the server would hold a ranked result for review, because it is faster than the GPU
 * can be. */
static void write_objection(struct buffer *out, struct arena *arena, const struct report *report)
{
	size_t i, j;
	json_t *stage, *one;
	json_array_foreach(json_object_get(report->outcome, "stages"), i, stage)
		json_array_foreach(json_object_get(stage, "cases"), j, one)
	{
		const struct floor_case floor = { .flops = report->task->flops,
			.bytes = report->task->bytes,
			.case_line = member_text(one, "spec"),
			.gpu = report->device->model,
			.warm = !is_judged(report) };
		const char *objection = strcmp(member_text(stage, "stage"), "ranked") == 0
			? floor_objection(arena, &floor, member_real(one, "mean_ns"))
			: NULL;
		if (objection) {
			buffer_text(out, "The server would hold this result for review. Shape (");
			text_append_printable(out, floor.case_line);
			buffer_printf(out, "): %s\n", objection);
			return;
		}
	}
}

static bool is_asked_for(const struct report *report)
{
	const struct task *task = report->task;
	return !task->gpu_count || text_is_one_of(report->device->model, task->gpus, task->gpu_count);
}

/* Prints how this measurement differs from the server's. */
static void write_differences(struct buffer *out, const struct report *report)
{
	const json_t *seed = json_object_get(report->outcome, "secret_seed");
	if (json_is_integer(seed))
		buffer_printf(out, "The server uses other, secret seeds. --seed %lld repeats %s.\n",
			json_integer_value(seed),
			is_judged(report) ? "the tests of this run, but each timed call has a new input"
							  : "this run");
	if (!is_asked_for(report)) {
		buffer_text(out, "The task is for ");
		for (size_t i = 0; i < report->task->gpu_count; i++) {
			buffer_text(out, !i ? "" : i + 1 == report->task->gpu_count ? " and " : ", ");
			text_append_printable(out, report->task->gpus[i]);
		}
		buffer_printf(out, ", so its times will differ from those on %s.\n", report->device->model);
	}
}

/* ---- output ---- */

static void write_output(struct buffer *out, const json_t *stage)
{
	static const struct {
		const char *key, *words;
	} STREAMS[] = {
		{ "stdout", "Standard output" },
		{ "stderr", "Standard error" },
	};
	bool compiles = strcmp(member_text(stage, "stage"), "compile") == 0;
	for (size_t i = 0; i < COUNT(STREAMS); i++) {
		const char *text = member_text(stage, STREAMS[i].key);
		if (!*text)
			continue;
		buffer_printf(out, "\n%s of ", compiles && i == 0 ? "Output" : STREAMS[i].words);
		text_append_printable(out, member_text(stage, "stage"));
		buffer_text(out, ":\n");
		print_tail(out, "  | ", text);
	}
}

void report_write(struct buffer *out, struct arena *arena, const struct report *report)
{
	const json_t *stages = json_object_get(report->outcome, "stages");
	size_t i;
	json_t *stage;
	write_verdict(out, report);
	write_first_failure(out, arena, report);
	json_array_foreach(stages, i, stage) write_stage(out, arena, report, stage);
	buffer_byte(out, '\n');
	write_engine(out, report);
	write_device(out, report);
	write_environment(out, arena, report);
	write_objection(out, arena, report);
	write_differences(out, report);
	json_array_foreach(stages, i, stage) write_output(out, stage);
}
