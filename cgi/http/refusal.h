/* The error page, which says why a request failed and offers links that may help. */
#ifndef PODIUM_CGI_HTTP_REFUSAL_H
#define PODIUM_CGI_HTTP_REFUSAL_H

#include "cgi/http/request.h"

enum { refusal_names = 5 };

struct refusal {
	const char *sentence;
	/* The address for "try again". NULL: retrying would not help or would send a form twice. */
	const char *again;
	bool is_missing; /* nothing is at the address, which is no fault of the site */
	bool forbidden;  /* the viewer is logged in; another account might have access */
	/* Leaderboards and users whose names resemble the requested one. */
	const char *leaderboards[refusal_names];
	size_t leaderboard_count;
	const char *users[refusal_names];
	size_t user_count;
};

/* Fills the response with the error page for request->status, which is 400 or more. Works without
 * the database. */
void refusal_show(struct request *request, const char *title, const char *sentence);

#endif
