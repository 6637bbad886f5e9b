/* The engine that separates the submission from whoever judges it: a judge, a contestant with an empty kernel, a contestant with the
 * submission, and, to compare, one with another submission. Each is in a sandbox of its own and sees a part of the job's folder of its own. */
#include "worker/run/engine.h"

#include "lib/log.h"
#include "lib/scope.h"
#include "lib/text.h"
#include "worker/run/engine_files.h"
#include "worker/run/folder.h"
#include "worker/run/isolated.h"

#include <string.h>

/* What a Python task has that contestants do not get, beside its main file and the case file. */
static const char *const KEPT_FROM_CONTESTANTS[] = { "reference.py", "reference_code.py", "eval.py", "score_eval.py" };

static const char REFERENCE[] = "reference.py";

/* ---- which engine ---- */

static bool offers(const struct job *job, const char *function)
{
	const struct file *file = fileset_find(&job->files, REFERENCE);
	return file && memmem(file->bytes, file->length, function, strlen(function));
}

/* Why the task cannot be split, as far as can be seen from outside; NULL: the judge may find that out. */
static const char *find_obstacle(const struct job *job)
{
	const struct task *task = job->task;
	const char *main = task->main ? task->main : "";
	if (task->multi_gpu)
		return "The task runs on several GPUs, which the isolated engine does not share between processes.";
	if (task->language == TASK_CU)
		return compile_cu_obstacle(job);
	if (strcmp(main, "score_eval.py") == 0)
		return "The task has an evaluation of the oldest form, whose cases are not arguments of generate_input.";
	if (!text_ends_with(main, ".py") || !text_ends_with(job->slot, ".py"))
		return "The task's main file or its submission is no Python file.";
	if (!fileset_find(&job->files, REFERENCE))
		return "The task has no reference.py.";
	return offers(job, "generate_input") && offers(job, "check_implementation") ? NULL
		: "The task's reference.py does not offer generate_input and check_implementation.";
}

enum task_engine engine_choose(const struct job *job, const char **reason)
{
	*reason = NULL;
	if (job->task->engine == ENGINE_CUSTOM || job->mode == JOB_PROFILE)
		return ENGINE_CUSTOM;
	*reason = find_obstacle(job);
	return *reason ? ENGINE_CUSTOM : ENGINE_ISOLATED;
}

/* ---- what each program finds ---- */

/* The parts of the job's folder. */
static const char *const PARTS[PROGRAMS] = { "judge", "null", "entry", "rival" };

static size_t program_count(const struct job *job)
{
	return job->mode == JOB_COMPARE ? PROGRAMS : PROGRAM_RIVAL;
}

static bool is_for_contestants(const struct job *job, const char *path)
{
	for (size_t i = 0; i < COUNT(KEPT_FROM_CONTESTANTS); i++)
		if (strcmp(path, KEPT_FROM_CONTESTANTS[i]) == 0)
			return false;
	return strcmp(path, job->task->main) != 0;
}

static bool is_data(const struct job *job, const char *path)
{
	(void)job;
	return !compile_is_source(path);
}

static int write_submission(const struct job *job, const struct workspace *part, enum isolated_program who, struct error *error)
{
	bool is_rival = who == PROGRAM_RIVAL;
	return folder_write(part->run, job->slot, is_rival ? job->rival : job->submission,
		is_rival ? job->rival_length : job->submission_length, 0444, error);
}

/* The null contestant has no file of the task: its kernel needs none. */
static int furnish_py(const struct run *run, const struct workspace *part, enum isolated_program who, struct error *error)
{
	int rc = engine_files_write(part->stage, who == PROGRAM_JUDGE, error);
	if (rc || who == PROGRAM_NULL)
		return rc;
	if (who == PROGRAM_JUDGE)
		return stage_write_task(run->job, part, NULL, error);
	rc = stage_write_task(run->job, part, is_for_contestants, error);
	return rc ? rc : write_submission(run->job, part, who, error);
}

static int write_program(const struct run *run, const struct workspace *part, enum compiled_kind kind, const char *name, struct error *error)
{
	return folder_write(part->run, name, run->programs[kind].bytes, run->programs[kind].length, 0555, error);
}

