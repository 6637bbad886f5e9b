/* The submissions of a leaderboard whose sources resemble each other. */
#ifndef PODIUM_CGI_ADMIN_SIMILARITY_H
#define PODIUM_CGI_ADMIN_SIMILARITY_H

#include "cgi/http/request.h"
#include "lib/leaderboard/leaderboard.h"
#include "lib/similarity/similarity.h"

struct similarity_view {
	const struct leaderboard *leaderboard;
	const struct similar_pair *pairs;
	size_t count;
};

/* Reads the leaderboard in the address and its pairs, if the viewer manages it; else fails. */
int similarity_read(
	struct request *request, struct leaderboard *leaderboard, struct similarity_view *view);

#endif
