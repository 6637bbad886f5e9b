/* The audit log for admins: who did what to whom. */
#ifndef PODIUM_LIB_ACCOUNT_AUDIT_H
#define PODIUM_LIB_ACCOUNT_AUDIT_H

#include "lib/base/buffer.h"
#include "lib/base/error.h"
#include "lib/database/database.h"

#include <stdbool.h>
#include <stdint.h>

/* Who acts: a user, or with id 0 a program such as podium-admin, whose name is in `name`. */
struct actor {
	int64_t id;
	const char *name, *address;
};

/* Adds an entry to the log, in the caller's transaction if one is open. A program that acts without
 * a user passes `actor_id` 0 and `address` "". */
int audit(struct database *db, int64_t actor_id, const char *actor, const char *address,
	const char *action, const char *subject, const char *detail, struct error *error);

/* If `differs`, appends "WHAT: AFTER, was BEFORE" to `notes`, the detail of an entry. */
void audit_note_change(
	struct buffer *notes, bool differs, const char *what, const char *before, const char *after);

#endif
