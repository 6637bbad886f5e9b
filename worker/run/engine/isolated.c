/* The engines that keep the submission apart from its judge. The isolated engine runs a judge and a
 * contestant with the submission. Timed stages add a contestant with an empty kernel, comparisons
 * one with the rival. In the sealed engine, a submission has two programs: a builder, which has its
 * code, and a launcher. Each program has its own sandbox and its own part of the job's folder. A
 * test stage and the timed stage after it share their programs, which start once. */
#include "worker/run/engine/engine.h"

#include "lib/base/clock.h"
#include "lib/base/log.h"
#include "lib/base/scope.h"
#include "lib/base/text.h"
#include "worker/run/engine/files.h"
#include "worker/run/engine/plans.h"
#include "worker/run/sandbox/folder.h"

#include <ctype.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

/* Files of a Python task that contestants do not get, besides its main file and the case file. */
static const char *const KEPT_FROM_CONTESTANTS[] = { "reference.py", "reference_code.py", "eval.py",
	"score_eval.py" };

static const char *const CU_PROGRAMS[] = {
	[ROLE_JUDGE] = "judge.out",
	[ROLE_SEALED_JUDGE] = "judge.out",
	[ROLE_CONTESTANT] = "contestant.out",
	[ROLE_BUILDER] = "builder.out",
};

/* ---- the programs' folders ---- */

/* The names of the parts of the job's folder. */
static const char *const PARTS[PROGRAMS] = { "judge", "entry", "launcher", "null", "rival",
	"rival-launcher" };

static bool is_sealed(const struct run *run)
{
	return run->engine == ENGINE_SEALED;
}

static bool is_needed(const struct run *run, enum program who)
{
	enum job_mode mode = run->job->mode;
	switch (who) {
	case PROGRAM_LAUNCHER: return is_sealed(run);
	case PROGRAM_NULL: return mode != JOB_TEST;
	case PROGRAM_RIVAL: return mode == JOB_COMPARE;
	case PROGRAM_RIVAL_LAUNCHER: return mode == JOB_COMPARE && is_sealed(run);
	default: return true;
	}
}

/* Whether the program has a submission's code. */
static bool has_submission(enum program who)
{
	return who == PROGRAM_ENTRY || who == PROGRAM_RIVAL;
}

/* Whether the program is the sealed engine's launcher. */
static bool is_launcher(const struct run *run, enum program who)
{
	return is_sealed(run) && who != PROGRAM_JUDGE && !has_submission(who);
}

static bool is_for_contestants(const struct job *job, const char *path)
{
	for (size_t i = 0; i < COUNT(KEPT_FROM_CONTESTANTS); i++)
		if (strcmp(path, KEPT_FROM_CONTESTANTS[i]) == 0)
			return false;
	return strcmp(path, job->task->main) != 0;
}

static int write_submission(
	const struct job *job, const struct workspace *part, enum program who, struct error *error)
{
	bool is_rival = who == PROGRAM_RIVAL;
	return folder_write(part->run, job->slot, is_rival ? job->rival : job->submission,
		is_rival ? job->rival_length : job->submission_length, 0444, error);
}

static enum engine_role role_of(const struct run *run, enum program who)
{
	return who == PROGRAM_JUDGE ? is_sealed(run) ? ROLE_SEALED_JUDGE : ROLE_JUDGE
		: is_launcher(run, who) ? ROLE_LAUNCHER
		: is_sealed(run)        ? ROLE_BUILDER
								: ROLE_CONTESTANT;
}

/* Only the judge and the programs with a submission need files of the task. */
static int fill_py_part(
	const struct run *run, const struct workspace *part, enum program who, struct error *error)
{
	int rc = engine_files_write(part->stage, role_of(run, who), error);
	if (rc || (who != PROGRAM_JUDGE && !has_submission(who)))
		return rc;
	if (who == PROGRAM_JUDGE)
		return stage_write_task(run->job, part, NULL, error);
	rc = stage_write_task(run->job, part, is_for_contestants, error);
	return rc ? rc : write_submission(run->job, part, who, error);
}

