/* Accounts: names, passwords, roles. Used by the pages and by podium-admin. */
#ifndef PODIUM_LIB_USER_H
#define PODIUM_LIB_USER_H

#include "lib/arena.h"
#include "lib/database.h"
#include "lib/error.h"

#include <stdbool.h>
#include <stdint.h>

enum role { ROLE_PARTICIPANT, ROLE_CREATOR, ROLE_ADMIN };
const char *role_name(enum role role);                 /* "participant", "creator", "admin" */
int role_from_name(const char *name, enum role *role); /* 0 or -1 */

enum { password_least_bytes = 8, password_most_bytes = 256 };

/* What the names of deleted accounts begin with (lib/account.h), and nobody else's does. */
#define DELETED_USER_PREFIX "deleted-user-"

struct user {
	int64_t id;
	const char *name;
	const char *password_hash;
	const char *role;
	int64_t must_change_password;
	int64_t banned_at_ms;  /* TIME_NULL: not banned */
	int64_t deleted_at_ms; /* by himself (lib/account.h); TIME_NULL: not */
	int64_t created_at_ms;
};

int user_by_name(struct database *db, struct arena *arena, const char *name, struct user *user,
	struct error *error);
int user_by_id(
	struct database *db, struct arena *arena, int64_t id, struct user *user, struct error *error);

/* Checks name and password, hashes, stores. The sentence's field is `name` or `password`. */
int user_create(struct database *db, const char *name, const char *password, enum role role,
	bool must_change_password, int64_t *id, struct error *error);

/* Stores a new password and ends the user's sessions. ERROR_CONFLICT for an account that was
 * deleted. */
int user_set_password(struct database *db, int64_t id, const char *password,
	bool must_change_password, struct error *error);
int user_set_role(struct database *db, int64_t id, enum role role, struct error *error);

/* Inside a transaction: ERROR_FORBIDDEN unless the user is an admin, who then stays one until it
 * ends. Of two admins who take the role from each other at the same moment one is refused, so that
 * there is always one. */
int user_lock_admin(struct database *db, int64_t id, struct error *error);

/* Argon2id (libsodium, interactive limits: 64 MiB, 2 passes). At most password_hashes_at_once run
 * at the same time in one process; others wait. `user` NULL hashes against a dummy, so that a
 * missing name takes as long as a wrong password. */
void password_limit(int64_t at_once);
bool user_password_matches(const struct user *user, const char *password);

/* Writes who did what; `address` "" for commands. Part of the caller's transaction, if one is open.
 */
int audit(struct database *db, int64_t actor_id, const char *actor, const char *address,
	const char *action, const char *subject, const char *detail, struct error *error);

#endif
