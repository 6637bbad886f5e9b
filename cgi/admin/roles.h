/* Data for the page of a leaderboard's roles, and for the ranking that the jury sees. */
#ifndef PODIUM_CGI_ADMIN_ROLES_H
#define PODIUM_CGI_ADMIN_ROLES_H

#include "cgi/http/request.h"
#include "lib/leaderboard/leaderboard.h"
#include "lib/leaderboard/role.h"
#include "lib/ranking/unfrozen.h"

#include <stdbool.h>

struct unfrozen_view {
	const struct leaderboard *leaderboard;
	bool is_frozen;
	const struct unfrozen_rank *ranks; /* none if it is not frozen */
	size_t count;
};

struct roles_view {
	const struct leaderboard *leaderboard;
	const struct leaderboard_role *roles;
	size_t count;
	bool may_give;
	const char *creator;     /* NULL: the leaderboard has none */
	const char *user, *role; /* as typed */
	const char *user_error, *role_error;
};

/* unfrozen_ranks for the viewer, at most 30 times a minute: each reading is as costly as lifting
 * the freeze. */
int unfrozen_of_reader(struct request *request, const struct leaderboard *leaderboard,
	struct unfrozen_rank **ranks, size_t *count);

#endif
