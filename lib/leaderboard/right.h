/* Rights on one leaderboard. This header and role.h alone decide what a user may do with a
 * leaderboard and its submissions beyond what every visitor may:
 *
 * - jury: RIGHT_READ
 * - co-creator: RIGHT_CHANGE
 * - the creator, while the account has the role creator, and admins: RIGHT_OWN
 *
 * A role counts on its leaderboard only, whatever the role of the account is. */
#ifndef PODIUM_LIB_LEADERBOARD_RIGHT_H
#define PODIUM_LIB_LEADERBOARD_RIGHT_H

/* Each right includes those before it. The SQL below contains their numbers. */
enum leaderboard_right {
	RIGHT_NONE,
	RIGHT_READ,   /* see all of it: hidden, unfinished and held results, sources, logs, frozen times
	               */
	RIGHT_CHANGE, /* change settings and task, publish, rejudge, hide, hold, decide, cancel */
	RIGHT_OWN     /* delete the leaderboard, give and take roles */
};

/* Parts of a statement. SQL_RIGHT_OF is the number of the right that `user`, a row of users, has on
 * `leaderboard`, a row of leaderboards. The others have one `?`: a users.id, 0: not signed in. */
#define SQL_RIGHT_OF(user, leaderboard) \
	"(CASE WHEN " user ".role = 'admin' OR (" user ".role = 'creator' AND " user \
	".id = " leaderboard ".creator_id) THEN 3 ELSE COALESCE((SELECT IF(post.role = 'jury', 1, 2) " \
	"FROM leaderboard_roles post WHERE post.leaderboard_id = " leaderboard \
	".id AND post.user_id = " user ".id), 0) END)"
#define SQL_RIGHT(leaderboard) \
	"COALESCE((SELECT " SQL_RIGHT_OF("holder", leaderboard) " FROM users holder " \
															"WHERE holder.id = ?), 0)"
#define SQL_MAY_READ(leaderboard) "(" SQL_RIGHT(leaderboard) " >= 1)"
#define SQL_MAY_CHANGE(leaderboard) "(" SQL_RIGHT(leaderboard) " >= 2)"
/* SQL condition: the user, the one `?`, is the creator or a co-creator. Unlike the rights, it tells
 * an admin's own leaderboards from all others. */
#define SQL_IS_CREATOR(leaderboard) \
	"EXISTS (SELECT 1 FROM users maker WHERE maker.id = ? AND ((maker.id = " leaderboard \
	".creator_id AND maker.role <> 'participant') OR EXISTS (SELECT 1 FROM leaderboard_roles " \
	"post " \
	"WHERE post.leaderboard_id = " leaderboard \
	".id AND post.user_id = maker.id AND post.role = 'co-creator')))"
/* SQL condition: `user`, a row of users, has a role on at least one leaderboard. */
#define SQL_HAS_ROLE(user) \
	"EXISTS (SELECT 1 FROM leaderboard_roles held_role WHERE held_role.user_id = " user ".id)"

#endif
