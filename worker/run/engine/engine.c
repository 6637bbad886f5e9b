#include "worker/run/engine/engine.h"

#include "harness/isolated/statistics.h"
#include "lib/base/clock.h"
#include "lib/base/interval.h"
#include "lib/base/scope.h"
#include "lib/gpu/floor.h"
#include "worker/run/sandbox/folder.h"

#include <math.h>

enum {
	KIND_COMPILE,
	KIND_TEST,
	KIND_BENCHMARK,
	KIND_RANKED,
	KIND_PROFILE,
	KIND_COMPARE,
	most_kinds = 3
};

static const struct stage_kind KINDS[] = {
	[KIND_COMPILE] = { .name = "compile", .family = RESULT_TESTS },
	[KIND_TEST] = {
		.name = "test",
		.argument = "test",
		.progress = "test",
		.family = RESULT_TESTS,
		.timeout_offset = offsetof(struct task, test_timeout_s),
	},
	[KIND_BENCHMARK] = {
		.name = "benchmark",
		.argument = "benchmark",
		.progress = "benchmark",
		.family = RESULT_BENCHMARKS,
		.timeout_offset = offsetof(struct task, benchmark_timeout_s),
		.is_timed = true,
	},
	[KIND_RANKED] = {
		.name = "ranked",
		.argument = "leaderboard",
		.progress = "timing",
		.family = RESULT_BENCHMARKS,
		.timeout_offset = offsetof(struct task, ranked_timeout_s),
		.is_timed = true,
		.is_for_ranking = true,
	},
	/* Each benchmark gets its own stage, so that a profiler sees one shape at a time. */
	[KIND_PROFILE] = {
		.name = "profile",
		.argument = "profile",
		.progress = "profile",
		.family = RESULT_BENCHMARKS,
		.timeout_offset = offsetof(struct task, benchmark_timeout_s),
		.is_for_ranking = true,
		.is_profiled = true,
	},
	[KIND_COMPARE] = {
		.name = "compare",
		.argument = "compare",
		.progress = "comparing",
		.family = RESULT_BENCHMARKS,
		.timeout_offset = offsetof(struct task, ranked_timeout_s),
		.is_timed = true,
		.is_for_ranking = true,
	},
};

static const struct {
	int kinds[most_kinds];
	int count;
} STAGES[] = {
	[JOB_TEST] = { { KIND_COMPILE, KIND_TEST }, 2 },
	[JOB_BENCHMARK] = { { KIND_COMPILE, KIND_TEST, KIND_BENCHMARK }, 3 },
	[JOB_RANKED] = { { KIND_COMPILE, KIND_TEST, KIND_RANKED }, 3 },
	[JOB_PROFILE] = { { KIND_COMPILE, KIND_TEST, KIND_PROFILE }, 3 },
	[JOB_COMPARE] = { { KIND_COMPILE, KIND_COMPARE }, 2 },
	[JOB_KIT] = { { KIND_COMPILE }, 1 },
};

/* ---- results and events ---- */

void evaluation_tell_progress(const struct evaluation *evaluation)
{
	const char *process = evaluation->earlier_runs
		? arena_printf(evaluation->run->arena, ", process %zu", evaluation->earlier_runs + 1)
		: "";
	event_progress(evaluation->run->events, "%s %zu/%zu%s", evaluation->kind->progress,
		evaluation->first + evaluation->results.finished, evaluation->all, process);
}

/* Sends the latest output. Called before the progress event is sent: while an event is unread,
 * event_tail sends nothing. */
static void tell_printed(struct evaluation *evaluation)
{
	if (!evaluation->printed || clock_ms() < evaluation->printed_told_ms + process_tell_ms)
		return;
	stage_tell_tail(evaluation->run, evaluation->stage, evaluation->printed);
	evaluation->printed_told_ms = clock_ms();
}

/* Reads the device's state and memory use. Called when the harness reports a case, because the
 * device has just finished that case. */
