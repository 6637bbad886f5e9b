/* The queue of jobs, which is the table `jobs`: claim a job, renew its lease, give it back.
 *
 * A claim gives the job a new fence number. Each write for a job checks that number against the row
 * in the same transaction. A worker that was believed dead therefore cannot overwrite its
 * successor. */
#ifndef PODIUM_WORKER_QUEUE_H
#define PODIUM_WORKER_QUEUE_H

#include "lib/base/arena.h"
#include "lib/base/error.h"
#include "lib/database/database.h"
#include "lib/judging/job_completion.h"

#include <stdbool.h>
#include <stdint.h>

struct claim {
	int64_t job_id, fence, attempt; /* attempt: 1 for the first */
	/* SQL_NULL_INTEGER for a comparison of two submissions (lib/ranking/head_to_head.h) and for a
	 * rejudge. */
	int64_t submission_id;
	/* The rejudged submission; SQL_NULL_INTEGER for other jobs (lib/judging/rejudging.h). */
	int64_t rejudged_id;
	/* podium-web completes the job, because this worker may not (lib/judging/job_completion.h). */
	bool hands_in;
};

struct claimant { /* a device of a registered worker */
	const char *worker, *model, *uuid;
	int64_t lease_ms;
	bool hands_in;
};

/* Claims a job for the claimant's device with a lease of `lease_ms`, and removes an earlier
 * attempt's results. Among the jobs with the lowest priority number, the user with the fewest
 * running jobs is next; that user's oldest job is claimed.
 *
 * ERROR_NOT_FOUND when no job waits, when the worker or this device is paused or drained
 * (lib/fleet/fleet.h), or when this program is too old for the database (sql/schema.h). */
int queue_claim(struct database *db, struct arena *arena, const struct claimant *claimant,
	struct claim *claim, struct error *error);

/* Whether the device or its worker is paused. False when the database does not answer. */
bool queue_is_paused(struct database *db, const char *worker, const char *uuid);

/* Locks the job's row; call it inside a transaction. ERROR_CONFLICT when the claim is no longer
 * ours: the lease expired, or the job was cancelled, paused or deleted. */
int queue_hold(
	struct database *db, struct arena *arena, const struct claim *claim, struct error *error);

/* Renews the lease and stores the progress ("test 4/12"). ERROR_CONFLICT as in queue_hold. */
int queue_renew(struct database *db, const struct claim *claim, int64_t lease_ms,
	const char *progress, struct error *error);

/* Tells the database that this worker has stopped working on a lost claim. A cancelled job's page
 * then shows the job as finished. Has no effect on other jobs. */
int queue_let_go(struct database *db, const struct claim *claim, struct error *error);

/* Completes the attempt, with a verdict or without one (lib/judging/job_completion.h). Applies the
 * completion, or hands it in to podium-web where this worker may not apply it. Fills in the job and
 * the fence of `completion` from the claim. ERROR_CONFLICT as in queue_hold. */
int queue_end(struct database *db, const struct claim *claim, struct job_completion completion,
	struct error *error);

/* The attempt failed through no fault of the submission. The job is queued again, or fails with the
 * verdict `internal error` after job_most_attempts (lib/job/job.h). `reason` is a sentence for the
 * participant. */
int queue_give_back(
	struct database *db, const struct claim *claim, const char *reason, struct error *error);

/* The worker stops: the job is queued again, and the attempt does not count. */
int queue_release(struct database *db, const struct claim *claim, struct error *error);

/* The job's GPU was lost: another GPU takes the job, and the attempt does not count. A job that has
 * lost job_most_lost_gpus fails, so that it cannot take down every GPU. */
int queue_give_back_lost(
	struct database *db, const struct claim *claim, const char *reason, struct error *error);

#endif
