/* Accounts: names, passwords, roles. Pages and podium-admin use this module. */
#ifndef PODIUM_LIB_ACCOUNT_USER_H
#define PODIUM_LIB_ACCOUNT_USER_H

#include "lib/base/arena.h"
#include "lib/base/error.h"
#include "lib/database/database.h"

#include <stdbool.h>
#include <stdint.h>

enum role { ROLE_PARTICIPANT, ROLE_CREATOR, ROLE_ADMIN };
const char *role_name(enum role role);                 /* "participant", "creator", "admin" */
int role_from_name(const char *name, enum role *role); /* 0 or -1 */

enum { password_least_bytes = 8, password_most_bytes = 256 };

/* Prefix of the names of deleted accounts (cgi/action/account_deletion.h). No other account may
 * use it. */
#define DELETED_USER_PREFIX "deleted-user-"

struct user {
	int64_t id;
	const char *name;
	const char *password_hash; /* "": no password */
	const char *role;
	const char *kind; /* "person", or "team", which nobody logs into (lib/account/team.h) */
	int64_t must_change_password;
	int64_t banned_at_ms;  /* TIME_NULL: not banned */
	int64_t deleted_at_ms; /* when the user deleted the account; TIME_NULL: not deleted */
	int64_t created_at_ms;
};

int user_by_name(struct database *db, struct arena *arena, const char *name, struct user *user,
	struct error *error);
int user_by_id(
	struct database *db, struct arena *arena, int64_t id, struct user *user, struct error *error);

/* The checks of user_create as separate functions, for a form that reports all errors together.
 * user_check_name returns ERROR_CONFLICT if the name is taken. */
int user_check_name(
	struct database *db, struct arena *arena, const char *name, struct error *error);
int user_check_password(const char *name, const char *password, struct error *error);

/* Checks name and password, hashes the password and stores the account. Errors name the field
 * `name` or `password`. ERROR_CONFLICT: the name is taken. */
int user_create(struct database *db, const char *name, const char *password, enum role role,
	bool must_change_password, int64_t *id, struct error *error);

/* Stores an account without a password, for somebody who signs in with a provider. */
int user_create_without_password(
	struct database *db, const char *name, enum role role, int64_t *id, struct error *error);

/* The error of user_create for a name that is taken. */
int user_fail_taken(const char *name, struct error *error);

/* Queues an e-mail about a change of the account's security, in the caller's transaction. The
 * e-mail goes to the address that the account has now. Without a confirmed address, nothing is
 * queued. `what` is one sentence. Owners cannot switch these e-mails off. */
int user_tell_owner(struct database *db, int64_t id, const char *what, struct error *error);

/* user_set_password stores a new password and ends the user's sessions. Both functions return
 * ERROR_CONFLICT if the account was deleted or is a team's. */
int user_set_password(struct database *db, int64_t id, const char *password,
	bool must_change_password, struct error *error);
int user_set_role(struct database *db, int64_t id, enum role role, struct error *error);

/* Call this in a transaction. ERROR_FORBIDDEN: the user is not an admin. Otherwise the user stays
 * admin until the transaction ends. If two admins demote each other at the same time, one of the
 * two calls fails, so an admin always remains. */
int user_lock_admin(struct database *db, int64_t id, struct error *error);

/* Passwords are hashed with Argon2id (libsodium, interactive limits: 64 MiB, 2 passes).
 * password_limit sets how many hashes run at a time in this process, and how many more may wait for
 * a turn, so that logins leave threads for other requests. ERROR_BUSY: too many wait; nothing was
 * compared. If `user` is NULL, user_match_password compares with a dummy hash. An unknown name then
 * takes as long as a wrong password. */
void password_limit(int64_t at_once, int64_t waiting);
int user_match_password(
	const struct user *user, const char *password, bool *matches, struct error *error);

#endif
