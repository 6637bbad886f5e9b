/* Taking one's own submission out of the rankings, and putting it back. It keeps its page and its
 * results, and counts toward the quota as before. */
#ifndef PODIUM_LIB_WITHDRAWAL_H
#define PODIUM_LIB_WITHDRAWAL_H

#include "lib/database.h"
#include "lib/error.h"

#include <stdbool.h>
#include <stdint.h>

/* In one transaction. Doing it twice changes nothing. ERROR_CONFLICT with a sentence while one of
 * its jobs waits or runs: then it is cancelled, not withdrawn. */
int submission_withdraw(struct database *db, int64_t submission_id, struct error *error);
int submission_restore(struct database *db, int64_t submission_id, struct error *error);

/* What its author writes to himself, at most so many bytes, in one paragraph. ERROR_INPUT with the
 * field `note`. */
enum { note_most_bytes = 500 };
int submission_note(
	struct database *db, int64_t submission_id, const char *note, struct error *error);

#endif
