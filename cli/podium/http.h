/* Requests to one server over HTTP, with libcurl.
 *
 * What is safe to repeat is repeated where the network or the server fails for a while, and said on
 * the way. A token goes to its server alone: redirects are not followed, and over plain http it
 * goes to this machine only, unless that was allowed. An interrupt ends whatever is going on. */
#ifndef PODIUM_CLI_PODIUM_HTTP_H
#define PODIUM_CLI_PODIUM_HTTP_H

#include "cli/podium/interrupt.h"
#include "cli/podium/progress.h"
#include "lib/arena.h"
#include "lib/error.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
	http_most_bytes = 16 * 1024 * 1024,
	http_attempts = 5,
	http_most_pause_ms = 30 * 1000,
	http_most_retry_after_s = 120
};

struct http_server {
	const char *url;     /* as http_address makes it */
	const char *token;   /* NULL: none */
	const char *ca_file; /* certificates to trust instead of the system's; NULL: those */
	bool allows_plain;   /* the token may go to another machine over http */
};

struct http_request {
	const char *method;       /* NULL: GET */
	const char *path;         /* from the server's address on, with the query: "/api/v1/me" */
	const char *content_type; /* NULL: no body */
	const void *body;
	size_t length;
	const char *idempotency_key, *if_none_match; /* NULL: none */
	bool is_safe_to_repeat; /* twice is the same as once; GET and what has an idempotency_key always
	                           is */
	int64_t patience_ms;    /* go on trying for so long; 0: http_attempts times */
};

/* In the arena of the request. */
struct http_answer {
	long status;
	const char *body;
	size_t length;                   /* a NUL stands behind it */
	const char *content_type, *etag; /* "" */
	int64_t retry_after_s;           /* 0: not said */
};

struct http;

/* The interrupt and the progress must stay where they are. ERROR_INPUT where the token would go
 * over plain http. */
int http_open(const struct http_server *server, struct interrupt *interrupt,
	struct progress *progress, struct http **http, struct error *error);
void http_close(struct http **http);

/* 0 for whatever the server answered in the end. ERROR_SYSTEM with a sentence where there was no
 * answer, or an interrupt came; ERROR_LIMIT where it was too large; ERROR_FORBIDDEN where it leads
 * elsewhere. */
int http_send(struct http *http, struct arena *arena, const struct http_request *request,
	struct http_answer *answer, struct error *error);

/* An address as somebody types it, in the form of http_server.url: with a scheme (https, but http
 * for this machine), no slash at the end. ERROR_INPUT where it is none, or has a user, a password,
 * a query or a fragment. */
int http_address(struct arena *arena, const char *text, const char **url, struct error *error);
bool http_is_loopback(const char *url);
const char *http_host(struct arena *arena, const char *url); /* "example.org:8080", for sentences */

/* `text` for a path or a query: all but letters, digits, "-", ".", "_" and "~" as %XX. */
const char *http_escape(struct arena *arena, const char *text);

#define cleanup_http __attribute__((cleanup(http_close)))

#endif
