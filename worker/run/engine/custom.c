/* The engine for the task's own eval.py or eval.cu. The harness shares a process with the
 * submission and cannot be made safe. Each stage is therefore confined: new folders, read-only
 * files, and a strict parser for its results. */
#include "worker/run/engine/engine.h"

#include "lib/base/scope.h"
#include "worker/run/sandbox/folder.h"

#include <string.h>

static int write_program(struct run *run, struct error *error)
{
	if (run->job->task->language == TASK_PY)
		return stage_write_files(run, NULL, error);
	int rc = stage_write_files(run, compile_is_data, error);
	return rc ? rc
			  : folder_write(run->workspace.run, "eval.out", run->programs[COMPILED_EVAL].bytes,
				  run->programs[COMPILED_EVAL].length, 0555, error);
}

static int fill_stage(struct run *run, const struct evaluation *evaluation, struct error *error)
{
	int rc = evaluation_write_cases(evaluation, run->workspace.stage, "cases.txt", error);
	return rc ? rc : write_program(run, error);
}

/* Names the case file relative to the run folder, so that the command on the page shows no path of
 * this machine. */
static struct process harness_process(
	const struct run *run, struct evaluation *evaluation, const struct variables *variables)
{
	const struct task *task = run->job->task;
	const char **words = arena_array(run->arena, const char *, 5);
	size_t count = 0;
	words[count++] = task->language == TASK_PY ? run->job->python : "./eval.out";
	if (task->language == TASK_PY)
		words[count++] = task->main;
	words[count++] = evaluation->kind->argument;
	words[count++] = "../cases.txt";
	return (struct process){
		.arguments = words,
		.environment = variables->list,
		.timeout_ms = evaluation_limit_s(evaluation) * 1000,
		.on_result = evaluation_take,
		.context = evaluation,
		.zygote = &run->zygotes[ZYGOTE_SUBMISSION],
		.nice = stage_nice(run, evaluation->stage, false),
		.view = { .gpus = run->job->device.uuid,
			.loopback = task->multi_gpu,
			.programs = { run->job->python, run->job->nvcc } },
	};
}

/* ---- who caused an exit code ---- */

/* Replaces the submission. Every function that a harness asks for exists and does nothing. */
static const char STAND_IN[] = "def custom_kernel(*arguments, **named):\n"
							   "    pass\n"
							   "def __getattr__(name):\n"
							   "    if name.startswith('__'):\n"
							   "        raise AttributeError(name)\n"
							   "    return custom_kernel\n";

static bool take_silently(void *context, const char *bytes, size_t length)
{
	return results_add(context, bytes, length);
}

/* Runs the harness in a new stage with STAND_IN instead of the submission. Sends no events. */
static int run_without_submission(struct run *run, struct stage *stage,
	struct evaluation *evaluation, struct results *results, struct process_result *result,
	struct error *error)
{
	enum { most_ms = 60 * 1000 };
	const struct job *job = run->job;
	struct job alone = *job;
	alone.submission = STAND_IN;
	alone.submission_length = sizeof STAND_IN - 1;
	workspace_close_stage(&run->workspace);
	int rc = workspace_open_stage(&run->workspace, stage->name, error);
	run->job = &alone;
	if (!rc)
		rc = fill_stage(run, evaluation, error);
	run->job = job;
	if (rc)
		return rc;
	struct variables variables = variables_for_harness(run->arena, job, &run->workspace);
	variables_set(&variables, "PODIUM_WITHOUT_SUBMISSION", "1");
	struct process process = harness_process(run, evaluation, &variables);
	process.on_result = take_silently;
	process.context = results;
	process.timeout_ms = process.timeout_ms < most_ms ? process.timeout_ms : most_ms;
	struct stage scratch = *stage;
	return stage_try_program(run, &scratch, &process, result, error);
}

static const char *first_error(const struct results *results, size_t *index)
{
	for (*index = 0; *index < results->count; ++*index)
		if (results_failed(&results->cases[*index]))
			return results->cases[*index].values[RESULT_ERROR];
	return NULL;
}

/* Whether the harness fails in the same way without the submission. That is: with the same exit
 * code, or, if it ran all cases, with the same error in the first case that failed. */
static bool fails_alike(const struct process_result *with, const struct results *results,
	const struct process_result *without, const struct results *others)
{
	size_t index;
	if (without->ending == PROCESS_EXITED && without->code == with->code)
		return true;
	const char *text = results->check ? first_error(results, &index) : NULL;
	const char *other = text ? others->cases[index].values[RESULT_ERROR] : NULL;
	return other && strcmp(text, other) == 0;
}

/* The exit code says that the harness failed, but any code in the program may call exit. The code
 * therefore counts only if the harness also fails without the submission. A CUDA C++ program cannot
 * run without the submission, so there the harness must have reported an error. */