/* Writes the engine's files for a program of a CUDA C++ task: the launcher, and the recorder that
 * the builder loads. The other programs are compiled with the engine's code. */
static int fill_cu_engine(
	const struct run *run, const struct workspace *part, enum program who, struct error *error)
{
	enum engine_role role = role_of(run, who);
	return role == ROLE_LAUNCHER ? engine_files_write(part->stage, ROLE_LAUNCHER, error)
		: role == ROLE_BUILDER   ? engine_files_write(part->stage, ROLE_RECORDER, error)
								 : 0;
}

static int write_program(const struct run *run, const struct workspace *part,
	enum compiled_kind kind, const char *name, struct error *error)
{
	return folder_write(
		part->run, name, run->programs[kind].bytes, run->programs[kind].length, 0555, error);
}

static int fill_cu_part(
	const struct run *run, const struct workspace *part, enum program who, struct error *error)
{
	bool is_judge = who == PROGRAM_JUDGE;
	int rc = fill_cu_engine(run, part, who, error);
	if (rc || is_launcher(run, who))
		return rc;
	rc = write_program(run, part, is_judge ? COMPILED_JUDGE : COMPILED_CONTESTANT,
		CU_PROGRAMS[role_of(run, who)], error);
	if (rc || who == PROGRAM_NULL)
		return rc;
	rc = stage_write_task(run->job, part, compile_is_data, error);
	if (rc || is_judge)
		return rc;
	return write_program(run, part, who == PROGRAM_RIVAL ? COMPILED_RIVAL : COMPILED_SUBMISSION,
		"submission.so", error);
}

/* Whether the judge of a test also makes the plans of the ranked benchmarks, to warn if one of them
 * cannot be made. */
static bool foresees(const struct run *run)
{
	return is_sealed(run) && run->job->mode == JOB_TEST && run->job->task->benchmark_count > 0;
}

static int write_cases(
	const struct evaluation *evaluation, const struct workspace *part, struct error *error)
{
	const struct task *task = evaluation->run->job->task;
	const size_t first = task_first_ranked(task);
	const struct evaluation ranked = { .cases = task->benchmarks + first,
		.count = task->benchmark_count - first };
	int rc = evaluation_write_cases(evaluation, part->stage, "cases.txt", error);
	if (!rc && evaluation->next)
		rc = evaluation_write_cases(evaluation->next, part->stage, "timed.txt", error);
	if (!rc && foresees(evaluation->run))
		rc = evaluation_write_cases(&ranked, part->stage, "timed.txt", error);
	return rc;
}

static int fill_part(
	struct run *run, const struct evaluation *evaluation, enum program who, struct error *error)
{
	struct workspace *part = &run->parts[who];
	int rc = workspace_open_stage(part, evaluation->stage->name, error);
	if (!rc && who == PROGRAM_JUDGE)
		rc = write_cases(evaluation, part, error);
	if (rc)
		return rc;
	return run->job->task->language == TASK_PY ? fill_py_part(run, part, who, error)
											   : fill_cu_part(run, part, who, error);
}

/* Fills the folder of each program. The first stage that needs a part of the job's folder creates
 * the part, which then lives as long as the job. */
static int fill_parts(struct run *run, const struct evaluation *evaluation, struct error *error)
{
	int rc = 0;
	for (enum program who = PROGRAM_JUDGE; who < PROGRAMS && !rc; who++) {
		if (!is_needed(run, who))
			continue;
		if (run->parts[who].lock < 0)
			rc = workspace_open_part(&run->workspace, PARTS[who], &run->parts[who], error);
		rc = rc ? rc : fill_part(run, evaluation, who, error);
	}
	return rc;
}

static void close_stages(struct run *run)
{
	for (enum program who = PROGRAM_JUDGE; who < PROGRAMS; who++)
		if (run->parts[who].lock >= 0)
			workspace_close_stage(&run->parts[who]);
}

/* ---- the programs ---- */

