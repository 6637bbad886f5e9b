/* The engine for the task's own eval.py or eval.cu. It shares a process with the submission and cannot be
 * made safe, so each stage is bounded: fresh folders, read-only files, a strict reading of what it reports. */
#include "worker/run/run.h"

#include "lib/scope.h"
#include "worker/run/folder.h"

#include <math.h>
#include <string.h>

struct stage_kind {
	const char *name;
	const char *argument;        /* the harness's word for it */
	const char *progress;        /* "timing 2/5" */
	enum result_family family;
	size_t timeout_offset;       /* in struct task, seconds */
};

enum { KIND_COMPILE, KIND_TEST, KIND_BENCHMARK, KIND_RANKED, most_stages = 3 };

static const struct stage_kind KINDS[] = {
	[KIND_COMPILE] = { "compile", NULL, NULL, RESULT_TESTS, 0 },
	[KIND_TEST] = { "test", "test", "test", RESULT_TESTS, offsetof(struct task, test_timeout_s) },
	[KIND_BENCHMARK] = { "benchmark", "benchmark", "benchmark", RESULT_BENCHMARKS, offsetof(struct task, benchmark_timeout_s) },
	[KIND_RANKED] = { "ranked", "leaderboard", "timing", RESULT_BENCHMARKS, offsetof(struct task, ranked_timeout_s) },
};

static const struct { int kinds[most_stages]; int count; } STAGES[] = {
	[JOB_TEST] = { { KIND_COMPILE, KIND_TEST }, 2 },
	[JOB_BENCHMARK] = { { KIND_COMPILE, KIND_TEST, KIND_BENCHMARK }, 3 },
	[JOB_RANKED] = { { KIND_COMPILE, KIND_TEST, KIND_RANKED }, 3 },
};

/* A harness at work: the results that it reports, and where progress goes. */
struct evaluation {
	struct run *run;
	const struct stage_kind *kind;
	struct results results;
	size_t told;                 /* finished cases that progress has told of */
};

static bool take_result(void *context, const char *bytes, size_t length)
{
	struct evaluation *evaluation = context;
	struct results *results = &evaluation->results;
	bool good = results_add(results, bytes, length);
	if (results->finished != evaluation->told)
		event_progress(evaluation->run->events, "%s %zu/%zu", evaluation->kind->progress, results->finished, results->count);
	evaluation->told = results->finished;
	return good;
}

static void send_case(struct run *run, const struct stage *stage, const struct results *results, size_t index,
	enum verdict verdict, const char *message)
{
	const struct result_case *one = &results->cases[index];
	event_case(run->events, &(struct case_event){
		.position = stage->position, .index = index, .spec = results->specs[index], .verdict = verdict, .message = message,
		.runs = results_number(one, RESULT_RUNS), .mean_ns = results_number(one, RESULT_MEAN),
		.std_ns = results_number(one, RESULT_STD), .err_ns = results_number(one, RESULT_ERR),
		.best_ns = results_number(one, RESULT_BEST), .worst_ns = results_number(one, RESULT_WORST),
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

static int write_cases(struct run *run, const char *const *cases, size_t count, struct error *error)
{
	cleanup_buffer struct buffer text = {0};
	for (size_t i = 0; i < count; i++)
		buffer_printf(&text, "%s\n", cases[i]);
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

/* Runs the harness and judges it. The case file is named from the run folder, so that no path of this
 * machine stands in the command that people see. */
static int run_harness(struct run *run, struct stage *stage, struct evaluation *evaluation, struct error *error)
{
	const struct task *task = run->job->task;
	const char *python[] = { run->job->python, task->main, stage->kind->argument, "../cases.txt", NULL };
	const char *program[] = { "./eval.out", stage->kind->argument, "../cases.txt", NULL };
	struct variables variables = variables_for_harness(run->arena, run->job, &run->workspace);
	struct process process = {
		.arguments = task->language == TASK_PY ? python : program, .environment = variables.list,
		.timeout_ms = *(const int64_t *)(const void *)((const char *)task + stage->kind->timeout_offset) * 1000,
		.on_result = take_result, .context = evaluation, .zygote = run->zygote,
	};
	struct process_result *result = arena_alloc(run->arena, sizeof *result);
	int rc = stage_run_program(run, stage, &process, result, error);
	results_finish(&evaluation->results);
	if (rc)
		return rc;
	judge_harness(&process, result, &evaluation->results, &stage->judgement);
	if (stage->judgement.verdict == VERDICT_PASSED && stage->kind == &KINDS[KIND_RANKED])
		score(run, &evaluation->results, &stage->judgement);
	send_cases(run, stage, &evaluation->results);
	return 0;
}

static int evaluate(struct run *run, struct stage *stage, struct error *error)
{
	size_t count;
	const char *const *cases = stage_cases(run->job->task, stage->kind, &count);
	if (!count)
		return fail(error, ERROR_INPUT, "The task has no %s.", stage->kind->family == RESULT_TESTS ? "tests" : "benchmarks");
	int rc;
	if ((rc = write_cases(run, cases, count, error)) || (rc = write_program(run, error)))
		return rc;
	struct evaluation evaluation = { .run = run, .kind = stage->kind };
	results_open(&evaluation.results, run->arena, stage->kind->family, cases, count);
	event_progress(run->events, "%s 0/%zu", stage->kind->progress, count);
	rc = run_harness(run, stage, &evaluation, error);
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

static void perform(struct run *run, struct stage *stage)
{
	struct error error;
	int rc = workspace_open_stage(&run->workspace, stage->name, &error);
	if (!rc)
		rc = stage->kind == &KINDS[KIND_COMPILE] ? compile(run, stage, &error) : evaluate(run, stage, &error);
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

void engine_custom(struct run *run, struct judgement *judgement)
{
	*judgement = (struct judgement){ .verdict = VERDICT_PASSED };
	for (int i = 0; i < STAGES[run->job->mode].count && judgement->verdict == VERDICT_PASSED; i++) {
		const struct stage_kind *kind = &KINDS[STAGES[run->job->mode].kinds[i]];
		struct stage stage = { .position = i, .name = kind->name, .kind = kind };
		if (inbox_look(run->inbox)) {
			judgement->verdict = VERDICT_CANCELLED;
			buffer_text(&judgement->message, "The job was cancelled.");
			return;
		}
		perform(run, &stage);
		buffer_free(&judgement->message);
		*judgement = stage.judgement;
	}
}
