/* Admins change other users' accounts. Each change is one transaction with its audit entry.
 * ERROR_FORBIDDEN if the actor is no longer an admin. */
#ifndef PODIUM_CGI_ACTION_USER_CHANGE_H
#define PODIUM_CGI_ACTION_USER_CHANGE_H

#include "lib/account/user.h"
#include "lib/leaderboard/leaderboard.h"

/* Finds the user of this name, if the actor may change the account. ERROR_INPUT for the actor's own
 * account: the last admin could otherwise leave the site without an admin. ERROR_CONFLICT for a
 * deleted account. */
int user_find_other(struct database *db, struct arena *arena, const char *name,
	const struct actor *actor, struct user *user, struct error *error);

int user_change_role(struct database *db, struct arena *arena, const struct user *user,
	enum role role, const struct actor *actor, struct error *error);

/* Ends all sessions and password links and cancels queued jobs. Tokens stop working. Running jobs
 * finish normally. */
int user_ban(struct database *db, struct arena *arena, const struct user *user,
	const struct actor *actor, struct error *error);
/* Removes all second factors of somebody who has lost them, and ends the sessions.
 * ERROR_NOT_FOUND: there are none. */
int user_remove_factors(struct database *db, struct arena *arena, const struct user *user,
	const struct actor *actor, struct error *error);
int user_unban(struct database *db, struct arena *arena, const struct user *user,
	const struct actor *actor, struct error *error);

#endif
