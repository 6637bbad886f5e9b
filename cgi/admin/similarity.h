/* The submissions of a leaderboard whose sources resemble each other. */
#ifndef PODIUM_CGI_ADMIN_SIMILARITY_H
#define PODIUM_CGI_ADMIN_SIMILARITY_H

#include "cgi/http/request.h"
#include "lib/leaderboard/leaderboard.h"
#include "lib/similarity/similarity.h"

enum { similar_members_shown = 5 }; /* of a group, besides the first; a fold has the others */

/* A submission of a group. */
struct similar_member {
	const char *user;
	int64_t submission_id, at_ms, place; /* place: SQL_NULL_INTEGER: none */
};

/* Three or more users whose sources are the same, each with the earliest submission. */
struct similar_group {
	struct similar_member *members; /* the earliest first */
	size_t count;
};

struct similarity_view {
	const struct leaderboard *leaderboard;
	const struct similar_pair *pairs;
	size_t count;
	/* For the page. A group stands for its pairs. Of the other pairs, `best` has those that are
	 * the best of a user or a group, and `more` the others. */
	struct similar_group *groups;
	const struct similar_pair **best, **more;
	size_t group_count, best_count, more_count;
};

/* Reads the leaderboard in the address and its pairs, if the viewer manages it; else fails. */
int similarity_read(
	struct request *request, struct leaderboard *leaderboard, struct similarity_view *view);

#endif
