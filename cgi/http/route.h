/* A route: an address, its handler and who may call it. Pages and interfaces define tables of
 * routes; only cgi/router.c knows all tables. */
#ifndef PODIUM_CGI_HTTP_ROUTE_H
#define PODIUM_CGI_HTTP_ROUTE_H

#include "cgi/http/request.h"

/* Who may call a route. STAFF: creators, admins, and users with a role on some leaderboard; the
 * handler then checks the right on the leaderboard concerned. CREATORS includes admins. */
enum access { ANYONE, LOGGED_IN, STAFF, CREATORS, ADMINS };

typedef int handler(struct request *request);

struct route {
	int methods;         /* METHOD_GET | METHOD_POST */
	const char *pattern; // "/leaderboard/*": a star matches one part of the path
	handler *run;
	enum access access;
	size_t most_body_bytes; /* limit for the body of every method but GET */
};

/* A route for programs. A request without a token is anonymous and may use only routes for ANYONE.
 * A request with a token needs the scope on all routes, even on those for ANYONE: a token never
 * shows more than its owner granted. */
struct call {
	struct route route;
	int scope; /* TOKEN_READ, ...; 0: any token suffices */
	/* Names that the call accepts, separated by spaces: query parameters of a GET, else members or
	 * fields of the body. Other names are an error. NULL: accepts all names.
	 * Signs after a name: `?`: the member may be null; `*`: its text may be empty. */
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

/* How an interface, such as the pages or /api/v1, authenticates, reads input and reports errors.
 * Functions return 0 or an error code. They set request->status if the code's usual status does not
 * fit. */
struct interface {
	/* "/api/v1": the interface serves this address and all addresses below it. */
	const char *prefix;
	const struct call_table *const *tables;
	size_t table_count;
	int (*recognise)(struct request *request); /* fills viewer, token and csrf */
	/* Checks role and scope. Instead of failing, this function may redirect, for example to the
	 * login page. */
	int (*admit)(struct request *request, const struct call *call);
	/* Reads the query and the body. */
	int (*read)(struct request *request, const struct call *call);
	/* Runs after a handler that returned 0. NULL: nothing to do. */
	void (*finish)(struct request *request);
	/* Writes the error's body. */
	void (*refuse)(struct request *request, int code, const char *title, const char *sentence);
};

#endif