static void read_device(struct evaluation *evaluation)
{
	struct gauge *gauge = evaluation->run->gauge;
	const char *uuid = evaluation->run->job->device.uuid;
	struct gauge_reading reading;
	/* fmax ignores NAN. */
	evaluation->used_bytes = fmax(evaluation->used_bytes, gauge_used_bytes(gauge, uuid));
	if (!evaluation->kind->is_timed || !gauge_read(gauge, uuid, &reading))
		return;
	if (evaluation->is_measured)
		gauge_merge(&evaluation->busy, &reading);
	else
		evaluation->busy = reading;
	evaluation->is_measured = true;
}

void evaluation_note(struct evaluation *evaluation)
{
	const struct results *results = &evaluation->results;
	if (evaluation->judge && !evaluation->stage->begun && results->counts[results->family])
		stage_tell_begin(evaluation->run, evaluation->stage, evaluation->judge);
	if (results->finished != evaluation->told) {
		tell_printed(evaluation);
		evaluation_tell_progress(evaluation);
		read_device(evaluation);
	}
	evaluation->told = results->finished;
}

bool evaluation_take(void *context, const char *bytes, size_t length)
{
	struct evaluation *evaluation = context;
	bool good = results_add(&evaluation->results, bytes, length);
	evaluation_note(evaluation);
	return good;
}

/* A profiler slows the program down, so a profiled stage has no figures. */
static double case_figure(
	const struct results *results, const struct result_case *one, enum result_value value)
{
	return results->untimed ? NAN : results_number(one, value);
}

/* Returns a case's error in ns, such that 1.96 times the error is half of the 95 % interval. A
 * judge already reports this error. A harness reports the standard error of its runs, and Student's
 * t gives half of the interval. A single run has no standard error. If a harness still reports one,
 * it has found the error in another way, and the error counts as it is. */
static double case_err(const struct run *run, const struct result_case *one)
{
	const double most_freedom = 1000; /* from here on, the distribution is normal */
	const double err_ns = results_number(one, RESULT_ERR), runs = results_number(one, RESULT_RUNS);
	if (run->engine != ENGINE_CUSTOM)
		return err_ns;
	if (!(runs > 1))
		return err_ns > 0 ? err_ns : NAN;
	const double freedom = fmin(runs - 1, most_freedom);
	return err_ns * isolated_t_quantile(0.95, (size_t)freedom) / interval_standard_errors;
}

static void send_case(struct run *run, const struct stage *stage, const struct results *results,
	size_t index, enum verdict verdict, const char *message)
{
	const struct result_case *one = &results->cases[index];
	event_case(run->events,
		&(struct case_event){
			.position = stage->position,
			.index = stage->first_case + index,
			.spec = results->specs[index],
			.verdict = verdict,
			.message = message,
			.runs = case_figure(results, one, RESULT_RUNS),
			.mean_ns = case_figure(results, one, RESULT_MEAN),
			.std_ns = case_figure(results, one, RESULT_STD),
			.err_ns = results->untimed ? NAN : case_err(run, one),
			.best_ns = case_figure(results, one, RESULT_BEST),
			.worst_ns = case_figure(results, one, RESULT_WORST),
			.floor_ns =
				floor_reached_ns(run->job->device.model, case_figure(results, one, RESULT_MEAN)),
			.median_ns = case_figure(results, one, RESULT_MEDIAN),
			.low_ns = case_figure(results, one, RESULT_LOW),
			.high_ns = case_figure(results, one, RESULT_HIGH),
			.constant_ns = case_figure(results, one, RESULT_CONSTANT),
			.own_ns = case_figure(results, one, RESULT_OWN),
			.gap_ns = case_figure(results, one, RESULT_GAP),
			.blocks = case_figure(results, one, RESULT_BLOCKS),
			.repeated = case_figure(results, one, RESULT_REPEATED),
			.rival_ns = case_figure(results, one, RESULT_RIVAL),
			.ratio = case_figure(results, one, RESULT_RATIO),
			.ratio_low = case_figure(results, one, RESULT_RATIO_LOW),
			.ratio_high = case_figure(results, one, RESULT_RATIO_HIGH),
			.samples = one->values[RESULT_SAMPLES],
			.device = one->values[RESULT_DEVICE],
		});
}