static int find_who_failed(struct run *run, struct stage *stage, struct evaluation *evaluation,
	const struct process_result *result, struct error *error)
{
	const struct results *said = &evaluation->results;
	bool is_harness = said->error;
	if (run->job->task->language == TASK_PY) {
		struct process_result *alone = arena_alloc(run->arena, sizeof *alone);
		struct results results;
		results_open(
			&results, run->arena, evaluation->kind->family, evaluation->cases, evaluation->count);
		int rc = run_without_submission(run, stage, evaluation, &results, alone, error);
		results_finish(&results);
		is_harness = !rc && fails_alike(result, said, alone, &results);
		results_close(&results);
		if (rc)
			return rc;
	}
	if (!is_harness)
		judge_own_exit(result, said, &stage->judgement);
	return 0;
}

static int run_harness(
	struct run *run, struct stage *stage, struct evaluation *evaluation, struct error *error)
{
	struct variables variables = variables_for_harness(run->arena, run->job, &run->workspace);
	struct process process = harness_process(run, evaluation, &variables);
	struct process_result *result = arena_alloc(run->arena, sizeof *result);
	evaluation_look_before(evaluation);
	evaluation->printed = run->job->is_followed && stage->kind->is_timed ? result : NULL;
	int rc = stage_run_program(run, stage, &process, result, error);
	evaluation->printed = NULL;
	evaluation_send_conditions(evaluation, stage);
	results_finish(&evaluation->results);
	if (!rc)
		judge_harness(&process, result, &evaluation->results, &stage->judgement);
	if (!rc && stage->judgement.verdict == VERDICT_INTERNAL_ERROR)
		rc = find_who_failed(run, stage, evaluation, result, error);
	return rc;
}

/* ---- profiling ---- */

/* Runs the harness under ncu. The try counts if ncu has a report and the harness passed, or if the
 * job was cancelled. Returns whether the try counts, and sends events only then. */
static bool try_ncu(
	struct run *run, struct stage *stage, struct evaluation *evaluation, struct profile *profile)
{
	struct profiler *profiler = evaluation->profiler;
	struct variables variables = variables_for_harness(run->arena, run->job, &run->workspace);
	variables_set(&variables, "POPCORN_NCU", "1");
	struct process process = harness_process(run, evaluation, &variables);
	process.arguments = profiler_command(run->arena, profiler, process.arguments);
	process.zygote = NULL;
	process.view.programs[2] = profiler->ncu;
	process.view.is_profiled = process.view.loopback = true; /* ncu talks to the program by TCP */
	struct process_result *result = arena_alloc(run->arena, sizeof *result);
	struct error error;
	if (stage_try_program(run, stage, &process, result, &error))
		return false;
	results_finish(&evaluation->results);
	judge_harness(&process, result, &evaluation->results, &stage->judgement);
	bool counts = stage->judgement.verdict == VERDICT_CANCELLED
		|| (stage->judgement.verdict == VERDICT_PASSED
			&& profile_collect(profile, profiler, run->arena, &process));
	if (counts) {
		stage_tell_program(run, stage, &process, result);
		return true;
	}
	if (!profiler->without)
		profiler_explain(profiler, run->arena, &process, result);
	return false;
}

/* Puts the reason for the missing report of ncu before the harness's message. */
static void add_reason(struct run *run, struct evaluation *evaluation)
{
	const char **message = &evaluation->results.cases[0].values[RESULT_MESSAGE],
			   *without = evaluation->profiler->without;
	if (without)
		*message = *message ? arena_printf(run->arena, "%s\n%s", without, *message) : without;
}

static void send_profile(struct run *run, const struct stage *stage,
	const struct evaluation *evaluation, struct profile *profile)
{
	const char *own = evaluation->results.cases[0].values[RESULT_REPORT];
	if (!profile->text.length && own)
		profile_decode(profile, own);
	if (profile->text.length)
		event_report(run->events, stage->position, stage->first_case, profile->text.data,
			profile->text.length);
	if (profile->file.length)
		event_artifact(run->events, stage->position,
			arena_printf(run->arena, "profile-%zu.ncu-rep", stage->first_case + 1),
			profile->file.data, profile->file.length, profile->file_size);
}

static int run_profile(
	struct run *run, struct stage *stage, struct evaluation *evaluation, struct error *error)
{
	struct profiler *profiler = evaluation->profiler;
	struct profile profile = { 0 };
	int rc = 0;
	if (!profiler->is_final)
		profiler->without = NULL;
	bool is_tried = !profiler->without;
	if (!is_tried || !try_ncu(run, stage, evaluation, &profile)) {
		if (is_tried)
			rc = evaluation_reopen_stage(run, evaluation, error);
		if (is_tried && !rc)
			rc = fill_stage(run, evaluation, error);
		if (!rc)
			rc = run_harness(run, stage, evaluation, error);
	}
	if (!rc && stage->judgement.verdict == VERDICT_PASSED)
		add_reason(run, evaluation);
	if (!rc)
		evaluation_send_cases(evaluation, stage);
	if (!rc && stage->judgement.verdict == VERDICT_PASSED)
		send_profile(run, stage, evaluation, &profile);
	profile_free(&profile);
	return rc;
}

int engine_custom(
	struct run *run, struct stage *stage, struct evaluation *evaluation, struct error *error)
{
	int rc = fill_stage(run, evaluation, error);
	if (rc)
		return rc;
	return stage->kind->is_profiled ? run_profile(run, stage, evaluation, error)
									: run_harness(run, stage, evaluation, error);
}
