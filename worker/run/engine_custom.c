/* The engine for the task's own eval.py or eval.cu. It shares a process with the submission and cannot be
 * made safe, so each stage is bounded: fresh folders, read-only files, a strict reading of what it reports. */
#include "worker/run/run.h"

#include "lib/scope.h"
#include "worker/run/folder.h"
#include "worker/run/gauge.h"
#include "worker/run/profile.h"

#include <math.h>
#include <string.h>

struct stage_kind {
	const char *name;
	const char *argument;        /* the harness's word for it */
	const char *progress;        /* "timing 2/5" */
	enum result_family family;
	size_t timeout_offset;       /* in struct task, seconds */
	bool is_timed;
};

enum { KIND_COMPILE, KIND_TEST, KIND_BENCHMARK, KIND_RANKED, KIND_PROFILE, most_kinds = 3 };

static const struct stage_kind KINDS[] = {
	[KIND_COMPILE] = { "compile", NULL, NULL, RESULT_TESTS, 0, false },
	[KIND_TEST] = { "test", "test", "test", RESULT_TESTS, offsetof(struct task, test_timeout_s), false },
	[KIND_BENCHMARK] = { "benchmark", "benchmark", "benchmark", RESULT_BENCHMARKS, offsetof(struct task, benchmark_timeout_s), true },
	[KIND_RANKED] = { "ranked", "leaderboard", "timing", RESULT_BENCHMARKS, offsetof(struct task, ranked_timeout_s), true },
	/* A stage for each benchmark, so that a profiler looks at one shape at a time. */
	[KIND_PROFILE] = { "profile", "profile", "profile", RESULT_BENCHMARKS, offsetof(struct task, benchmark_timeout_s), false },
};

static const struct { int kinds[most_kinds]; int count; } STAGES[] = {
	[JOB_TEST] = { { KIND_COMPILE, KIND_TEST }, 2 },
	[JOB_BENCHMARK] = { { KIND_COMPILE, KIND_TEST, KIND_BENCHMARK }, 3 },
	[JOB_RANKED] = { { KIND_COMPILE, KIND_TEST, KIND_RANKED }, 3 },
	[JOB_PROFILE] = { { KIND_COMPILE, KIND_TEST, KIND_PROFILE }, 3 },
};

/* A harness at work: the results that it reports, and where progress goes. */
struct evaluation {
	struct run *run;
	const struct stage_kind *kind;
	struct results results;
	size_t told;                 /* finished cases that progress has told of */
	const char *const *cases;    /* what the harness gets, */
	size_t count;
	size_t first, all;           /* and where they stand among those of all stages of this kind */
	struct profiler *profiler;
	bool is_measured;            /* the device told something while cases ended */
	struct gauge_reading busy;   /* then the worst of it */
};

static void tell_progress(const struct evaluation *evaluation)
{
	event_progress(evaluation->run->events, "%s %zu/%zu", evaluation->kind->progress,
		evaluation->first + evaluation->results.finished, evaluation->all);
}

/* When the harness reports a case, the device has been busy with it until just now. */
static void look_at_device(struct evaluation *evaluation)
{
	struct gauge_reading reading;
	if (!gauge_read(evaluation->run->gauge, evaluation->run->job->device.uuid, &reading))
		return;
	if (evaluation->is_measured)
		gauge_merge(&evaluation->busy, &reading);
	else
		evaluation->busy = reading;
	evaluation->is_measured = true;
}

static bool take_result(void *context, const char *bytes, size_t length)
{
	struct evaluation *evaluation = context;
	struct results *results = &evaluation->results;
	bool good = results_add(results, bytes, length);
	if (results->finished != evaluation->told) {
		tell_progress(evaluation);
		if (evaluation->kind->is_timed)
			look_at_device(evaluation);
	}
	evaluation->told = results->finished;
	return good;
}

/* What a profiler slows down was not measured. */
static double figure(const struct results *results, const struct result_case *one, enum result_value value)
{
	return results->untimed ? NAN : results_number(one, value);
}

static void send_case(struct run *run, const struct stage *stage, const struct results *results, size_t index,
	enum verdict verdict, const char *message)
{
	const struct result_case *one = &results->cases[index];
	event_case(run->events, &(struct case_event){
		.position = stage->position, .index = stage->first_case + index, .spec = results->specs[index], .verdict = verdict, .message = message,
		.runs = figure(results, one, RESULT_RUNS), .mean_ns = figure(results, one, RESULT_MEAN),
		.std_ns = figure(results, one, RESULT_STD), .err_ns = figure(results, one, RESULT_ERR),
		.best_ns = figure(results, one, RESULT_BEST), .worst_ns = figure(results, one, RESULT_WORST),
	});
}

