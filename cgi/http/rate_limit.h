/* Limits on how often one name or address may try something, such as a login. The counters are in
 * the database, so all web hosts share them. cgi/http/request_rate.h limits the number of API
 * requests. */
#ifndef PODIUM_CGI_HTTP_RATE_LIMIT_H
#define PODIUM_CGI_HTTP_RATE_LIMIT_H

#include "cgi/http/request.h"

struct rate_limit {
	const char *what; /* the limited action; the counter's key is this text and `whom` */
	int64_t most, window_s;
};

/* The client's network, which limits by address count: the address, and for IPv6 its /64, because a
 * client usually controls all addresses of its /64. */
const char *rate_limit_network(struct request *request);

/* Counts one attempt of `whom`. From attempt most + 1 within the window it returns ERROR_LIMIT with
 * a message and sets the header Retry-After. */
int rate_limit_hit(struct request *request, const struct rate_limit *limit, const char *whom);

/* Counts one attempt and tells how many there are in the window; it refuses none. */
int rate_limit_count(
	struct request *request, const struct rate_limit *limit, const char *whom, int64_t *hits);

/* Takes back one counted attempt of `whom`, after the attempt succeeded. */
int rate_limit_return(struct request *request, const struct rate_limit *limit, const char *whom);

#endif
