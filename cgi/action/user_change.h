/* What admins change about other people's accounts. Each is one transaction with its entry in the
 * audit log, and is refused (ERROR_FORBIDDEN) where the actor is no admin any more by then. */
#ifndef PODIUM_LIB_USER_CHANGE_H
#define PODIUM_LIB_USER_CHANGE_H

#include "lib/leaderboard.h"
#include "lib/user.h"

/* The user of this name, if the actor may change the account: not his own, or the last admin could
 * lock everybody out (ERROR_INPUT), nor one that was deleted (ERROR_CONFLICT). */
int user_find_other(struct database *db, struct arena *arena, const char *name,
	const struct actor *actor, struct user *user, struct error *error);

int user_change_role(struct database *db, struct arena *arena, const struct user *user,
	enum role role, const struct actor *actor, struct error *error);

/* Ends every session, link and job that waits. Tokens stop working; what runs ends as it would. */
int user_ban(struct database *db, struct arena *arena, const struct user *user,
	const struct actor *actor, struct error *error);
int user_unban(struct database *db, struct arena *arena, const struct user *user,
	const struct actor *actor, struct error *error);

#endif
