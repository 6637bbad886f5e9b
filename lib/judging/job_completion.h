/* How an attempt at a job ends: with a verdict, or without one. Without a verdict the job is queued
 * again, or fails after too many attempts.
 *
 * A completion writes rows that do not belong to the worker: the leaderboard's ranking, its records
 * and webhook deliveries. A worker with a privileged database user applies the completion itself,
 * in the transaction that stores the end of the result. A worker without these rights
 * (docs/worker-hosts.md) hands the completion in, and podium-web applies it within a fraction of a
 * second. Either way the job and its ranking change in one transaction, and only if the worker has
 * not lost its claim to the job. */
#ifndef PODIUM_LIB_JUDGING_JOB_COMPLETION_H
#define PODIUM_LIB_JUDGING_JOB_COMPLETION_H

#include "lib/base/arena.h"
#include "lib/base/error.h"
#include "lib/database/database.h"

#include <stddef.h>
#include <stdint.h>

enum { job_most_lost_gpus = 3 };

/* The values of the column endings.kind. */
enum job_completion_kind {
	JOB_COMPLETION_VERDICT = 1,
	/* The platform failed: the job is queued again, or fails after job_most_attempts attempts. */
	JOB_COMPLETION_FAULT,
	/* The job's GPU stopped working. This does not count as an attempt, but job_most_lost_gpus
	 * losses fail the job. */
	JOB_COMPLETION_LOSS,
	/* The worker stops. This does not count as an attempt. */
	JOB_COMPLETION_RELEASE,
};

struct job_completion {
	int64_t job_id, fence, kind;
	const char *reason; /* a sentence for the participant; NULL: none */
	/* Only set with JOB_COMPLETION_VERDICT; NULL or NAN: not known. */
	const char *verdict, *engine, *engine_reason;
	double score_ns, score_err_ns;
	/* Only set for a comparison: its ratio, or the side whose failure ended it ("challenger",
	 * "incumbent"). */
	double ratio, ratio_low, ratio_high;
	const char *loser;
};

/* Applies a completion inside a transaction. ERROR_CONFLICT: the worker has lost its claim to the
 * job. */
int job_completion_apply(struct database *db, struct arena *arena,
	const struct job_completion *completion, struct error *error);

/* Hands a completion in for podium-web to apply. Handing in the same one again is harmless. */
int job_completion_hand_in(
	struct database *db, const struct job_completion *completion, struct error *error);

/* Applies up to 100 of the completions that were handed in; *count is their number. Several
 * programs may do this at the same time. If a completion cannot be applied for 30 s, the attempt
 * counts as a fault of the platform, and the log says why. */
int job_completions_settle(struct database *db, size_t *count, struct error *error);

/* Queues up to 100 jobs again whose lease has expired, or fails them after job_most_attempts
 * attempts. Skips jobs whose completion was handed in. *count is the number of jobs. */
int job_leases_reclaim(struct database *db, size_t *count, struct error *error);

#endif
