/* Moderation of single submissions: an admin or a creator of the leaderboard hides a submission,
 * holds its results for review, or writes a note about it. Each action is one transaction with its
 * audit entry. The caller checks the right (lib/leaderboard/right.h).
 *
 * Only its readers see a hidden submission, and the author reads the reason. A hidden
 * submission is not ranked. Its running jobs finish normally. */
#ifndef PODIUM_CGI_ACTION_MODERATION_H
#define PODIUM_CGI_ACTION_MODERATION_H

#include "lib/base/error.h"
#include "lib/database/database.h"
#include "lib/leaderboard/leaderboard.h"

#include <stdint.h>

enum { admin_note_most_bytes = 2000 };

/* Hide a submission, or show it again. ERROR_NOT_FOUND if there is no such submission,
 * ERROR_CONFLICT if it already has this state. ERROR_INPUT with the field `reason`: the reason must
 * be one line of at most review_most_reason_bytes. */
int submission_hide(struct database *db, int64_t submission_id, const char *reason,
	const struct actor *by, struct error *error);
int submission_show(
	struct database *db, int64_t submission_id, const struct actor *by, struct error *error);

/* Holds the submission's passed ranked results: takes them out of the ranking until an admin
 * releases or rejects them (lib/judging/review.h). ERROR_CONFLICT if there is no such result that
 * is not held already. */
int submission_hold(struct database *db, int64_t submission_id, const char *reason,
	const struct actor *by, struct error *error);

/* Stores a note that only admins and creators read; "" deletes it. ERROR_INPUT has the field
 * `note`. */
int submission_admin_note(struct database *db, int64_t submission_id, const char *note,
	const struct actor *by, struct error *error);

#endif
