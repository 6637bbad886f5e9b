/* Exceptions for single users of a leaderboard: a later deadline (an extension), and
 * disqualifications. Each change is one transaction with its entry in the audit log. The caller
 * checks the right (lib/leaderboard/right.h).
 *
 * Until the last extension has passed, the leaderboard counts as not over, so sources that open
 * after the deadline stay closed (SQL_IS_OVER). A disqualified submission keeps its page and
 * results but is not ranked; its author reads the reason. A disqualified user may still submit, but
 * none of the user's submissions to the leaderboard is ranked. */
#ifndef PODIUM_LIB_JUDGING_EXCEPTION_H
#define PODIUM_LIB_JUDGING_EXCEPTION_H

#include "lib/base/arena.h"
#include "lib/base/error.h"
#include "lib/database/database.h"
#include "lib/leaderboard/leaderboard.h"

#include <stddef.h>
#include <stdint.h>

struct exception {
	const char *kind; /* "extension", "disqualification" */
	const char *user;
	int64_t submission_id; /* of a disqualification; 0: all of the user's */
	int64_t deadline_ms;   /* of an extension */
	const char *reason;    /* of a disqualification; "": an extension */
	const char *given_by;
	int64_t given_at_ms;
};
/* Lists the exceptions of a leaderboard, sorted by user and kind. */
int exceptions_list(struct database *db, struct arena *arena, int64_t leaderboard_id,
	struct exception **exceptions, size_t *count, struct error *error);

/* The leaderboard and user of a change, and who makes it. */
struct exception_order {
	const struct leaderboard *leaderboard;
	const char *user;
	const struct actor *by;
};
/* Sets the user's deadline, or removes the extension if `deadline_ms` is TIME_NULL. ERROR_INPUT
 * with the field `user` or `deadline`. ERROR_NOT_FOUND: there is no extension to remove.
 * ERROR_CONFLICT: the standings of the leaderboard's contest are final. */
int exception_extend(struct database *db, const struct exception_order *order, int64_t deadline_ms,
	struct error *error);
/* Disqualifies the user, or lifts the disqualification if `reason` is NULL. ERROR_INPUT with the
 * field `user` or `reason`. ERROR_NOT_FOUND: the user is not disqualified. */
int exception_disqualify(struct database *db, const struct exception_order *order,
	const char *reason, struct error *error);
/* Like exception_disqualify, for one submission. */
int exception_disqualify_submission(struct database *db, int64_t submission_id, const char *reason,
	const struct actor *by, struct error *error);

#endif