void evaluation_send_cases(const struct evaluation *evaluation, const struct stage *stage)
{
	struct run *run = evaluation->run;
	const struct results *results = &evaluation->results;
	enum verdict verdict = stage->judgement.verdict;
	/* A judge's results show in which case the submission violated the protocol or printed too
	 * much. With a harness, any case may have violated the protocol, so no case is blamed. */
	bool broke_down = verdict == VERDICT_RUNTIME_ERROR || verdict == VERDICT_TIME_LIMIT
		|| verdict == VERDICT_MEMORY_LIMIT
		|| (results->is_judge
			&& (verdict == VERDICT_PROTOCOL_VIOLATION || verdict == VERDICT_OUTPUT_LIMIT));
	/* A harness distinguishes a raised error from a wrong answer only by its exit code. */
	enum verdict of_failed = verdict == VERDICT_RUNTIME_ERROR ? verdict : VERDICT_WRONG_ANSWER;
	for (size_t i = 0; i < results->count; i++) {
		const struct result_case *one = &results->cases[i];
		if (results_failed(one)) {
			send_case(run, stage, results, i, of_failed, one->values[RESULT_ERROR]);
		} else if (results_passed(results, one)) {
			send_case(run, stage, results, i, VERDICT_PASSED, one->values[RESULT_MESSAGE]);
		} else if (broke_down) {
			send_case(run, stage, results, i, verdict, buffer_string(&stage->judgement.message));
			broke_down = false;
		}
	}
}

int64_t evaluation_limit_s(const struct evaluation *evaluation)
{
	int64_t limit_s = *(const int64_t *)(const void *)((const char *)evaluation->run->job->task
		+ evaluation->kind->timeout_offset);
	return limit_s - evaluation->spent_ms / 1000;
}

int evaluation_write_cases(
	const struct evaluation *evaluation, int folder, const char *name, struct error *error)
{
	cleanup_buffer struct buffer text = { 0 };
	for (size_t i = 0; i < evaluation->count; i++)
		buffer_printf(&text, "%s\n", evaluation->cases[i]);
	return folder_write(folder, name, buffer_string(&text), text.length, 0444, error);
}

void evaluation_open_results(struct evaluation *evaluation)
{
	results_close(&evaluation->results);
	results_open(&evaluation->results, evaluation->run->arena, evaluation->kind->family,
		evaluation->cases, evaluation->count);
	evaluation->results.untimed = evaluation->kind->is_profiled;
	evaluation->results.is_judge = evaluation->run->engine != ENGINE_CUSTOM;
	evaluation->told = 0;
	evaluation->is_measured = false;
	evaluation->used_bytes = NAN;
}

void evaluation_look_before(struct evaluation *evaluation)
{
	const struct run *run = evaluation->run;
	evaluation->has_gauge = evaluation->kind->is_timed
		&& gauge_read(run->gauge, run->job->device.uuid, &evaluation->before);
}

void evaluation_send_conditions(struct evaluation *evaluation, const struct stage *stage)
{
	struct run *run = evaluation->run;
	struct gauge_reading after;
	if (!evaluation->has_gauge)
		return;
	json_t *conditions = json_pack("{s:o}", "before", gauge_json(&evaluation->before));
	if (evaluation->is_measured)
		json_object_set_new(conditions, "busy", gauge_json(&evaluation->busy));
	if (gauge_read(run->gauge, run->job->device.uuid, &after))
		json_object_set_new(conditions, "after", gauge_json(&after));
	event_conditions(run->events, stage->position, conditions);
	json_decref(conditions);
}

/* ---- the score ---- */

/* Rejects measurements that give no score. */
static void refuse_times(const struct run *run, struct judgement *judgement, const char *sentence)
{
	judgement->verdict =
		run->engine == ENGINE_CUSTOM ? VERDICT_PROTOCOL_VIOLATION : VERDICT_INTERNAL_ERROR;
	buffer_text(&judgement->message, sentence);
}