/* The folder of the CUDA toolkit, PREFIX of PREFIX/bin/nvcc. */
static const char *find_toolkit(const struct run *run)
{
	char *path = arena_strdup(run->arena, run->job->nvcc);
	for (int i = 0; i < 2; i++) {
		char *slash = strrchr(path, '/');
		if (!slash)
			return "";
		*slash = '\0';
	}
	return path;
}

/* Paths are relative to the run folder, so that the judge's command, which the page shows, has no
 * path of this machine. */
static const char *const *build_command(
	const struct run *run, const struct evaluation *evaluation, enum program who)
{
	static const char *const PROGRAM_FILES[] = {
		[ROLE_JUDGE] = "../engine/judge.py",
		[ROLE_SEALED_JUDGE] = "../engine/judge.py",
		[ROLE_CONTESTANT] = "../engine/contestant.py",
		[ROLE_BUILDER] = "../engine/builder.py",
		[ROLE_LAUNCHER] = "../engine/launch",
	};
	const struct job *job = run->job;
	const char **words = arena_array(run->arena, const char *, 7);
	size_t count = 0;
	bool is_py = job->task->language == TASK_PY, is_judge = who == PROGRAM_JUDGE;
	if (is_py && !is_launcher(run, who))
		words[count++] = job->python;
	words[count++] = is_py || is_launcher(run, who)
		? PROGRAM_FILES[role_of(run, who)]
		: arena_printf(run->arena, "./%s", CU_PROGRAMS[role_of(run, who)]);
	if (is_judge) {
		words[count++] = evaluation->kind->argument;
		words[count++] = "../cases.txt";
	} else if (who == PROGRAM_NULL) {
		words[count++] = "--null";
	} else if (is_py && has_submission(who)) {
		words[count++] = job->slot;
	} else if (role_of(run, who) == ROLE_BUILDER) {
		words[count++] = "../engine/sealed.so";
		words[count++] = find_toolkit(run);
	}
	if (is_judge && evaluation->next) {
		words[count++] = evaluation->next->kind->argument;
		words[count++] = "../timed.txt";
	} else if (is_judge && foresees(run)) {
		words[count++] = "build";
		words[count++] = "../timed.txt";
	}
	return words;
}

static const char *format_limits(const struct run *run, const struct evaluation *evaluation)
{
	const char *first = arena_printf(run->arena, "%" PRId64, evaluation_limit_s(evaluation));
	return evaluation->next
		? arena_printf(run->arena, "%s %" PRId64, first, evaluation_limit_s(evaluation->next))
		: first;
}

static const char *const *build_environment(
	struct run *run, const struct evaluation *evaluation, enum program who)
{
	struct variables variables = who == PROGRAM_JUDGE
		? variables_for_judge(
			run->arena, run->job, &run->parts[who], format_limits(run, evaluation))
		: variables_for_contestant(run->arena, run->job, &run->parts[who]);
	if (who == PROGRAM_JUDGE && is_sealed(run)) {
		variables_set(&variables, "PODIUM_SEALED", run->job->may_fall_back ? "all" : "1");
		if (run->job->mode != JOB_COMPARE)
			variables_set(&variables, "PODIUM_PLANS",
				arena_printf(run->arena, "%s/%s/tmp/" PLANS_FOLDER, run->parts[who].path,
					run->parts[who].stage_name));
		if (run->job->task->language == TASK_CU)
			variables_set(&variables, "PODIUM_TOOLKIT", find_toolkit(run));
	}
	return (const char *const *)arena_copy(run->arena, variables.list, sizeof variables.list);
}