/* The cases that have a result. Where the program broke down, the one that it had not ended gets the blame. */
static void send_cases(struct run *run, const struct stage *stage, const struct results *results)
{
	enum verdict verdict = stage->judgement.verdict;
	bool broke_down = verdict == VERDICT_RUNTIME_ERROR || verdict == VERDICT_TIME_LIMIT || verdict == VERDICT_MEMORY_LIMIT;
	/* A harness tells a submission that raised from one that was wrong by its exit code only. */
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

/* The score of a ranked stage that has passed. Times that make none were not measured. */
static void score(struct run *run, const struct results *results, struct judgement *judgement)
{
	struct error error;
	double *means = arena_array(run->arena, double, results->count), *errs = arena_array(run->arena, double, results->count);
	for (size_t i = 0; i < results->count; i++) {
		means[i] = results_number(&results->cases[i], RESULT_MEAN);
		errs[i] = results_number(&results->cases[i], RESULT_ERR);
	}
	if (task_score(run->job->task->ranking_by, means, errs, results->count, &run->score_ns, &run->score_err_ns, &error) == 0)
		return;
	run->score_ns = run->score_err_ns = NAN;
	judgement->verdict = VERDICT_PROTOCOL_VIOLATION;
	buffer_text(&judgement->message, error.text);
}

/* The case lines of a stage: of the benchmarks only the last one where only that ranks. */
static const char *const *stage_cases(const struct task *task, const struct stage_kind *kind, size_t *count)
{
	if (kind->family == RESULT_TESTS) {
		*count = task->test_count;
		return task->tests;
	}
	bool last = task->ranking_by == RANKING_BY_LAST && task->benchmark_count > 1;
	*count = last ? 1 : task->benchmark_count;
	return last ? task->benchmarks + task->benchmark_count - 1 : task->benchmarks;
}

static int write_cases(struct run *run, const struct evaluation *evaluation, struct error *error)
{
	cleanup_buffer struct buffer text = {0};
	for (size_t i = 0; i < evaluation->count; i++)
		buffer_printf(&text, "%s\n", evaluation->cases[i]);
	return folder_write(run->workspace.stage, "cases.txt", buffer_string(&text), text.length, 0444, error);
}

static bool is_data(const char *path)
{
	return !compile_is_source(path);
}

static int write_program(struct run *run, struct error *error)
{
	if (run->job->task->language == TASK_PY)
		return stage_write_files(run, NULL, error);
	int rc = stage_write_files(run, is_data, error);
	return rc ? rc : folder_write(run->workspace.run, "eval.out", run->program, run->program_length, 0555, error);
}

static int furnish(struct run *run, const struct evaluation *evaluation, struct error *error)
{
	int rc = write_cases(run, evaluation, error);
	return rc ? rc : write_program(run, error);
}

/* The case file is named from the run folder, so that no path of this machine stands in the command that people see. */
static struct process harness_process(const struct run *run, struct evaluation *evaluation, const struct variables *variables)
{
	const struct task *task = run->job->task;
	const struct stage_kind *kind = evaluation->kind;
	const char **words = arena_array(run->arena, const char *, 5);
	size_t count = 0;
	words[count++] = task->language == TASK_PY ? run->job->python : "./eval.out";
	if (task->language == TASK_PY)
		words[count++] = task->main;
	words[count++] = kind->argument;
	words[count++] = "../cases.txt";
	return (struct process){
		.arguments = words, .environment = variables->list,
		.timeout_ms = *(const int64_t *)(const void *)((const char *)task + kind->timeout_offset) * 1000,
		.on_result = take_result, .context = evaluation, .zygote = run->zygote,
		.view = { .gpus = run->job->device.uuid, .loopback = task->multi_gpu, .programs = { run->job->python, run->job->nvcc } },
	};
}

static void open_results(struct evaluation *evaluation)
{
	results_open(&evaluation->results, evaluation->run->arena, evaluation->kind->family, evaluation->cases, evaluation->count);
	evaluation->results.untimed = evaluation->kind == &KINDS[KIND_PROFILE];
	evaluation->told = 0;
}

static void send_conditions(struct run *run, const struct stage *stage, const struct evaluation *evaluation,
	const struct gauge_reading *before)
{
	struct gauge_reading after;
	json_t *conditions = json_pack("{s:o}", "before", gauge_json(before));
	if (evaluation->is_measured)
		json_object_set_new(conditions, "busy", gauge_json(&evaluation->busy));
	if (gauge_read(run->gauge, run->job->device.uuid, &after))
		json_object_set_new(conditions, "after", gauge_json(&after));
	event_conditions(run->events, stage->position, conditions);
	json_decref(conditions);
}

/* Runs the harness and judges it. */
static int run_harness(struct run *run, struct stage *stage, struct evaluation *evaluation, struct error *error)
{
	struct variables variables = variables_for_harness(run->arena, run->job, &run->workspace);
	struct process process = harness_process(run, evaluation, &variables);
	struct process_result *result = arena_alloc(run->arena, sizeof *result);
	struct gauge_reading before;
	bool has_gauge = stage->kind->is_timed && gauge_read(run->gauge, run->job->device.uuid, &before);
	int rc = stage_run_program(run, stage, &process, result, error);
	if (has_gauge)
		send_conditions(run, stage, evaluation, &before);
	results_finish(&evaluation->results);
	if (!rc)
		judge_harness(&process, result, &evaluation->results, &stage->judgement);
	return rc;
}

/* ---- profiling ---- */

/* Whether ncu has looked on while the harness passed; or the job was cancelled meanwhile. Nobody hears of a try that
 * does not count. */
static bool try_ncu(struct run *run, struct stage *stage, struct evaluation *evaluation, struct profile *profile)
{
	struct profiler *profiler = evaluation->profiler;
	struct variables variables = variables_for_harness(run->arena, run->job, &run->workspace);
	variables_set(&variables, "POPCORN_NCU", "1");
	struct process process = harness_process(run, evaluation, &variables);
	process.arguments = profiler_command(run->arena, profiler, process.arguments);
	process.zygote = NULL;
	process.view.programs[2] = profiler->ncu;
	process.view.is_profiled = process.view.loopback = true; /* it talks to the program by TCP */
	struct process_result *result = arena_alloc(run->arena, sizeof *result);
	struct error error;
	if (stage_try_program(run, stage, &process, result, &error))
		return false;
	results_finish(&evaluation->results);
	judge_harness(&process, result, &evaluation->results, &stage->judgement);
	bool counts = stage->judgement.verdict == VERDICT_CANCELLED ||
		(stage->judgement.verdict == VERDICT_PASSED && profile_collect(profile, profiler, run->arena, &process));
	if (counts) {
		stage_tell_program(run, stage, &process, result);
		return true;
	}
	if (!profiler->without)
		profiler_explain(profiler, run->arena, &process, result);
	return false;
}

/* As if nothing had run in this stage yet. */
static int start_again(struct run *run, struct stage *stage, struct evaluation *evaluation, struct error *error)
{
	buffer_free(&stage->judgement.message);
	stage->judgement = (struct judgement){0};
	results_close(&evaluation->results);
	open_results(evaluation);
	workspace_close_stage(&run->workspace);
	int rc = workspace_open_stage(&run->workspace, stage->name, error);
	return rc ? rc : furnish(run, evaluation, error);
}

/* What is said of a profiled case: why there is no report of ncu, before what the harness says. */
static void add_sentence(struct run *run, struct evaluation *evaluation)
{
	const char **message = &evaluation->results.cases[0].values[RESULT_MESSAGE], *without = evaluation->profiler->without;
	if (without)
		*message = *message ? arena_printf(run->arena, "%s\n%s", without, *message) : without;
}

static void send_profile(struct run *run, const struct stage *stage, const struct evaluation *evaluation, struct profile *profile)
{
	const char *own = evaluation->results.cases[0].values[RESULT_REPORT];
	if (!profile->text.length && own)
		profile_decode(profile, own);
	if (profile->text.length)
		event_report(run->events, stage->position, stage->first_case, profile->text.data, profile->text.length);
	if (profile->file.length)
		event_artifact(run->events, stage->position, arena_printf(run->arena, "profile-%zu.ncu-rep", stage->first_case + 1),
			profile->file.data, profile->file.length, profile->file_size);
}

static int run_profile(struct run *run, struct stage *stage, struct evaluation *evaluation, struct error *error)
{
	struct profiler *profiler = evaluation->profiler;
	struct profile profile = {0};
	int rc = 0;
	if (!profiler->is_final)
		profiler->without = NULL;
	bool is_tried = !profiler->without;
	if (!is_tried || !try_ncu(run, stage, evaluation, &profile)) {
		if (is_tried)
			rc = start_again(run, stage, evaluation, error);
		if (!rc)
			rc = run_harness(run, stage, evaluation, error);
	}
	if (!rc && stage->judgement.verdict == VERDICT_PASSED)
		add_sentence(run, evaluation);
	if (!rc)
		send_cases(run, stage, &evaluation->results);
	if (!rc && stage->judgement.verdict == VERDICT_PASSED)
		send_profile(run, stage, evaluation, &profile);
	profile_free(&profile);
	return rc;
}

/* ---- stages ---- */

static int run_cases(struct run *run, struct stage *stage, struct evaluation *evaluation, struct error *error)
{
	if (stage->kind == &KINDS[KIND_PROFILE])
		return run_profile(run, stage, evaluation, error);
	int rc = run_harness(run, stage, evaluation, error);
	if (rc)
		return rc;
	if (stage->judgement.verdict == VERDICT_PASSED && stage->kind == &KINDS[KIND_RANKED])
		score(run, &evaluation->results, &stage->judgement);
	send_cases(run, stage, &evaluation->results);
	return 0;
}

/* Of the cases of its kind a stage has all; but a profiler looks at one at a time. */
static int evaluate(struct run *run, struct stage *stage, struct profiler *profiler, struct error *error)
{
	struct evaluation evaluation = { .run = run, .kind = stage->kind, .first = stage->first_case, .profiler = profiler };
	evaluation.cases = stage_cases(run->job->task, stage->kind, &evaluation.all);
	if (!evaluation.all)
		return fail(error, ERROR_INPUT, "The task has no %s.", stage->kind->family == RESULT_TESTS ? "tests" : "benchmarks");
	evaluation.cases += evaluation.first;
	evaluation.count = stage->kind == &KINDS[KIND_PROFILE] ? 1 : evaluation.all;
	int rc = furnish(run, &evaluation, error);
	if (rc)
		return rc;
	open_results(&evaluation);
	tell_progress(&evaluation);
	rc = run_cases(run, stage, &evaluation, error);
	results_close(&evaluation.results);
	return rc;
}

static int compile(struct run *run, struct stage *stage, struct error *error)
{
	event_progress(run->events, "compile");
	return run->job->task->language == TASK_PY ? compile_py(run, stage, error) : compile_cu(run, stage, error);
}

/* What failed on our side is nobody's wrong answer. */
static void make_internal(struct judgement *judgement, const struct error *error)
{
	judgement->verdict = VERDICT_INTERNAL_ERROR;
	buffer_clear(&judgement->message);
	buffer_text(&judgement->message, error->text);
}

static void perform(struct run *run, struct stage *stage, struct profiler *profiler)
{
	struct error error;
	int rc = workspace_open_stage(&run->workspace, stage->name, &error);
	if (!rc)
		rc = stage->kind == &KINDS[KIND_COMPILE] ? compile(run, stage, &error) : evaluate(run, stage, profiler, &error);
	if (rc)
		make_internal(&stage->judgement, &error);
	workspace_close_stage(&run->workspace);
	if (!stage->begun)
		return;
	event_stage_end(run->events, &(struct stage_end_event){
		.position = stage->position, .verdict = stage->judgement.verdict,
		.message = buffer_string(&stage->judgement.message), .exited = stage->exited, .exit_code = stage->exit_code,
		.duration_ms = stage->duration_ms,
	});
}

/* How many stages there are of a kind. */
static size_t stage_parts(const struct task *task, const struct stage_kind *kind)
{
	size_t cases = 1;
	if (kind == &KINDS[KIND_PROFILE])
		stage_cases(task, kind, &cases);
	return cases ? cases : 1;
}

/* The position of the next stage; `judgement` is that of the last one that ran. */
static int perform_kind(struct run *run, const struct stage_kind *kind, struct profiler *profiler, int position,
	struct judgement *judgement)
{
	size_t parts = stage_parts(run->job->task, kind);
	for (size_t part = 0; part < parts && judgement->verdict == VERDICT_PASSED; part++) {
		struct stage stage = { .position = position++, .name = kind->name, .kind = kind, .first_case = part };
		buffer_free(&judgement->message);
		if (inbox_look(run->inbox)) {
			judgement->verdict = VERDICT_CANCELLED;
			buffer_text(&judgement->message, "The job was cancelled.");
			break;
		}
		perform(run, &stage, profiler);
		*judgement = stage.judgement;
	}
	return position;
}

void engine_custom(struct run *run, struct judgement *judgement)
{
	struct profiler profiler = profiler_find(run->arena, run->job);
	int position = 0;
	*judgement = (struct judgement){ .verdict = VERDICT_PASSED };
	for (int i = 0; i < STAGES[run->job->mode].count; i++)
		position = perform_kind(run, &KINDS[STAGES[run->job->mode].kinds[i]], &profiler, position, judgement);
}
