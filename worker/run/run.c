#include "worker/run/run.h"

#include "lib/log.h"
#include "worker/run/machine.h"
#include "worker/run/reaper.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

static void hide_seed(struct events *events, const struct job *job)
{
	enum { shortest_worth_hiding = 5 }; /* shorter numbers stand in every log by chance */
	if (job->mode != JOB_RANKED)
		return;
	snprintf(events->secret, sizeof events->secret, "%" PRId64, job->seed);
	if (strlen(events->secret) < shortest_worth_hiding)
		events->secret[0] = '\0';
}

/* Everything between the job's message and its verdict. */
static int perform(struct run *run, const json_t *message, struct job *job, int base, const struct sandbox_host *host,
	struct machine *machine, struct judgement *judgement, struct error *error)
{
	int rc = job_from_json(run->arena, message, job, error);
	if (rc)
		return rc;
	hide_seed(run->events, job);
	zygote_keep(run->zygote);
	json_t *environment = machine_environment(machine, job);
	event_environment(run->events, environment);
	json_decref(environment);
	rc = workspace_open(&run->workspace, base, job->id, host, error);
	if (!rc)
		engine_custom(run, judgement);
	workspace_close(&run->workspace);
	return rc;
}

bool run_job(const json_t *message, int base, const struct sandbox_host *host, struct machine *machine, struct zygote *zygote,
	struct inbox *inbox, struct events *events)
{
	cleanup_arena struct arena *arena = arena_new();
	struct error error;
	struct job job;
	struct judgement judgement = {0};
	struct run run = {
		.job = &job, .arena = arena, .events = events, .inbox = inbox, .workspace = { .lock = -1 }, .zygote = zygote,
		.gauge = &machine->gauge,
		.score_ns = NAN, .score_err_ns = NAN,
	};
	*events = (struct events){ .descriptor = events->descriptor, .job = job_id(message), .lost = events->lost };
	if (perform(&run, message, &job, base, host, machine, &judgement, &error)) {
		judgement.verdict = VERDICT_INTERNAL_ERROR;
		buffer_text(&judgement.message, error.text);
	}
	bool clean = reaper_end_all(&error) == 0;
	event_verdict(events, &(struct verdict_event){
		.verdict = judgement.verdict, .engine = "custom", .score_ns = run.score_ns, .score_err_ns = run.score_err_ns,
		.reason = judgement.verdict == VERDICT_PASSED ? verdict_advice(VERDICT_PASSED) : buffer_string(&judgement.message),
	});
	buffer_free(&judgement.message);
	if (!clean)
		log_error("%s podium-run ends, so that a new one starts on a clean machine.", error.text);
	return clean;
}