static struct process describe_program(
	struct run *run, const struct evaluation *evaluation, enum program who)
{
	const struct job *job = run->job;
	struct process process = {
		.arguments = build_command(run, evaluation, who),
		.environment = build_environment(run, evaluation, who),
		.timeout_ms = evaluation_limit_s(evaluation) * 1000 + judge_grace_ms,
		.zygote = &run->zygotes[has_submission(who) ? ZYGOTE_SUBMISSION : ZYGOTE_JUDGE],
		.nice = stage_nice(run, evaluation->stage, who == PROGRAM_JUDGE),
		.is_trusted = !has_submission(who),
		/* The judge continues when it sees a closed channel. After a rival's, it measures the
		 * submission alone; after a builder's, it starts the calls. The channel therefore stays
		 * open until no process is left in the sandbox. */
		.holds_channel = who == PROGRAM_RIVAL || who == PROGRAM_RIVAL_LAUNCHER
			|| (is_sealed(run) && who == PROGRAM_ENTRY),
		.view = { .gpus = job->device.uuid, .programs = { job->python, job->nvcc } },
	};
	if (who == PROGRAM_JUDGE)
		process.loss_code = JUDGE_LOSS;
	stage_prepare(run, &run->parts[who], &process);
	return process;
}

/* ---- the outcome ---- */

/* Whether to run the stage again with the next weaker engine. The job must allow it, and the judge
 * must have said before its first case that the engine cannot run the task or cannot record the
 * submission's calls. In the sealed engine, a failure of the judge itself counts too, because the
 * engine needs more of the machine, such as CUPTI. The isolated engine needs this only for Python:
 * for CUDA C++, the compile stage has already found out whether the task can be split. */
static bool falls_back(
	const struct run *run, const struct stage *stage, const struct process_result *judge)
{
	return (run->job->task->language == TASK_PY || is_sealed(run)) && run->job->may_fall_back
		&& !stage->begun && judge->ending == PROCESS_EXITED
		&& (judge->code == JUDGE_CANNOT_SPLIT || judge->code == JUDGE_REFUSED
			|| (is_sealed(run) && judge->code == JUDGE_FAILED));
}

static void choose_next_engine(struct run *run, const struct results *results)
{
	const char *why = results->error ? results->error : "The judge gave no reason.";
	run->engine_reason =
		is_sealed(run) ? arena_printf(run->arena, "The sealed engine could not run: %s", why) : why;
	run->engine = is_sealed(run) ? ENGINE_ISOLATED : ENGINE_CUSTOM;
}

/* The last identifier in a mangled name: "_ZN2my3addEPf" has "add". Source: Itanium C++ ABI, 5.1.
 */
static const char *plain_name(struct arena *arena, const char *name)
{
	const char *last = name, *at = name + strlen("_Z");
	bool is_nested = strncmp(name, "_ZN", 3) == 0, goes_on = strncmp(name, "_Z", 2) == 0;
	at += is_nested;
	while (goes_on) {
		at += *at == 'L'; /* internal linkage */
		char *from = NULL;
		size_t length = isdigit((unsigned char)*at) ? strtoul(at, &from, 10) : 0;
		if (!length || length > strlen(from))
			break;
		last = arena_strndup(arena, from, length);
		at = from + length;
		goes_on = is_nested;
	}
	return last;
}

/* Finds the name before "(" in the text from `at` up to a body or another declaration, and before
 * `end`; or NULL. */
static const char *find_declared(const char *at, const char *end, const char *name)
{
	const char *found = at;
	for (const char *byte = at; byte < end; byte++)
		if (strchr(";{}", *byte))
			end = byte;
	const size_t length = strlen(name);
	for (; (found = memmem(found, (size_t)(end - found), name, length)); found++) {
		const char *behind = found + length;
		bool is_whole = !isalnum((unsigned char)found[-1]) && found[-1] != '_';
		if (is_whole && behind[strspn(behind, " \t\r\n")] == '(')
			return found;
	}
	return NULL;
}

/* If the sentence names a kernel of a CUDA C++ submission, adds the line that declares the kernel.
 * The builder cannot add it, because it has no source. In Python, builder.py names the line. */
