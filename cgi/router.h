/* The route table: the one place that says which address leads where and who may go there. */
#ifndef PODIUM_CGI_ROUTER_H
#define PODIUM_CGI_ROUTER_H

#include "cgi/request.h"

enum access { ANYONE, LOGGED_IN, CREATORS, ADMINS };   /* least role; CREATORS includes admins */

typedef int handler(struct request *request);

struct route {
	int methods;              /* METHOD_GET | METHOD_POST */
	const char *pattern;      // "/leaderboard/*": a star stands for one part of the path
	handler *run;
	enum access access;
	size_t most_body_bytes;   /* of a POST */
};

/* Matches, checks who may, CSRF and limits, runs the handler, turns errors into pages. Never fails. */
void router_answer(struct request *request);

#endif
