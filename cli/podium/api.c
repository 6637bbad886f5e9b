#include "cli/podium/api.h"

#include "lib/base/buffer.h"
#include "lib/base/member.h"
#include "lib/base/quote.h"
#include "lib/base/scope.h"

#include <string.h>
#include <strings.h>

/* ---- errors from the server ---- */

/* Appends the errors of single fields, unless the general message already contains them. */
static void add_fields(struct buffer *out, const json_t *problem)
{
	size_t i;
	json_t *fault;
	json_array_foreach(json_object_get(problem, "errors"), i, fault)
	{
		const char *detail = member_text(fault, "detail");
		if (*detail && !strstr(buffer_string(out), detail))
			buffer_printf(out, " %s: %s", member_text(fault, "field"), detail);
	}
}

/* Appends advice on what to do next, such as signing in again. */
static void add_advice(struct buffer *out, const struct session *session,
	const struct http_answer *answer, const json_t *problem)
{
	const char *server = *session->server.name ? session->server.name : session->address.url;
	if (answer->status == 401)
		buffer_printf(out,
			session->address.token
				? " Your token for %s is no longer valid. Sign in again: podium login %s"
				: " You are not signed in to %s. Sign in: podium login %s",
			server, session->address.url);
	else if (answer->status == 403
		&& strcmp(member_text(problem, "code"), "insufficient_scope") == 0)
		buffer_printf(out, " Make a token at %s/account/tokens, or with podium login %s.",
			session->address.url, session->address.url);
	else if (answer->status == 429 && answer->retry_after_s > 0)
		buffer_printf(out, " Try again in %lld s.", (long long)answer->retry_after_s);
	else if (answer->status >= 500 && *member_text(problem, "instance"))
		buffer_printf(out, " Give this request number to the site's administrator: %s",
			member_text(problem, "instance"));
}

static int tell_problem(
	struct session *session, const struct http_answer *answer, struct error *error)
{
	static const struct {
		long status;
		int code;
	} CODES[] = {
		{ 401, ERROR_FORBIDDEN },
		{ 403, ERROR_FORBIDDEN },
		{ 404, ERROR_NOT_FOUND },
		{ 409, ERROR_CONFLICT },
		{ 429, ERROR_LIMIT },
	};
	cleanup_buffer struct buffer text = { 0 };
	cleanup_json json_t *problem = json_loadb(answer->body, answer->length, 0, NULL);
	int code = answer->status < 500 ? ERROR_INPUT : ERROR_SYSTEM;
	for (size_t i = 0; i < COUNT(CODES); i++)
		if (CODES[i].status == answer->status)
			code = CODES[i].code;
	const char *title = member_text(problem, "title"), *detail = member_text(problem, "detail");
	if (*detail || *title)
		buffer_text(&text, *detail ? detail : title);
	else
		buffer_printf(&text,
			"%s answered %ld without a reason that podium understands. Check that this is the "
			"address of a Podium site.",
			session->address.url, answer->status);
	add_fields(&text, problem);
	add_advice(&text, session, answer, problem);
	return fail(error, code, "%s", buffer_string(&text));
}

/* ---- sending requests ---- */

static int send_request(struct session *session, const struct http_request *request,
	struct http_answer *answer, struct error *error)
{
	struct http_request whole = *request;
	whole.path = arena_printf(session->arena, "/api/v1%s", request->path);
	session->status = 0;
	int rc = http_send(session->http, session->arena, &whole, answer, error);
	if (rc)
		return rc;
	session->status = answer->status;
	return answer->status < 400 ? 0 : tell_problem(session, answer, error);
}

/* Whether a Content-Type such as "application/json; charset=utf-8" or "application/problem+json"
 * means JSON. */
static bool is_json(const char *type)
{
	size_t length = strcspn(type, "; ");
	return (length == 16 && strncasecmp(type, "application/json", 16) == 0)
		|| (length > 5 && strncasecmp(type + length - 5, "+json", 5) == 0);
}

int api_ask(struct session *session, const struct http_request *request, struct http_answer *answer,
	json_t **json, struct error *error)
{
	*json = NULL;
	int rc = send_request(session, request, answer, error);
	if (rc || answer->status == 304)
		return rc;
	*json = is_json(answer->content_type)
		? json_loadb(answer->body, answer->length, JSON_REJECT_DUPLICATES, NULL)
		: NULL;
	if (!json_is_object(*json)) {
		json_decref(*json);
		*json = NULL;
		return fail(error, ERROR_SYSTEM,
			"%s answered %ld with something other than the JSON of a Podium site. Check the "
			"address.",
			session->address.url, answer->status);
	}
	return 0;
}

int api_get(struct session *session, const char *path, json_t **json, struct error *error)
{
	struct http_answer answer;
	return api_ask(session, &(struct http_request){ .path = path }, &answer, json, error);
}

int api_send(struct session *session, const char *method, const char *path, const json_t *body,
	const char *key, json_t **json, struct error *error)
{
	struct http_answer answer;
	cleanup_free char *text = body ? json_dumps(body, JSON_COMPACT) : NULL;
	return api_ask(session,
		&(struct http_request){ .method = method,
			.path = path,
			.body = text,
			.length = text ? strlen(text) : 0,
			.content_type = text ? "application/json" : NULL,
			.idempotency_key = key },
		&answer, json, error);
}

int api_text(
	struct session *session, const char *path, struct http_answer *answer, struct error *error)
{
	return send_request(session, &(struct http_request){ .path = path }, answer, error);
}

int api_list(
	struct session *session, const char *path, size_t most, json_t **items, struct error *error)
{
	const char *next = "";
	*items = json_array();
	for (int page = 0; next && json_array_size(*items) < most && page < 1000; page++) {
		size_t i;
		json_t *item;
		cleanup_json json_t *answer = NULL;
		size_t wanted = most - json_array_size(*items);
		const char *address = arena_printf(session->arena, "%s%climit=%zu%s%s", path,
			strchr(path, '?') ? '&' : '?', wanted > 100 ? 100 : wanted, *next ? "&cursor=" : "",
			http_escape(session->arena, next));
		if (api_get(session, address, &answer, error))
			return error->code;
		json_array_foreach(json_object_get(answer, "items"), i,
			item) if (json_array_size(*items) < most) json_array_append(*items, item);
		const char *cursor = member_text(answer, "next");
		next = *cursor ? arena_strdup(session->arena, cursor) : NULL;
	}
	return 0;
}