static void add_remark(const struct run *run, struct result_case *one, const char *remark)
{
	const char *said = one->values[RESULT_MESSAGE];
	one->values[RESULT_MESSAGE] = said ? arena_printf(run->arena, "%s\n%s", said, remark) : remark;
}

/* If the runs of a case that a harness has timed differ much, charges more than their mean and says
 * so in the case's message. The case keeps the harness's figures. */
static void charge_noise(
	const struct run *run, struct result_case *one, double *mean_ns, double *err_ns)
{
	double extra_ns = run->engine == ENGINE_CUSTOM ? task_charge_noise(mean_ns, err_ns) : 0;
	if (extra_ns > 0)
		add_remark(run, one,
			arena_printf(run->arena,
				"The runs differ so much that the upper end of the interval counts for the score: "
				"%.1f us more than their mean.",
				extra_ns / 1000));
}

/* If the time is too short to measure on this device, scores the shortest time that can be measured
 * (lib/gpu/floor.h) and says so in the case's message. The case keeps its own figures, because the
 * review compares them with the hardware's limit. */
static void raise_to_floor(const struct run *run, struct result_case *one, double *mean_ns)
{
	const double floor_ns = floor_resolved_ns(run->job->device.model);
	if (!(*mean_ns > 0 && *mean_ns < floor_ns))
		return;
	*mean_ns = floor_ns;
	add_remark(run, one,
		arena_printf(run->arena,
			"The time is too short to measure on this device, so %g us count for the score.",
			floor_ns / 1000));
}

/* Scores a ranked stage that has passed. Times that give no score are refused. */
static void score_stage(struct run *run, const struct results *results, struct judgement *judgement)
{
	struct error error;
	double *means = arena_array(run->arena, double, results->count),
		   *errs = arena_array(run->arena, double, results->count);
	for (size_t i = 0; i < results->count; i++) {
		means[i] = results_number(&results->cases[i], RESULT_MEAN);
		errs[i] = case_err(run, &results->cases[i]);
		charge_noise(run, &results->cases[i], &means[i], &errs[i]);
		raise_to_floor(run, &results->cases[i], &means[i]);
	}
	if (task_score(run->job->task->ranking_by, means, errs, results->count, &run->score_ns,
			&run->score_err_ns, &error)
		== 0)
		return;
	run->score_ns = run->score_err_ns = NAN;
	refuse_times(run, judgement, error.text);
}

/* Computes how a submission compares with its rival. */
static void compare_stage(
	struct run *run, const struct results *results, struct judgement *judgement)
{
	struct task_ratio *cases = arena_array(run->arena, struct task_ratio, results->count);
	bool good = results->count > 0;
	for (size_t i = 0; i < results->count; i++) {
		const struct result_case *one = &results->cases[i];
		cases[i] = (struct task_ratio){
			.ratio = results_number(one, RESULT_RATIO),
			.low = results_number(one, RESULT_RATIO_LOW),
			.high = results_number(one, RESULT_RATIO_HIGH),
			.other_ns = results_number(one, RESULT_RIVAL),
		};
		/* The comparisons are false for NAN. */
		good &= cases[i].low <= cases[i].ratio && cases[i].ratio <= cases[i].high
			&& cases[i].other_ns > 0;
	}
	if (good)
		run->ratio = task_ratio(run->job->task->ranking_by, cases, results->count);
	else
		refuse_times(run, judgement, "The judge did not report how the two submissions compare.");
}

/* ---- stages ---- */

/* Returns a stage's case lines: all of them, or those that the ranking needs. */
static const char *const *stage_cases(
	const struct task *task, const struct stage_kind *kind, size_t *count)
{
	if (kind->family == RESULT_TESTS) {
		*count = task->test_count;
		return task->tests;
	}
	size_t first = kind->is_for_ranking ? task_first_ranked(task) : 0;
	*count = task->benchmark_count - first;
	return task->benchmarks + first;
}

