#include "worker/run/run.h"

#include "lib/base/log.h"
#include "lib/task/engine.h"
#include "worker/run/engine/engine.h"
#include "worker/run/engine/judgement.h"
#include "worker/run/engine/stage.h"
#include "worker/run/sandbox/reaper.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

static void hide_seed(struct events *events, const struct job *job)
{
	enum { shortest_worth_hiding = 5 }; /* shorter numbers appear in every log by chance */
	if (job->mode != JOB_RANKED && job->mode != JOB_COMPARE)
		return;
	snprintf(events->secret, sizeof events->secret, "%" PRId64, job->seed);
	if (strlen(events->secret) < shortest_worth_hiding)
		events->secret[0] = '\0';
}

/* Checks that the job's engine can run its task in its mode, as far as the task's files show. */
static int check_engine(struct run *run, struct error *error)
{
	const struct job *job = run->job;
	run->engine = job->engine;
	run->engine_reason = job->engine == ENGINE_CUSTOM ? job->engine_reason : NULL;
	if (job->mode == JOB_COMPARE && job->engine == ENGINE_CUSTOM)
		return fail(error, ERROR_INPUT, "The custom engine compares no submissions.");
	if (job->mode == JOB_PROFILE && job->engine != ENGINE_CUSTOM)
		return fail(error, ERROR_INPUT, "Only the custom engine profiles a submission.");
	if (job->mode == JOB_KIT && (job->engine == ENGINE_CUSTOM || job->task->language != TASK_CU))
		return fail(error, ERROR_INPUT,
			"Only tasks in CUDA C++ with the isolated or the sealed engine have a kit.");
	const char *obstacle = job->engine == ENGINE_CUSTOM ? NULL
		: job->engine == ENGINE_ISOLATED                ? engine_obstacle(job->task, &job->files)
		: job->device.is_cpu ? "The sealed engine replays the work of a GPU."
							 : engine_sealed_obstacle(job->task, &job->files);
	return obstacle
		? fail(error, ERROR_INPUT, "The %s engine cannot run this task: %s" JOB_ENGINE_ADVICE,
			task_engine_name(job->engine), obstacle)
		: 0;
}

static void close_workspaces(struct run *run)
{
	for (enum program who = PROGRAM_JUDGE; who < PROGRAMS; who++)
		workspace_close(&run->parts[who]);
	workspace_close(&run->workspace);
}

/* Runs everything between the job's message and its verdict. */
static int run_checked_job(struct run *run, const json_t *message, struct job *job, int base,
	const struct sandbox_host *host, struct machine *machine, struct judgement *judgement,
	struct error *error)
{
	int rc = job_from_json(run->arena, message, job, error);
	if (rc)
		return rc;
	hide_seed(run->events, job);
	event_know_blobs(run->events, job->known_blobs);
	if ((rc = check_engine(run, error)))
		return rc;
	for (enum zygote_kind kind = 0; kind < ZYGOTES; kind++)
		zygote_keep(&run->zygotes[kind]);
	json_t *environment = machine_environment(machine, job);
	event_environment(run->events, environment);
	json_decref(environment);
	rc = workspace_open(&run->workspace, base, job->id, host, error);
	if (!rc)
		engine_run(run, judgement);
	close_workspaces(run);
	return rc;
}

bool run_job(const json_t *message, int base, const struct sandbox_host *host,
	struct machine *machine, struct zygote zygotes[ZYGOTES], struct inbox *inbox,
	struct events *events)
{
	cleanup_arena struct arena *arena = arena_new();
	struct error error;
	struct job job;
	struct judgement judgement = { 0 };
	struct run run = {
		.job = &job,
		.arena = arena,
		.events = events,
		.inbox = inbox,
		.workspace = { .lock = -1 },
		.zygotes = zygotes,
		.gauge = &machine->gauge,
		.kits = &machine->kits,
		.score_ns = NAN,
		.score_err_ns = NAN,
		.ratio = { NAN, NAN, NAN, NAN },
	};
	for (enum program who = PROGRAM_JUDGE; who < PROGRAMS; who++)
		run.parts[who].lock = -1;
	*events = (struct events){
		.descriptor = events->descriptor, .job = job_id(message), .lost = events->lost
	};
	log_about_number(LOG_JOB, job_id(message));
	if (run_checked_job(&run, message, &job, base, host, machine, &judgement, &error)) {
		judgement.verdict = VERDICT_INTERNAL_ERROR;
		judgement.machine_failed = error.code == ERROR_SYSTEM;
		buffer_text(&judgement.message, error.text);
	}
	bool clean = reaper_end_all(&error) == 0;
	event_verdict(events,
		&(struct verdict_event){
			.verdict = judgement.verdict,
			.engine = task_engine_name(run.engine),
			.engine_reason = run.engine_reason,
			.score_ns = run.score_ns,
			.score_err_ns = run.score_err_ns,
			.ratio = run.ratio.ratio,
			.ratio_low = run.ratio.low,
			.ratio_high = run.ratio.high,
			.loser = judgement.loser == SIDE_SUBMISSION ? "submission"
				: judgement.loser == SIDE_RIVAL         ? "rival"
														: NULL,
			.machine_failed = judgement.machine_failed,
			.zygotes = zygote_count(),
			.reason = judgement.verdict == VERDICT_PASSED ? verdict_advice(VERDICT_PASSED)
														  : buffer_string(&judgement.message),
		});
	buffer_free(&judgement.message);
	if (!clean)
		log_error("%s podium-run exits, so that a new one starts on a clean machine.", error.text);
	log_about_number(LOG_JOB, 0);
	return clean;
}
