/* What a route is: an address, its handler and who may go there. Pages and interfaces fill tables
 * of them; cgi/router.c alone knows all tables. */
#ifndef PODIUM_CGI_HTTP_ROUTE_H
#define PODIUM_CGI_HTTP_ROUTE_H

#include "cgi/http/request.h"

/* The lowest role that may call a route; CREATORS includes admins. */
enum access { ANYONE, LOGGED_IN, CREATORS, ADMINS };

typedef int handler(struct request *request);

struct route {
	int methods;         /* METHOD_GET | METHOD_POST */
	const char *pattern; // "/leaderboard/*": a star matches one part of the path
	handler *run;
	enum access access;
	size_t most_body_bytes; /* of every method but GET */
};

/* A route for programs. A request without a token is anonymous and may use what ANYONE may. A
 * request with a token needs the scope even there: a token never shows more than its owner asked
 * for. */
struct call {
	struct route route;
	int scope; /* TOKEN_READ, ...; 0: any token suffices */
	/* Names that the call accepts, separated by spaces: query parameters of a GET, members or
	 * fields of the body otherwise. The interface rejects other names. NULL: accepts everything. */
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

/* What differs between the interfaces. Functions return 0 or an error code. Where the code's own
 * status does not fit, they set the request's status. */
struct interface {
	/* "/api/v1": this address and those that begin with it and a slash. */
	const char *prefix;
	const struct call_table *const *tables;
	size_t table_count;
	int (*recognise)(struct request *request); /* fills viewer, token and csrf */
	/* Checks role and scope; may answer with a redirect instead. */
	int (*admit)(struct request *request, const struct call *call);
	/* Reads the query and the body. */
	int (*read)(struct request *request, const struct call *call);
	/* Runs after a handler that returned 0. NULL: nothing to do. */
	void (*finish)(struct request *request);
	/* Writes the error's body. */
	void (*refuse)(struct request *request, int code, const char *title, const char *sentence);
};

#endif
