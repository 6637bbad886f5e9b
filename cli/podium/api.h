/* Sends requests to /api/v1 and reads its JSON answers. A problem document (RFC 9457) from the
 * server becomes an error with the server's message and advice on what to do. */
#ifndef PODIUM_CLI_PODIUM_API_H
#define PODIUM_CLI_PODIUM_API_H

#include "cli/podium/session.h"

#include <jansson.h>

/* Fetches `path`, which is relative to /api/v1. The caller releases *json with json_decref.
 * ERROR_SYSTEM if the answer is not JSON. If the server refuses, session->status holds the HTTP
 * status. */
int api_get(struct session *session, const char *path, json_t **json, struct error *error);

/* Sends `body` as JSON; the caller keeps it. NULL sends no body. `key` is the idempotency key, or
 * NULL. */
int api_send(struct session *session, const char *method, const char *path, const json_t *body,
	const char *key, json_t **json, struct error *error);

/* Sends any request and keeps the raw answer in `answer`. After a 304, *json is NULL. */
int api_ask(struct session *session, const struct http_request *request, struct http_answer *answer,
	json_t **json, struct error *error);

/* Fetches plain text instead of JSON. */
int api_text(
	struct session *session, const char *path, struct http_answer *answer, struct error *error);

/* Fetches a list page by page and returns its first `most` items. */
int api_list(
	struct session *session, const char *path, size_t most, json_t **items, struct error *error);

static inline void scope_json(json_t **json)
{
	json_decref(*json);
}
#define cleanup_json __attribute__((cleanup(scope_json)))

#endif
