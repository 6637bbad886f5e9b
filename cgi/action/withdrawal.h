/* Authors withdraw their submissions from the rankings and restore them. A withdrawn submission
 * keeps its page and results, and still counts toward the quota. */
#ifndef PODIUM_CGI_ACTION_WITHDRAWAL_H
#define PODIUM_CGI_ACTION_WITHDRAWAL_H

#include "lib/base/error.h"
#include "lib/database/database.h"

#include <stdbool.h>
#include <stdint.h>

/* One transaction each; repeating one changes nothing. ERROR_CONFLICT with a sentence while one of
 * its jobs is queued or running: such a submission is cancelled, not withdrawn. */
int submission_withdraw(struct database *db, int64_t submission_id, struct error *error);
int submission_restore(struct database *db, int64_t submission_id, struct error *error);

/* The author's private note, one paragraph. ERROR_INPUT has the field `note`. */
enum { note_most_bytes = 500 };
int submission_note(
	struct database *db, int64_t submission_id, const char *note, struct error *error);

#endif
