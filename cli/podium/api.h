/* Questions to /api/v1: JSON there and back. What the server objects to (RFC 9457) becomes a
 * sentence: its own, and where to look. */
#ifndef PODIUM_CLI_PODIUM_API_H
#define PODIUM_CLI_PODIUM_API_H

#include "cli/podium/session.h"

#include <jansson.h>

/* Paths begin behind /api/v1. What is read must be given back with json_decref. ERROR_SYSTEM where
 * the answer is no JSON; after a refusal session->status is its status. */
int api_get(struct session *session, const char *path, json_t **json, struct error *error);

/* `body` is sent as JSON and not taken over; NULL: none. `key`: of idempotency, NULL: none. */
int api_send(struct session *session, const char *method, const char *path, const json_t *body,
	const char *key, json_t **json, struct error *error);

/* The general form; what was answered stays in `answer`. A 304 gives no JSON: *json is NULL then.
 */
int api_ask(struct session *session, const struct http_request *request, struct http_answer *answer,
	json_t **json, struct error *error);

/* A text, not JSON. */
int api_text(
	struct session *session, const char *path, struct http_answer *answer, struct error *error);

/* The members of `items` of all pages together, `most` at most. */
int api_list(
	struct session *session, const char *path, size_t most, json_t **items, struct error *error);

static inline void scope_json(json_t **json)
{
	json_decref(*json);
}
#define cleanup_json __attribute__((cleanup(scope_json)))

/* As what they should be: "" where there is no such text, `fallback` where there is no such number.
 */
const char *member_text(const json_t *object, const char *key);
long long member_whole(const json_t *object, const char *key, long long fallback);
double member_real(const json_t *object, const char *key); /* NAN */
bool member_true(const json_t *object, const char *key);

#endif
