/* Results that are held: a ranked job that has passed faster than its GPU can be (lib/floor.h) is
 * not ranked before an admin has looked at it. He releases it, and it stands in the ranking at
 * once; or he rejects it with a reason. */
#ifndef PODIUM_LIB_REVIEW_H
#define PODIUM_LIB_REVIEW_H

#include "lib/arena.h"
#include "lib/database.h"
#include "lib/error.h"
#include "lib/leaderboard.h"

#include <stddef.h>
#include <stdint.h>

enum { review_most_reason_bytes = 500, reviews_most = 200 };

/* Inside the transaction that finishes a job, when its cases are stored: the sentence that speaks
 * against its times, or NULL. `engine` is the one that took them. */
int review_objection(struct database *db, struct arena *arena, int64_t job_id, const char *engine,
	const char **sentence, struct error *error);

struct held_result {
	int64_t submission_id;
	const char *leaderboard, *user, *gpu, *engine; /* engine NULL: not known */
	double score_ns, score_err_ns;
	const char *reason; /* a sentence */
	int64_t held_at_ms;
};

/* Those that wait for an admin, the oldest first, reviews_most of them at most. */
int reviews_waiting(struct database *db, struct arena *arena, struct held_result **results,
	size_t *count, struct error *error);

struct review { /* what an admin decides about */
	int64_t submission_id;
	const char *gpu;
	const struct actor *by;
};

/* Both are one transaction with their entry in the audit log. ERROR_NOT_FOUND when there is no such
 * result, ERROR_CONFLICT when it does not wait for an admin, ERROR_INPUT with the field `reason`.
 */
int review_release(struct database *db, const struct review *review, struct error *error);
int review_reject(
	struct database *db, const struct review *review, const char *reason, struct error *error);

/* A reason that an author reads, without spaces around it: ERROR_INPUT with the field `reason` when
 * it is none, is longer than review_most_reason_bytes, or is not one line of text. */
int review_check_reason(
	struct arena *arena, const char *reason, const char **checked, struct error *error);

#endif
