/* The queue of jobs, which is the table `jobs`: claiming, keeping and giving back.
 *
 * A claim gives the job a new fence number. Whoever writes for a job holds that number against the
 * row inside the same transaction, so a worker that was thought dead cannot write over its
 * successor. */
#ifndef PODIUM_WORKER_QUEUE_H
#define PODIUM_WORKER_QUEUE_H

#include "lib/arena.h"
#include "lib/database.h"
#include "lib/ending.h"
#include "lib/error.h"

#include <stdbool.h>
#include <stdint.h>

struct claim {
	int64_t job_id, fence, attempt; /* attempt: 1 for the first */
	int64_t submission_id; /* SQL_NULL_INTEGER: the job compares two of them (lib/comparison.h), or
	                          is rejudged */
	int64_t
		rejudged_id; /* SQL_NULL_INTEGER: it is not computed for a rejudging (lib/rejudging.h) */
	bool hands_in;   /* podium-web ends the job, because we may not (lib/ending.h) */
};

struct claimant { /* a device of a registered worker */
	const char *worker, *model, *uuid;
	int64_t lease_ms;
	bool hands_in;
};

/* Takes a job for the claimant's device, for `lease_ms`, and removes what an earlier attempt left.
 * The next is, of those with the lowest priority number, the oldest job of the user who has the
 * fewest jobs running on any device. ERROR_NOT_FOUND when none waits, while the worker or this
 * device is paused or drained (lib/fleet.h), or when this program is too old for the database
 * (sql/schema.h). */
int queue_claim(struct database *db, struct arena *arena, const struct claimant *claimant,
	struct claim *claim, struct error *error);

/* Whether a device takes part in no job for now. False when the database does not say. */
bool queue_is_paused(struct database *db, const char *worker, const char *uuid);

/* Inside a transaction: locks the job's row. ERROR_CONFLICT when the claim is no longer ours: the
 * lease ran out, or the job was cancelled, given back by a pause, or deleted. */
int queue_hold(
	struct database *db, struct arena *arena, const struct claim *claim, struct error *error);

/* Says that we are still at it, and what we are doing ("test 4/12"). ERROR_CONFLICT as above. */
int queue_renew(struct database *db, const struct claim *claim, int64_t lease_ms,
	const char *progress, struct error *error);

/* Nothing is done any more for a claim that was lost: if the job was cancelled, its page says from
 * now on that it is over. Nothing happens for any other. */
int queue_let_go(struct database *db, const struct claim *claim, struct error *error);

/* Ends the attempt: the verdict is there, or there will be none (lib/ending.h). Applies it, or
 * hands it in where that is not ours to do. Job and fence of `ending` are the claim's.
 * ERROR_CONFLICT as above. */
int queue_end(
	struct database *db, const struct claim *claim, struct ending ending, struct error *error);

/* The attempt came to nothing, through no fault of the submission: the job is queued again, or
 * after job_most_attempts (lib/job.h) has failed with the verdict `internal error`. `reason` is a
 * sentence for the participant. */
int queue_give_back(
	struct database *db, const struct claim *claim, const char *reason, struct error *error);

/* The worker stops: queued again, and the attempt does not count. */
int queue_release(struct database *db, const struct claim *claim, struct error *error);

/* A GPU was lost under it, so that another one takes it. That is no attempt; but a job that has
 * lost job_most_lost_gpus fails, so that it does not take all of them along. */
int queue_give_back_lost(
	struct database *db, const struct claim *claim, const char *reason, struct error *error);

#endif