void evaluation_close(struct evaluation *evaluation)
{
	struct run *run = evaluation->run;
	struct stage *stage = evaluation->stage;
	bool passed = stage->judgement.verdict == VERDICT_PASSED;
	if (passed && stage->kind == &KINDS[KIND_RANKED])
		score_stage(run, &evaluation->results, &stage->judgement);
	if (passed && stage->kind == &KINDS[KIND_COMPARE])
		compare_stage(run, &evaluation->results, &stage->judgement);
	if (!stage->kind->is_profiled)
		evaluation_send_cases(evaluation, stage);
	stage->nonce = evaluation->results.nonce;
	stage->peak_device_bytes =
		isfinite(evaluation->used_bytes) ? (int64_t)evaluation->used_bytes : 0;
	results_close(&evaluation->results);
}

int evaluation_reopen_stage(struct run *run, struct evaluation *evaluation, struct error *error)
{
	struct stage *stage = evaluation->stage;
	buffer_free(&stage->judgement.message);
	stage->judgement = (struct judgement){ 0 };
	evaluation_open_results(evaluation);
	workspace_close_stage(&run->workspace);
	return workspace_open_stage(&run->workspace, stage->name, error);
}

/* The programs of a CUDA C++ task depend on the engine. */
static int compile_for_next_engine(
	struct run *run, struct evaluation *evaluation, struct error *error)
{
	int rc = compile_cu_again(run, evaluation->stage, error);
	return rc ? rc : evaluation_reopen_stage(run, evaluation, error);
}

/* Runs the cases with the job's engine. If that engine cannot run them, a dry run continues with
 * the next weaker one, to find out which engine can run the task. Other jobs fail. */
static int run_cases(struct run *run, struct evaluation *evaluation, struct error *error)
{
	int rc = 0;
	while (!rc && run->engine != ENGINE_CUSTOM) {
		enum task_engine tried = run->engine;
		rc = engine_isolated(run, evaluation, error);
		if (rc || run->engine == tried)
			return rc;
		rc = evaluation_reopen_stage(run, evaluation, error);
		if (!rc && run->job->task->language == TASK_CU)
			rc = compile_for_next_engine(run, evaluation, error);
	}
	return rc ? rc : engine_custom(run, evaluation->stage, evaluation, error);
}

/* Fills *evaluation with all cases of the stage's kind. A profiled stage has one case. */
static int prepare_evaluation(struct run *run, struct stage *stage, struct profiler *profiler,
	struct evaluation *evaluation, struct error *error)
{
	*evaluation = (struct evaluation){ .run = run,
		.kind = stage->kind,
		.stage = stage,
		.first = stage->first_case,
		.profiler = profiler };
	evaluation->cases = stage_cases(run->job->task, stage->kind, &evaluation->all);
	if (!evaluation->all)
		return fail(error, ERROR_INPUT, "The task has no %s.",
			stage->kind->family == RESULT_TESTS ? "tests" : "benchmarks");
	evaluation->cases += evaluation->first;
	evaluation->count = stage->kind->is_profiled ? 1 : evaluation->all;
	evaluation_open_results(evaluation);
	return 0;
}

static int evaluate_stage(struct run *run, struct stage *stage, struct stage *next,
	struct profiler *profiler, struct error *error)
{
	struct evaluation evaluation, following;
	int rc = prepare_evaluation(run, stage, profiler, &evaluation, error);
	if (!rc && next && run->engine != ENGINE_CUSTOM) {
		rc = prepare_evaluation(run, next, profiler, &following, error);
		evaluation.next = &following;
	}
	if (rc)
		return rc;
	evaluation_tell_progress(&evaluation);
	rc = repetition_applies(run->job, stage->kind) ? repetition_run(&evaluation, run_cases, error)
												   : run_cases(run, &evaluation, error);
	struct evaluation *last = evaluation.is_over ? evaluation.next : &evaluation;
	if (rc)
		results_close(&last->results);
	else
		evaluation_close(last);
	return rc;
}

