/* What admins do to single submissions besides cancelling and rejudging: hide one, hold its results
 * for review, or write a note about it. Each action is one transaction with its audit entry.
 *
 * Only the author, who reads the reason, and admins see a hidden submission. It is not ranked. Its
 * running jobs finish normally. */
#ifndef PODIUM_CGI_ACTION_MODERATION_H
#define PODIUM_CGI_ACTION_MODERATION_H

#include "lib/base/error.h"
#include "lib/database/database.h"
#include "lib/leaderboard/leaderboard.h"

#include <stdint.h>

enum { admin_note_most_bytes = 2000 };

/* ERROR_NOT_FOUND when there is no such submission, ERROR_CONFLICT when it already has this state.
 * ERROR_INPUT with the field `reason`: the reason must be one line of at most
 * review_most_reason_bytes. */
int submission_hide(struct database *db, int64_t submission_id, const char *reason,
	const struct actor *by, struct error *error);
int submission_show(
	struct database *db, int64_t submission_id, const struct actor *by, struct error *error);

/* Takes passed results out of the ranking until an admin releases or rejects them
 * (lib/judging/review.h). ERROR_CONFLICT when no passed result is left to hold. */
int submission_hold(struct database *db, int64_t submission_id, const char *reason,
	const struct actor *by, struct error *error);

/* The note is for admins only; "" deletes it. ERROR_INPUT has the field `note`. */
int submission_admin_note(struct database *db, int64_t submission_id, const char *note,
	const struct actor *by, struct error *error);

#endif
