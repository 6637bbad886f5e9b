/* Sends HTTP requests to one server, with libcurl.
 *
 * If the network or the server fails temporarily, a request that is safe to repeat or that never
 * reached the server is retried, and `progress` says so. The token goes only to its server:
 * redirects are not followed. Over plain http the token goes only to this machine, unless
 * `allows_plain` is set. An interrupt stops the request in progress. */
#ifndef PODIUM_CLI_PODIUM_HTTP_H
#define PODIUM_CLI_PODIUM_HTTP_H

#include "cli/podium/interrupt.h"
#include "cli/podium/progress.h"
#include "lib/base/arena.h"
#include "lib/base/error.h"

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
	const char *url;     /* as http_address returns it */
	const char *token;   /* NULL: none */
	const char *ca_file; /* certificates to trust; NULL: the system's */
	bool allows_plain;   /* the token may go to another machine over http */
};

struct http_request {
	const char *method;       /* NULL: GET */
	const char *path;         /* below the server's address, with its query: "/api/v1/me" */
	const char *content_type; /* NULL: no body */
	const void *body;
	size_t length;
	const char *idempotency_key, *if_none_match; /* NULL: none */
	bool is_safe_to_repeat;                      /* not needed for GET or with an idempotency_key */
	int64_t patience_ms;                         /* retry for this long; 0: http_attempts times */
};

/* The texts live in the arena that http_send received. */
struct http_answer {
	long status;
	const char *body;
	size_t length;                   /* without the NUL that follows the body */
	const char *content_type, *etag; /* "": not sent */
	int64_t retry_after_s;           /* 0: not sent */
};

struct http;

/* `server`, `interrupt` and `progress` must outlive *http. ERROR_INPUT if the token would travel
 * over plain http although `allows_plain` is not set. */
int http_open(const struct http_server *server, struct interrupt *interrupt,
	struct progress *progress, struct http **http, struct error *error);
void http_close(struct http **http);

/* Returns 0 once the server has answered, with any status. ERROR_SYSTEM: no answer, or an
 * interrupt. ERROR_LIMIT: the answer is too large. ERROR_FORBIDDEN: the answer is a redirect
 * elsewhere. */
int http_send(struct http *http, struct arena *arena, const struct http_request *request,
	struct http_answer *answer, struct error *error);

/* Normalises a typed address for http_server.url: adds a missing scheme (http for this machine,
 * else https) and drops the final slash. ERROR_INPUT if it is no address, or has a user, a
 * password, a query or a fragment. */
int http_address(struct arena *arena, const char *text, const char **url, struct error *error);
const char *http_host(struct arena *arena, const char *url); /* "example.org:8080", for messages */

/* Escapes `text` for a path or a query: all but letters, digits, "-", ".", "_" and "~" become %XX.
 */
const char *http_escape(struct arena *arena, const char *text);

#define cleanup_http __attribute__((cleanup(http_close)))

#endif
