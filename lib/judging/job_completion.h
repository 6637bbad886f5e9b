/* How an attempt at a job ends: with a verdict, or without one, so that the job is queued again or
 * given up.
 *
 * An ending writes what is not the worker's: the ranking of a leaderboard, its records, what
 * webhooks tell. A worker whose user of the database may do that applies it in the transaction that
 * stores the last of the job's result. One whose user may not (docs/worker-hosts.md) hands it in,
 * and podium-web applies it within a fraction of a second. Either way a job and its ranking change
 * in the same transaction, and only while the claim is the job's last one. */
#ifndef PODIUM_LIB_ENDING_H
#define PODIUM_LIB_ENDING_H

#include "lib/arena.h"
#include "lib/database.h"
#include "lib/error.h"

#include <stddef.h>
#include <stdint.h>

enum { job_most_lost_gpus = 3 };

/* In the order of endings.kind. */
enum ending_kind {
	ENDING_VERDICT = 1,
	ENDING_FAULT,   /* it came to nothing through no fault of the submission: queued again, or after
	                   job_most_attempts failed */
	ENDING_LOSS,    /* a GPU was lost under it, which is no attempt; but after job_most_lost_gpus it
	                   has failed */
	ENDING_RELEASE, /* the worker stops, which is no attempt */
};

struct ending {
	int64_t job_id, fence, kind;
	const char *reason; /* a sentence for the participant; NULL where there is none to say */
	/* Of a verdict; NULL and NAN where there is none. */
	const char *verdict, *engine, *engine_reason;
	double score_ns, score_err_ns;
	double ratio, ratio_low, ratio_high; /* of a comparison */
};

/* Inside a transaction. ERROR_CONFLICT when the job is no longer that claim's. */
int ending_apply(
	struct database *db, struct arena *arena, const struct ending *ending, struct error *error);

/* Leaves it to podium-web. Handing in the same once more is fine. */
int ending_hand_in(struct database *db, const struct ending *ending, struct error *error);

/* Applies what was handed in; *count is how much. Any number of programs may do so at once. What is
 * refused for half a minute is taken for a fault of the machine, with a sentence in the log. */
int endings_settle(struct database *db, size_t *count, struct error *error);

/* Gives back every job whose lease has run out, but for those whose ending was handed in; *count is
 * how many. */
int endings_reclaim(struct database *db, size_t *count, struct error *error);

#endif