static void add_line(const struct run *run, struct buffer *sentence)
{
	static const char noun[] = "kernel ", mark[] = "__global__",
					  letters[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_";
	const struct job *job = run->job;
	const char *named = strstr(buffer_string(sentence), noun), *found = NULL;
	size_t line = 1;
	if (!is_sealed(run) || job->task->language != TASK_CU || !named)
		return;
	const char *source = arena_strndup(run->arena, job->submission, job->submission_length);
	named += strlen(noun);
	named = plain_name(run->arena, arena_strndup(run->arena, named, strspn(named, letters)));
	/* Each search ends at the next __global__, so all searches together read the source once. */
	for (const char *at = strstr(source, mark), *next; *named && at && !found; at = next) {
		at += strlen(mark);
		next = strstr(at, mark);
		found = find_declared(at, next ? next : at + strlen(at), named);
	}
	for (const char *at = source; found && at < found; at++)
		line += *at == '\n';
	if (found)
		buffer_printf(sentence, " The kernel is in %s, line %zu.", job->slot, line);
}

/* Stores how the stage ended. The page shows the judge's exit code, or the submission's if the
 * submission's end made the stage fail. */
static void note_end(
	struct stage *stage, const struct process *processes, const struct process_result *ended)
{
	const struct process_result *judge = &ended[PROGRAM_JUDGE], *entry = &ended[PROGRAM_ENTRY];
	bool is_lost = judge->ending == PROCESS_EXITED && judge->code == JUDGE_LOSS
		&& entry->ending != PROCESS_LEFT && stage->judgement.verdict != VERDICT_INTERNAL_ERROR
		&& stage->judgement.loser != SIDE_RIVAL;
	const struct process_result *shown = is_lost ? entry : judge;
	stage->exited = shown->ending == PROCESS_EXITED;
	stage->exit_code = shown->code;
	stage->duration_ms = judge->duration_ms - processes[PROGRAM_JUDGE].spent_ms;
	stage->peak_host_bytes = entry->peak_bytes;
}

/* Participants see only their own program's output, so the judge's goes to the log. */
static void log_judge(const struct process_result *judge)
{
	enum { most_bytes = 2000 };
	cleanup_buffer struct buffer text = { 0 };
	capture_text(&judge->errors, &text);
	while (text.length && text.data[text.length - 1] == '\n')
		text.data[--text.length] = '\0';
	const char *from =
		text.length > most_bytes ? text.data + text.length - most_bytes : buffer_string(&text);
	log_warning("The judge failed: %s", *from ? from : "it gave no reason.");
}

/* ---- running one or two stages ---- */

/* The running programs. Their results belong to `current`. */
struct series {
	struct run *run;
	struct evaluation *current;
	struct process processes[PROGRAMS];
	struct process_result *ended;
};

static void begin_stage(struct series *series, struct evaluation *evaluation)
{
	series->current = evaluation;
	evaluation->judge = &series->processes[PROGRAM_JUDGE];
	evaluation_look_before(evaluation);
}

/* Sends a passed stage's remaining events while its programs run the next one. */
static void end_stage(struct series *series)
{
	struct evaluation *evaluation = series->current;
	struct stage *stage = evaluation->stage;
	struct process_result *entry = &series->ended[PROGRAM_ENTRY];
	stage->judgement.verdict = VERDICT_PASSED;
	if (evaluation->results.warning)
		buffer_text(&stage->judgement.message, evaluation->results.warning);
	add_line(series->run, &stage->judgement.message);
	stage->exited = true;
	stage->duration_ms = clock_ms() - series->ended[PROGRAM_JUDGE].began_ms;
	stage->peak_host_bytes = process_peak_bytes(entry);
	stage_tell_log(series->run, stage, entry);
	capture_clear(&entry->output);
	capture_clear(&entry->errors);
	evaluation_close(evaluation);
	stage_tell_end(series->run, stage);
	evaluation->is_over = true;
}

static void start_next_stage(struct series *series)
{
	struct evaluation *next = series->current->next;
	end_stage(series);
	/* Stop following the output: an onlooker must not disturb a measurement. */
	series->processes[PROGRAM_ENTRY].on_output = NULL;
	series->processes[PROGRAM_JUDGE].spent_ms = series->current->stage->duration_ms;
	series->processes[PROGRAM_JUDGE].timeout_ms = evaluation_limit_s(next) * 1000 + judge_grace_ms;
	begin_stage(series, next);
	evaluation_tell_progress(next);
}

static bool has_passed(const struct results *results)
{
	return results->check && strcmp(results->check, "pass") == 0;
}

/* The judge's on_result: reads result lines, and starts the next stage once this one has passed. */
static bool take_results(void *context, const char *bytes, size_t length)
{
	struct series *series = context;
	struct evaluation *evaluation = series->current;
	bool good = results_add(&evaluation->results, bytes, length);
	evaluation_note(evaluation);
	if (!evaluation->next || !has_passed(&evaluation->results))
		return good;
	if (!results_complete(&evaluation->results))
		return false;
	start_next_stage(series);
	evaluation_note(series->current);
	return good;
}

static int run_programs(struct series *series, struct evaluation *evaluation, struct error *error)
{
	struct run *run = series->run;
	int rc = fill_parts(run, evaluation, error);
	if (rc)
		return rc;
	const struct process *processes[PROGRAMS];
	struct process_result *ended[PROGRAMS];
	size_t count = 0;
	for (enum program who = PROGRAM_JUDGE; who < PROGRAMS; who++) {
		if (!is_needed(run, who))
			continue;
		series->processes[who] = describe_program(run, evaluation, who);
		processes[count] = &series->processes[who];
		ended[count++] = &series->ended[who];
	}
	series->processes[PROGRAM_JUDGE].on_result = take_results;
	series->processes[PROGRAM_JUDGE].context = series;
	stage_follow(run, evaluation->stage, &series->processes[PROGRAM_ENTRY]);
	evaluation->results.next = evaluation->next ? &evaluation->next->results : NULL;
	begin_stage(series, evaluation);
	return process_run_all(processes, ended, count, error);
}

/* Sends the stage's events "stage", "log" and "conditions". They had to wait until it was certain
 * that no weaker engine repeats the stage. If the stage runs several times, the log has the output
 * of the first run and of a failed one. */
static void tell_outcome(const struct series *series, struct stage *stage)
{
	if (!stage->begun)
		stage_tell_begin(series->run, stage, &series->processes[PROGRAM_JUDGE]);
	if (!series->current->earlier_runs || stage->judgement.verdict != VERDICT_PASSED)
		stage_tell_log(series->run, stage, &series->ended[PROGRAM_ENTRY]);
	evaluation_send_conditions(series->current, stage);
}

/* Judges the last stage, whose programs have ended, and sends what is left to send. */
static void conclude(struct series *series)
{
	struct run *run = series->run;
	struct evaluation *last = series->current;
	struct stage *stage = last->stage;
	const struct process_result *judge = &series->ended[PROGRAM_JUDGE];
	if (falls_back(run, stage, judge)) {
		if (judge->code == JUDGE_FAILED)
			log_judge(judge);
		choose_next_engine(run, &last->results);
		return;
	}
	judge_isolated(series->processes, series->ended, &last->results, &stage->judgement);
	if (judge->code == JUDGE_REFUSED || stage->judgement.verdict == VERDICT_PASSED)
		add_line(run, &stage->judgement.message);
	tell_outcome(series, stage);
	if (is_sealed(run))
		plans_send(run, stage, last->count);
	note_end(stage, series->processes, series->ended);
	/* If the task cannot be split, the verdict's reason already tells what the judge said. */
	if (stage->judgement.verdict == VERDICT_INTERNAL_ERROR && judge->code != JUDGE_CANNOT_SPLIT)
		log_judge(judge);
}

int engine_isolated(struct run *run, struct evaluation *evaluation, struct error *error)
{
	struct process_result *ended = arena_array(run->arena, struct process_result, PROGRAMS);
	struct series series = { .run = run, .current = evaluation, .ended = ended };
	int rc = run_programs(&series, evaluation, error);
	series.current->judge = NULL;
	results_finish(&series.current->results);
	if (!rc)
		conclude(&series);
	close_stages(run);
	return rc;
}
