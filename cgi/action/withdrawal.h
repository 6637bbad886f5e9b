/* Authors withdraw their submissions from the rankings and restore them. A withdrawn submission
 * keeps its page and results, and still counts toward the quota. */
#ifndef PODIUM_CGI_ACTION_WITHDRAWAL_H
#define PODIUM_CGI_ACTION_WITHDRAWAL_H

#include "lib/base/error.h"
#include "lib/database/database.h"

#include <stdbool.h>
#include <stdint.h>

/* Withdraw a submission, or restore it, in one transaction. Repeating the call changes nothing.
 * submission_withdraw returns ERROR_CONFLICT with a message while a job of the submission is queued
 * or running: such a submission must be cancelled instead. */
int submission_withdraw(struct database *db, int64_t submission_id, struct error *error);
int submission_restore(struct database *db, int64_t submission_id, struct error *error);

/* Stores the author's private note, one paragraph. ERROR_INPUT has the field `note`. */
enum { note_most_bytes = 500 };
int submission_note(
	struct database *db, int64_t submission_id, const char *note, struct error *error);

#endif
