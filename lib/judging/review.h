/* Results that are held for review. A passed ranked job that is faster than its GPU can be
 * (lib/gpu/floor.h) is not ranked until an admin decides. The admin either releases the result,
 * which then enters the ranking, or rejects it with a reason. */
#ifndef PODIUM_LIB_JUDGING_REVIEW_H
#define PODIUM_LIB_JUDGING_REVIEW_H

#include "lib/base/arena.h"
#include "lib/base/error.h"
#include "lib/database/database.h"
#include "lib/leaderboard/leaderboard.h"

#include <stddef.h>
#include <stdint.h>

enum { review_most_reason_bytes = 500, reviews_most = 200 };

/* Sets *sentence to the reason why a job's times cannot be true (floor_objection), or to NULL. Call
 * this inside the transaction that finishes the job, after its cases are stored. `engine` is the
 * engine that took the times. */
int review_objection(struct database *db, struct arena *arena, int64_t job_id, const char *engine,
	const char **sentence, struct error *error);

struct held_result {
	int64_t submission_id;
	const char *leaderboard, *user, *gpu, *engine; /* engine NULL: not known */
	double score_ns, score_err_ns;
	const char *reason; /* a sentence */
	int64_t held_at_ms;
};

/* The results that wait for an admin, the oldest first, at most reviews_most of them. */
int reviews_waiting(struct database *db, struct arena *arena, struct held_result **results,
	size_t *count, struct error *error);

struct review { /* the result that an admin decides about */
	int64_t submission_id;
	const char *gpu;
	const struct actor *by;
};

/* Each of these two functions decides in one transaction and writes an entry to the audit log.
 * ERROR_NOT_FOUND: there is no such result. ERROR_CONFLICT: the result does not wait for an admin.
 * ERROR_INPUT with the field `reason`: see review_check_reason. */
int review_release(struct database *db, const struct review *review, struct error *error);
int review_reject(
	struct database *db, const struct review *review, const char *reason, struct error *error);

/* Checks a reason, which the author reads, and strips the spaces around it. ERROR_INPUT with the
 * field `reason` if it is empty, longer than review_most_reason_bytes or not one line of text. */
int review_check_reason(
	struct arena *arena, const char *reason, const char **checked, struct error *error);

#endif
