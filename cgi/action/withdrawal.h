/* Authors withdraw their submissions from the rankings and restore them. A withdrawn submission
 * keeps its page and results, and still counts toward the quota. */
#ifndef PODIUM_CGI_ACTION_WITHDRAWAL_H
#define PODIUM_CGI_ACTION_WITHDRAWAL_H

#include "lib/account/audit.h"
#include "lib/base/error.h"
#include "lib/database/database.h"

#include <stdbool.h>
#include <stdint.h>

/* Withdraw a submission, or restore it, in one transaction. Repeating the call changes nothing.
 * submission_withdraw returns ERROR_CONFLICT with a message while a job of the submission is queued
 * or running: such a submission must be cancelled instead. `owner_id` is the author; if the actor
 * is another member of the author's team, the audit log gets an entry. */
typedef int withdrawal(struct database *db, int64_t submission_id, int64_t owner_id,
	const struct actor *actor, struct error *error);
withdrawal submission_withdraw, submission_restore;

/* Stores the author's private note, one paragraph. ERROR_INPUT has the field `note`. */
enum { note_most_bytes = 500 };
int submission_note(
	struct database *db, int64_t submission_id, const char *note, struct error *error);

#endif