static int compile_stage(struct run *run, struct stage *stage, struct error *error)
{
	event_progress(run->events, "compile");
	return run->job->task->language == TASK_PY ? compile_py(run, stage, error)
											   : compile_cu(run, stage, error);
}

/* Turns an error of podium-run into an internal error, so that the submission is not blamed. */
static void set_internal_error(struct judgement *judgement, const struct error *error)
{
	judgement->verdict = VERDICT_INTERNAL_ERROR;
	judgement->machine_failed = error->code == ERROR_SYSTEM;
	buffer_clear(&judgement->message);
	buffer_text(&judgement->message, error->text);
}

/* Runs a stage. Its programs may then also run the stage `next` (NULL: none). Returns the last
 * stage that ran. */
static const struct stage *run_stage(
	struct run *run, struct stage *stage, struct stage *next, struct profiler *profiler)
{
	struct error error;
	int rc = workspace_open_stage(&run->workspace, stage->name, &error);
	if (!rc)
		rc = stage->kind == &KINDS[KIND_COMPILE]
			? compile_stage(run, stage, &error)
			: evaluate_stage(run, stage, next, profiler, &error);
	struct stage *last = stage->ended ? next : stage;
	if (rc)
		set_internal_error(&last->judgement, &error);
	workspace_close_stage(&run->workspace);
	stage_tell_end(run, last);
	return last;
}

/* Returns the number of stages of a kind: one for each benchmark if they are profiled, else one. */
static size_t stage_parts(const struct task *task, const struct stage_kind *kind)
{
	size_t cases = 1;
	if (kind->is_profiled)
		stage_cases(task, kind, &cases);
	return cases ? cases : 1;
}

static bool is_cancelled(const struct run *run, struct judgement *judgement)
{
	if (!inbox_look(run->inbox))
		return false;
	judgement->verdict = VERDICT_CANCELLED;
	buffer_text(&judgement->message, "The job was cancelled.");
	return true;
}

/* Lists a job's stages in their order. */
static size_t list_stages(const struct job *job, struct arena *arena, struct stage **stages)
{
	size_t count = 0, most = 0;
	for (int i = 0; i < STAGES[job->mode].count; i++)
		most += stage_parts(job->task, &KINDS[STAGES[job->mode].kinds[i]]);
	*stages = arena_array(arena, struct stage, most);
	for (int i = 0; i < STAGES[job->mode].count; i++) {
		const struct stage_kind *kind = &KINDS[STAGES[job->mode].kinds[i]];
		for (size_t part = 0; part < stage_parts(job->task, kind); part++, count++)
			(*stages)[count] = (struct stage){
				.position = (int)count, .name = kind->name, .kind = kind, .first_case = part
			};
	}
	return count;
}

/* Returns the timed stage that follows a test stage, or NULL. The isolated and the sealed engine
 * run such a pair of stages with the same programs, unless the timed stage runs several times. */
static struct stage *find_next(
	const struct job *job, struct stage *stages, size_t count, size_t index)
{
	bool is_pair = index + 1 < count && stages[index].kind == &KINDS[KIND_TEST]
		&& stages[index + 1].kind->is_timed && !repetition_applies(job, stages[index + 1].kind);
	return is_pair ? &stages[index + 1] : NULL;
}

void engine_run(struct run *run, struct judgement *judgement)
{
	struct profiler profiler = profiler_find(run->arena, run->job);
	struct stage *stages;
	size_t count = list_stages(run->job, run->arena, &stages);
	*judgement = (struct judgement){ .verdict = VERDICT_PASSED };
	for (size_t i = 0; i < count && judgement->verdict == VERDICT_PASSED; i++) {
		buffer_free(&judgement->message);
		if (is_cancelled(run, judgement))
			break;
		const struct stage *last =
			run_stage(run, &stages[i], find_next(run->job, stages, count, i), &profiler);
		*judgement = last->judgement;
		i = (size_t)(last - stages);
	}
}
