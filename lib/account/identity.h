/* Identities: accounts at providers, with which users sign in. The pair (issuer, subject) is the
 * identity. `shown_as` is only for people to read and never decides anything. */
#ifndef PODIUM_LIB_ACCOUNT_IDENTITY_H
#define PODIUM_LIB_ACCOUNT_IDENTITY_H

#include "lib/account/audit.h"
#include "lib/base/arena.h"
#include "lib/base/error.h"
#include "lib/database/database.h"

#include <stdint.h>

enum { identity_most_bytes = 255 }; /* of issuer, subject and shown_as */

struct identity {
	int64_t id, user_id;
	const char *issuer, *subject, *shown_as;
	int64_t created_at_ms, used_at_ms;
};

/* ERROR_NOT_FOUND: no account has this identity. */
int identity_find(struct database *db, struct arena *arena, const char *issuer, const char *subject,
	struct identity *identity, struct error *error);

/* Lists the identities of a user, oldest first. */
int identities_of_user(struct database *db, struct arena *arena, int64_t user_id,
	struct identity **identities, size_t *count, struct error *error);

/* Stores the time of a sign-in and the person's current name at the provider. */
int identity_used(struct database *db, int64_t id, const char *shown_as, struct error *error);

/* Links the identity to a user, with an audit entry. ERROR_CONFLICT: an account has it already. */
int identity_link(struct database *db, const struct identity *identity, const char *user_name,
	const struct actor *actor, struct error *error);

/* Unlinks an identity of the user, with an audit entry. If `needs_another_way`, the user must keep
 * a way to sign in: another identity, or a password if the site has `passwords`. ERROR_CONFLICT:
 * the user would have no way left. ERROR_NOT_FOUND: the user has no such identity. */
int identity_unlink(struct database *db, int64_t user_id, int64_t id, bool passwords,
	bool needs_another_way, const struct actor *actor, struct error *error);

#endif
