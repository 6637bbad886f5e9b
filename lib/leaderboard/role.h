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

/* The right of a user on a leaderboard. RIGHT_NONE also if one of the two does not exist. */
int leaderboard_right(struct database *db, struct arena *arena, int64_t user_id,
	int64_t leaderboard_id, enum leaderboard_right *right, struct error *error);

/* ERROR_FORBIDDEN with a sentence unless the user has `least` on the leaderboard. */
int leaderboard_check_right(struct database *db, struct arena *arena, int64_t user_id,
	const struct leaderboard *leaderboard, enum leaderboard_right least, struct error *error);

/* Fails unless the user has `least` on the leaderboard of a submission. ERROR_NOT_FOUND: there is
 * no such submission, or the user may not see its leaderboard. Else ERROR_FORBIDDEN. */
int leaderboard_right_to_submission(struct database *db, struct arena *arena, int64_t user_id,
	int64_t submission_id, enum leaderboard_right least, struct error *error);

struct leaderboard_role {
	const char *user;
	const char *role; /* "co-creator", "jury" */
	const char *given_by;
	int64_t given_at_ms;
};
/* The roles on a leaderboard, by role and name. */
int leaderboard_roles(struct database *db, struct arena *arena, int64_t leaderboard_id,
	struct leaderboard_role **roles, size_t *count, struct error *error);

struct role_change {
	int64_t leaderboard_id;
	const char *leaderboard, *user;
	const char *role; /* NULL: takes the role away */
	const struct actor *by;
};
/* Gives a user a role in place of the earlier one, or takes it away, with an entry in the audit
 * log. ERROR_INPUT with the field `user` or `role`. ERROR_NOT_FOUND: the user whose role is taken
 * has none. */
int leaderboard_role_change(
	struct database *db, const struct role_change *change, struct error *error);

#endif
