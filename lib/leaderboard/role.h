/* Roles on one leaderboard, and the check of the rights that they give (right.h). */
#ifndef PODIUM_LIB_LEADERBOARD_ROLE_H
#define PODIUM_LIB_LEADERBOARD_ROLE_H

#include "lib/account/audit.h"
#include "lib/base/arena.h"
#include "lib/base/error.h"
#include "lib/database/database.h"
#include "lib/leaderboard/leaderboard.h"
#include "lib/leaderboard/right.h"

#include <stddef.h>
#include <stdint.h>

/* Reads the right of a user on a leaderboard. *right is RIGHT_NONE also if the user or the
 * leaderboard does not exist. */
int leaderboard_right(struct database *db, struct arena *arena, int64_t user_id,
	int64_t leaderboard_id, enum leaderboard_right *right, struct error *error);

/* Fails with ERROR_FORBIDDEN and a sentence unless the user has at least the right `least` on the
 * leaderboard. */
int leaderboard_check_right(struct database *db, struct arena *arena, int64_t user_id,
	const struct leaderboard *leaderboard, enum leaderboard_right least, struct error *error);

/* Fails unless the user has at least the right `least` on the leaderboard of a submission.
 * ERROR_NOT_FOUND: there is no such submission, or the user may not see its leaderboard.
 * ERROR_FORBIDDEN otherwise. */
int leaderboard_right_to_submission(struct database *db, struct arena *arena, int64_t user_id,
	int64_t submission_id, enum leaderboard_right least, struct error *error);

struct leaderboard_role {
	const char *user;
	const char *role; /* "co-creator", "jury" */
	const char *given_by;
	int64_t given_at_ms;
};
/* The roles on a leaderboard, by role and name. The statement is for bundles; bind it with the
 * leaderboard's ID. */
extern const struct statement leaderboard_roles_reading;
int leaderboard_roles(struct database *db, struct arena *arena, int64_t leaderboard_id,
	struct leaderboard_role **roles, size_t *count, struct error *error);

struct role_change {
	int64_t leaderboard_id;
	const char *leaderboard, *user;
	const char *role; /* NULL: removes the role */
	const struct actor *by;
};
/* Gives a user a role, which replaces an earlier one, or removes the role, with an entry in the
 * audit log. ERROR_INPUT with the field `user` or `role`. ERROR_NOT_FOUND: the user has no role to
 * remove. */
int leaderboard_role_change(
	struct database *db, const struct role_change *change, struct error *error);

#endif
