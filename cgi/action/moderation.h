/* What admins do with single submissions besides cancelling and rejudging them: hide one, hold its
 * results for review, and write a note about it. Each is one transaction with its entry in the
 * audit log.
 *
 * A hidden submission is seen by its author, who reads the reason, and by admins alone; it is not
 * ranked. What runs of it ends as it would. */
#ifndef PODIUM_LIB_HIDING_H
#define PODIUM_LIB_HIDING_H

#include "lib/database.h"
#include "lib/error.h"
#include "lib/leaderboard.h"

#include <stdint.h>

enum { admin_note_most_bytes = 2000 };

/* ERROR_NOT_FOUND when there is no such submission, ERROR_CONFLICT when it is so already,
 * ERROR_INPUT with the field `reason`: it must be one line of review_most_reason_bytes at most. */
int submission_hide(struct database *db, int64_t submission_id, const char *reason,
	const struct actor *by, struct error *error);
int submission_show(
	struct database *db, int64_t submission_id, const struct actor *by, struct error *error);

/* Takes what has passed out of the ranking until an admin releases or rejects it (lib/review.h).
 * ERROR_CONFLICT when nothing of it has passed that is not held already. */
int submission_hold(struct database *db, int64_t submission_id, const char *reason,
	const struct actor *by, struct error *error);

/* For admins alone; "" takes it away. ERROR_INPUT with the field `note`. */
int submission_admin_note(struct database *db, int64_t submission_id, const char *note,
	const struct actor *by, struct error *error);

#endif