static int furnish_cu(const struct run *run, const struct workspace *part, enum isolated_program who, struct error *error)
{
	bool is_judge = who == PROGRAM_JUDGE;
	int rc = write_program(run, part, is_judge ? COMPILED_JUDGE : COMPILED_CONTESTANT, is_judge ? "judge.out" : "contestant.out", error);
	if (rc || who == PROGRAM_NULL)
		return rc;
	rc = stage_write_task(run->job, part, is_data, error);
	if (rc || is_judge)
		return rc;
	return write_program(run, part, who == PROGRAM_RIVAL ? COMPILED_RIVAL : COMPILED_SUBMISSION, "submission.so", error);
}

static int furnish(struct run *run, const struct stage *stage, const struct evaluation *evaluation, enum isolated_program who, struct error *error)
{
	struct workspace *part = &run->parts[who];
	int rc = workspace_open_stage(part, stage->name, error);
	if (!rc && who == PROGRAM_JUDGE)
		rc = evaluation_write_cases(evaluation, part->stage, error);
	if (rc)
		return rc;
	return run->job->task->language == TASK_PY ? furnish_py(run, part, who, error) : furnish_cu(run, part, who, error);
}

/* Parts are made when they are first needed, and live as long as the job. */
static int furnish_all(struct run *run, const struct stage *stage, const struct evaluation *evaluation, struct error *error)
{
	int rc = 0;
	for (; run->part_count < program_count(run->job); run->part_count++)
		if ((rc = workspace_open_part(&run->workspace, PARTS[run->part_count], &run->parts[run->part_count], error)))
			return rc;
	for (size_t i = 0; i < run->part_count && !rc; i++)
		rc = furnish(run, stage, evaluation, (enum isolated_program)i, error);
	return rc;
}

static void close_stages(struct run *run)
{
	for (size_t i = 0; i < run->part_count; i++)
		workspace_close_stage(&run->parts[i]);
}

/* ---- the programs ---- */

/* Paths are told from the run folder, so that none of this machine stands in the command that people see. */
static const char *const *command(const struct run *run, const struct evaluation *evaluation, enum isolated_program who)
{
	const struct job *job = run->job;
	const char **words = arena_array(run->arena, const char *, 5);
	size_t count = 0;
	bool is_py = job->task->language == TASK_PY, is_judge = who == PROGRAM_JUDGE;
	if (is_py)
		words[count++] = job->python;
	words[count++] = is_py ? is_judge ? "../engine/judge.py" : "../engine/contestant.py" : is_judge ? "./judge.out" : "./contestant.out";
	if (is_judge)
		words[count++] = evaluation->kind->argument;
	if (is_judge)
		words[count++] = "../cases.txt";
	else if (who == PROGRAM_NULL)
		words[count++] = "--null";
	else if (is_py)
		words[count++] = job->slot;
	return words;
}

static const char *const *environment(struct run *run, const struct evaluation *evaluation, enum isolated_program who)
{
	struct variables variables = who == PROGRAM_JUDGE
		? variables_for_judge(run->arena, run->job, &run->parts[who], evaluation_limit_s(evaluation))
		: variables_for_contestant(run->arena, run->job, &run->parts[who]);
	return (const char *const *)arena_copy(run->arena, variables.list, sizeof variables.list);
}

static struct process program(struct run *run, struct evaluation *evaluation, enum isolated_program who)
{
	const struct job *job = run->job;
	struct process process = {
		.arguments = command(run, evaluation, who), .environment = environment(run, evaluation, who),
		.timeout_ms = evaluation_limit_s(evaluation) * 1000, .zygote = run->zygote,
		.is_trusted = who == PROGRAM_JUDGE || who == PROGRAM_NULL,
		.view = { .gpus = job->device.uuid, .programs = { job->python, job->nvcc } },
	};
	if (who == PROGRAM_JUDGE) {
		process.on_result = evaluation_take;
		process.context = evaluation;
		process.loss_code = JUDGE_LOSS;
	}
	stage_prepare(run, &run->parts[who], &process);
	return process;
}

