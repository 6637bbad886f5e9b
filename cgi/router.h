/* The route tables: the places that say which address leads where and who may go there.
 *
 * Podium has three interfaces, told apart by how an address begins:
 *
 *	            who asks                           an error is               its routes
 *	pages       the session's cookie; POST: CSRF   an HTML page              ROUTES in router.c
 *	/api/v1     Authorization: Bearer TOKEN        problem details           API_..._ROUTES
 *(cgi/api.h) /popcorn    X-Popcorn-Cli-Id or bearer token   {"detail": "..."} POPCORN_ROUTES
 *(cgi/popcorn.h)
 *
 * To add a page, add a row to ROUTES. To add a call, add a row to the table of its area, which is a
 *file of its own (cgi/api_routes.c, cgi/api_admin_routes.c, cgi/api_device_routes.c,
 *cgi/popcorn_routes.c); to add an area, declare its table beside the others and name it in TABLES
 *of router.c. The first row that fits wins. */
#ifndef PODIUM_CGI_ROUTER_H
#define PODIUM_CGI_ROUTER_H

#include "cgi/request.h"

enum access { ANYONE, LOGGED_IN, CREATORS, ADMINS }; /* least role; CREATORS includes admins */

typedef int handler(struct request *request);

struct route {
	int methods;         /* METHOD_GET | METHOD_POST */
	const char *pattern; // "/leaderboard/*": a star stands for one part of the path
	handler *run;
	enum access access;
	size_t most_body_bytes; /* of all but GET */
};

/* A route for programs. A program without a token is nobody, who may use what ANYONE may; one with
 * a token needs the scope even there, so that a token never shows more than was asked for when it
 * was made. */
struct call {
	struct route route;
	int scope; /* TOKEN_READ, ...; 0: any token will do */
	/* The names of the query's parameters of a GET, of the body's members or fields otherwise, with
	 * a space between. Others are refused by their name. NULL: whatever comes. */
	const char *takes;
};
struct call_table {
	const struct call *calls;
	size_t count;
};
#define CALL_TABLE(array) \
	{ \
		(array), sizeof(array) / sizeof((array)[0]) \
	}

/* What differs between the interfaces. Functions return 0 or an error's code, with the request's
 * status set where the code's own does not fit. */
struct interface {
	const char *prefix; /* "/api/v1": addresses that are this or begin with it and a slash */
	const struct call_table *const *tables;
	size_t table_count;
	int (*recognise)(struct request *request); /* fills viewer, token and csrf */
	int (*admit)(struct request *request,
		const struct call *call); /* who may; a redirect is an answer, too */
	int (*read)(struct request *request, const struct call *call); /* the query and the body */
	void (*finish)(
		struct request *request); /* after a handler that returned 0; NULL: nothing is left to do */
	void (*refuse)(struct request *request, int code, const char *title,
		const char *sentence); /* writes the error's body */
};

/* The routes of all interfaces are numbered from 1 on; 0 stands for addresses that there are not.
 * NULL behind the last. */
const struct route *router_route(size_t number);

/* The path as it may stand in a log: without what opens something by itself. */
const char *router_loggable_path(const struct request *request);

/* Finds the interface and the route, has them recognise, admit and read, runs the handler, turns
 * errors into answers. Never fails. */
void router_answer(struct request *request);

#endif
