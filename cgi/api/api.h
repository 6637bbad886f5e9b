/* /api/v1, for programs: authentication, input, output and errors. docs/api.md is for its users.
 *
 * A call is a handler like that of a page, and a row of one of the tables below:
 *
 *	{ { METHOD_GET, "/api/v1/me", api_me, LOGGED_IN, 0 }, 0, "" },
 *
 * Before the handler runs:
 * - api_recognise finds the token's holder (request->token, request->viewer) and counts the
 *   request.
 * - api_admit checks role and scope.
 * - api_read parses the query into request->query, and the body into request->json, or into form
 *   and uploads for multipart. It rejects names that the row does not list.
 *
 * The handler fills the answer with respond_json or a function below and returns 0. A GET then gets
 * its ETag. Any other return value is an error, and the answer is problem details (RFC 9457) with
 * the message and the field of request->error.
 *
 * docs/openapi has one file for each area of calls, which describes these calls; cgi/api/openapi.c
 * lists the files. Tests compare the descriptions with the tables and with every answer that
 * tests/lib/programs.py gets. docs/openapi/reference generates docs/api.md from the
 * descriptions. */
#ifndef PODIUM_CGI_API_API_H
#define PODIUM_CGI_API_API_H

#include "cgi/action/token.h"
#include "cgi/http/route.h"
#include "cgi/render/json.h"

#include "lib/leaderboard/leaderboard.h"

#include <jansson.h>
#include <string.h>

/* routes.c: reading and submitting; admin_routes.c: the actions of the admin panel;
 * device_authorization_routes.c: signing in a terminal. */
extern const struct call_table API_ROUTES, API_ADMIN_ROUTES, API_DEVICE_ROUTES;

enum { api_json_bytes = 64 * 1024 }; /* limit for a body with a few members */

/* ---- the interface, for router.c ---- */

int api_recognise(struct request *request);
int api_admit(struct request *request, const struct call *call);
int api_read(struct request *request, const struct call *call);
void api_finish(struct request *request);
void api_refuse(struct request *request, int code, const char *title, const char *sentence);

/* Reads the token of "Authorization: Bearer TOKEN"; NULL without the header. ERROR_INPUT, with
 * status 401, for another scheme. */
int api_bearer(struct request *request, const char **secret);
/* Finds the token and fills request->token and request->viewer. ERROR_FORBIDDEN, with status 401,
 * for a token that does not work. */
int api_take_token(struct request *request, const char *secret);
/* Checks the viewer's role and the token's scope against the call's row. */
int api_check_rights(struct request *request, const struct call *call);
/* Parses the body into json, form and uploads. */
int api_read_body(struct request *request, size_t most_bytes);

/* Whether the request has a token with this scope. */
bool api_may(const struct request *request, enum token_scope scope);
/* Answers 403 and names the scope. Returns ERROR_FORBIDDEN. */
int api_refuse_scope(struct request *request, enum token_scope scope);

/* ---- input ---- */

/* Read a member of request->json, or in a multipart body the field with the member's name. A
 * missing or null member gives NULL, an empty array or `otherwise`. ERROR_INPUT, with the member's
 * name as the error's field, if the member has another type. */
int api_text(struct request *request, const char *name, const char **value);
/* Reads an array of strings, or all form fields with this name. */
int api_texts(struct request *request, const char *name, const char ***values, size_t *count);
/* Reads the GPU models from `gpus`, or from a form's `gpu`, its old name. */
int api_gpus(struct request *request, const char ***gpus, size_t *count);
int api_integer(struct request *request, const char *name, int64_t otherwise, int64_t *value);
int api_boolean(struct request *request, const char *name, bool otherwise, bool *value);

/* Reads a query parameter, a whole number from `least` to `most`; `otherwise` if it is missing. */
int api_query_integer(struct request *request, const char *name, int64_t least, int64_t most,
	int64_t otherwise, int64_t *value);

/* Reads the ID, for example of a submission, that the star with index `star` of the path matched.
 * ERROR_NOT_FOUND, with a message that names `what`, if the matched text is no ID. */
int api_path_id(struct request *request, size_t star, const char *what, int64_t *id);

/* Whether everybody may read a leaderboard's sources after its deadline: the member sources_public,
 * which is older than `sources`. */
static inline bool api_sources_are_public(const struct leaderboard *leaderboard)
{
	return strcmp(leaderboard->sources, "deadline") == 0
		|| strcmp(leaderboard->sources, "always") == 0;
}
static inline json_t *api_license(const struct leaderboard *leaderboard)
{
	return json_text(*leaderboard->license ? leaderboard->license : NULL);
}

/* ---- lists ---- */

/* Parses ?limit and ?cursor. A list is sorted by one number or by two numbers, which no two rows
 * share. A cursor holds these numbers of the last returned row, so new rows do not shift the next
 * page. The caller queries limit + 1 rows that come after the numbers in `after`; the extra row
 * only shows that there are more. On the first page list.is_first is true and `after` is 0, 0.
 *
 *	struct api_list list;
 *	int rc = api_list_read(request, &list);
 *	... database_rows(..., "iii", list.after[0], list.after[1], list.limit + 1) ...
 *	const char *next = count > list.limit ? api_cursor(request, last.a, last.b) : NULL;
 *	return respond_list(request, items, next); */
struct api_list {
	int64_t limit, after[2];
	bool is_first;
};
int api_list_read(struct request *request, struct api_list *list);
const char *api_cursor(struct request *request, int64_t first, int64_t second);
/* Answers {"items": [...], "next": cursor or null}, with the header Link. Releases `items`. */
int respond_list(struct request *request, json_t *items, const char *next);
/* Adds the member `next` and the header Link to `page`, answers it and releases it. */
int respond_page(struct request *request, json_t *page, const char *next);
/* Like respond_list, with the members of `about` added. Releases `about` and `items`. */
int respond_list_about(struct request *request, json_t *about, json_t *items, const char *next);

/* ---- output ---- */

/* Answers 201 Created; `format` gives the header Location. Releases `json`. */
int respond_created(struct request *request, json_t *json, const char *format, ...)
	__attribute__((format(printf, 3, 4)));
/* Answers 204 No Content. */
int respond_nothing(struct request *request);
/* Sends bytes unchanged, for example a source or a file of a task. */
int respond_text(struct request *request, const char *file_name, const void *bytes, size_t length);

/* Fails with an HTTP status, an error code and a problem code for programs (request->problem). */
int api_fail(struct request *request, int status, int code, const char *problem, const char *format,
	...) __attribute__((format(printf, 5, 6)));

#endif