/* ---- what came of it ---- */

/* The judge may say so before it begins, and nobody gets another engine than the one that was asked for. Of a task in CUDA C++ it was
 * decided when it was compiled. */
static bool gives_up(const struct run *run, const struct stage *stage, const struct process_result *judge)
{
	return run->job->task->language == TASK_PY && judge->ending == PROCESS_EXITED && judge->code == JUDGE_CANNOT_SPLIT && !stage->begun &&
		run->job->task->engine != ENGINE_ISOLATED && run->job->mode != JOB_COMPARE;
}

static void choose_custom(struct run *run, const struct results *results)
{
	run->engine = ENGINE_CUSTOM;
	run->engine_reason = results->error ? results->error : "The judge found that the task cannot be split.";
}

/* The exit code that people see: the judge's, but where the submission ended by itself, its own. */
static void note_end(struct stage *stage, const struct process_result *ended)
{
	const struct process_result *judge = &ended[PROGRAM_JUDGE], *entry = &ended[PROGRAM_ENTRY];
	bool is_lost = judge->ending == PROCESS_EXITED && judge->code == JUDGE_LOSS && entry->ending != PROCESS_LEFT &&
		stage->judgement.verdict != VERDICT_INTERNAL_ERROR;
	const struct process_result *shown = is_lost ? entry : judge;
	stage->exited = shown->ending == PROCESS_EXITED;
	stage->exit_code = shown->code;
	stage->duration_ms = judge->duration_ms;
	stage->peak_host_bytes = entry->peak_bytes;
}

/* Participants see only what their own program says. */
static void log_judge(const struct process_result *judge)
{
	enum { most_bytes = 2000 };
	cleanup_buffer struct buffer text = {0};
	capture_text(&judge->errors, &text);
	while (text.length && text.data[text.length - 1] == '\n')
		text.data[--text.length] = '\0';
	const char *from = text.length > most_bytes ? text.data + text.length - most_bytes : buffer_string(&text);
	log_warning("The judge failed: %s", *from ? from : "it has not said why.");
}

static int run_programs(struct run *run, struct stage *stage, struct evaluation *evaluation, struct process processes[static PROGRAMS],
	struct process_result ended[static PROGRAMS], struct error *error)
{
	int rc = furnish_all(run, stage, evaluation, error);
	if (rc)
		return rc;
	for (size_t i = 0; i < run->part_count; i++)
		processes[i] = program(run, evaluation, (enum isolated_program)i);
	stage_follow(run, stage, &processes[PROGRAM_ENTRY]);
	evaluation->stage = stage;
	evaluation->judge = &processes[PROGRAM_JUDGE];
	evaluation_look_before(evaluation);
	return process_run_all(processes, ended, run->part_count, error);
}

/* A stage whose judge has not begun may not have counted. */
static void tell(struct run *run, struct stage *stage, struct evaluation *evaluation, const struct process *processes,
	const struct process_result *ended)
{
	if (!stage->begun)
		stage_tell_begin(run, stage, &processes[PROGRAM_JUDGE]);
	stage_tell_log(run, stage, &ended[PROGRAM_ENTRY]);
	evaluation_send_conditions(evaluation, stage);
}

int engine_isolated(struct run *run, struct stage *stage, struct evaluation *evaluation, struct error *error)
{
	struct process processes[PROGRAMS] = {0};
	struct process_result *ended = arena_array(run->arena, struct process_result, PROGRAMS);
	int rc = run_programs(run, stage, evaluation, processes, ended, error);
	close_stages(run);
	evaluation->judge = NULL;
	results_finish(&evaluation->results);
	if (rc)
		return rc;
	if (gives_up(run, stage, &ended[PROGRAM_JUDGE])) {
		choose_custom(run, &evaluation->results);
		return 0;
	}
	tell(run, stage, evaluation, processes, ended);
	judge_isolated(processes, ended, run->part_count, &evaluation->results, &stage->judgement);
	note_end(stage, ended);
	if (stage->judgement.verdict == VERDICT_INTERNAL_ERROR)
		log_judge(&ended[PROGRAM_JUDGE]);
	return 0;
}
