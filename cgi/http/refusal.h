/* The page that says why there is no other one, and where to go from here. */
#ifndef PODIUM_CGI_REFUSAL_H
#define PODIUM_CGI_REFUSAL_H

#include "cgi/request.h"

enum { refusal_names = 5 };

struct refusal {
	const char *sentence;
	const char *
		again; /* the address to try again; NULL: that would not help, or would send a form twice */
	bool forbidden; /* another account might see it */
	const char *leaderboards[refusal_names];
	size_t leaderboard_count; /* whose names are near to what was asked for */
	const char *users[refusal_names];
	size_t user_count;
};

/* Fills the body for request->status, which is 400 or more. The database may be away. */
void refusal_show(struct request *request, const char *title, const char *sentence);

#endif
