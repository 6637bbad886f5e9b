/* The audit log for admins: who did what to whom. */
#ifndef PODIUM_LIB_ACCOUNT_AUDIT_H
#define PODIUM_LIB_ACCOUNT_AUDIT_H

#include "lib/base/error.h"
#include "lib/database/database.h"

#include <stdint.h>

/* The acting user; id 0: a command. */
struct actor {
	int64_t id;
	const char *name, *address;
};

/* Adds an entry, in the caller's transaction if one is open. `actor_id` 0 and `address` "": a
 * command. */
int audit(struct database *db, int64_t actor_id, const char *actor, const char *address,
	const char *action, const char *subject, const char *detail, struct error *error);

#endif
