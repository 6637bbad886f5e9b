/* /api/v1, for programs: who asks, what a call takes, and how answers and errors are written.
 *docs/api.md is what its users read.
 *
 * A call is a handler like that of a page, and a row of one of the tables below:
 *
 *	{ { METHOD_GET, "/api/v1/leaderboards", api_leaderboards, ANYONE, 0 }, TOKEN_READ, "state limit
 *cursor" },
 *
 * Before it runs, api_recognise has found whose token it is (request->token, request->viewer) and
 *counted the request, api_admit has compared role and scope, api_read has put the query into
 *request->query and the body into request->json, or into form and uploads where it was multipart;
 *what the row does not name was refused. It returns 0 after it has filled the answer, with
 * respond_json or one of the functions below; a GET gets its ETag afterwards. What it returns else
 *becomes problem details, with the sentence, and the field where there is one, of request->error.
 *
 * Each call is described in docs/openapi, in the file of its area, which cgi/api_openapi.c names;
 *tests hold the descriptions against the tables and against every answer that tests/lib/programs.py
 *gets. docs/openapi/reference makes docs/api.md of them. */
#ifndef PODIUM_CGI_API_H
#define PODIUM_CGI_API_H

#include "cgi/json.h"
#include "cgi/router.h"
#include "lib/token.h"

#include <jansson.h>

/* api_routes.c: reading and submissions · api_admin_routes.c: what the panel does ·
 * api_device_routes.c: signing in */
extern const struct call_table API_ROUTES, API_ADMIN_ROUTES, API_DEVICE_ROUTES;

enum { api_json_bytes = 64 * 1024 }; /* a body of a few members */

/* ---- the interface, for router.c ---- */

int api_recognise(struct request *request);
int api_admit(struct request *request, const struct call *call);
int api_read(struct request *request, const struct call *call);
void api_finish(struct request *request);
void api_refuse(struct request *request, int code, const char *title, const char *sentence);

/* The value behind "Authorization: Bearer "; NULL without the header. ERROR_INPUT, with 401, where
 * it is of another kind. */
int api_bearer(struct request *request, const char **secret);
/* Fills token and viewer from a token. ERROR_FORBIDDEN, with 401, where there is no such token. */
int api_take_token(struct request *request, const char *secret);
/* Role and scope, as a call's row has them. */
int api_check_rights(struct request *request, const struct call *call);
/* The query into request->query, the body into json, form and uploads. */
int api_read_query(struct request *request);
int api_read_body(struct request *request, size_t most_bytes);

/* Whether the token may do this as well as what the route asks for. */
bool api_may(const struct request *request, enum token_scope scope);

/* ---- input ---- */

/* Members of request->json. One that is null, or not there, gives NULL, `otherwise` or none; one of
 * another type is ERROR_INPUT with its name. Text of a multipart body is looked for in its fields
 * where there is no JSON. */
int api_text(struct request *request, const char *name, const char **value);
int api_texts(struct request *request, const char *name, const char ***values,
	size_t *count); /* an array of texts */
int api_integer(struct request *request, const char *name, int64_t otherwise, int64_t *value);
int api_boolean(struct request *request, const char *name, bool otherwise, bool *value);

/* A parameter of the query that is a whole number from `least` to `most`; `otherwise` where it is
 * not there. */
int api_query_integer(struct request *request, const char *name, int64_t least, int64_t most,
	int64_t otherwise, int64_t *value);

/* A `*` of the path as a number, such as a submission's; ERROR_NOT_FOUND, saying that there is no
 * such `what`, where it is none. */
int api_path_id(struct request *request, size_t star, const char *what, int64_t *id);

/* ---- lists ---- */

/* ?limit and ?cursor. A list is ordered by one or two numbers that no two rows share; a cursor is
 *those of the last row that was given, so that what comes in between moves nothing. Read limit + 1
 *rows behind `after`: the last one only tells that there is more.
 *
 *	struct api_list list;
 *	int rc = api_list_read(request, &list);                   list.is_first: there is no `after`
 *	... database_rows(..., "iii", list.after[0], list.after[1], list.limit + 1) ...
 *	return respond_list(request, items, count > list.limit ? api_cursor(request, last.a, last.b) :
 *NULL);  */
struct api_list {
	int64_t limit, after[2];
	bool is_first;
};
int api_list_read(struct request *request, struct api_list *list);
const char *api_cursor(struct request *request, int64_t first, int64_t second);
/* {"items": [...], "next": cursor or null} and the Link header; takes `items`. */
int respond_list(struct request *request, json_t *items, const char *next);
/* The same with further members, those of `about`; takes that as well. */
int respond_list_about(struct request *request, json_t *about, json_t *items, const char *next);

/* ---- output ---- */

/* 201 with the header Location; takes `json`. */
int respond_created(struct request *request, json_t *json, const char *format, ...)
	__attribute__((format(printf, 3, 4)));
/* 204. */
int respond_nothing(struct request *request);
/* Bytes as they are: a source, a file of a task. */
int respond_text(struct request *request, const char *file_name, const void *bytes, size_t length);

/* ERROR_INPUT and so on with a word of its own for programs (request->problem). */
int api_fail(struct request *request, int status, int code, const char *problem, const char *format,
	...) __attribute__((format(printf, 5, 6)));

#endif
