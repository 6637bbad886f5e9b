#include "cgi/api/api.h"

#include "cgi/http/form.h"
#include "cgi/http/rate_limit.h"
#include "cgi/http/request_rate.h"
#include "cgi/http/session.h"
#include "lib/base/scope.h"
#include "lib/base/text.h"

#include <sodium.h>
#include <string.h>
#include <strings.h>

enum { json_most_values = 10000, json_most_depth = 32 };

int api_fail(
	struct request *request, int status, int code, const char *problem, const char *format, ...)
{
	va_list arguments;
	va_start(arguments, format);
	const char *sentence = arena_vprintf(request->arena, format, arguments);
	va_end(arguments);
	request->status = status;
	request->problem = problem;
	return fail(request->error, code, "%s", sentence);
}

/* ---- authentication ---- */

int api_bearer(struct request *request, const char **secret)
{
	static const char scheme[] = "Bearer ";
	const char *header = request_header(request, "Authorization");
	*secret = NULL;
	if (!header)
		return 0;
	if (strncasecmp(header, scheme, sizeof scheme - 1) != 0) {
		response_header(request, "WWW-Authenticate", "Bearer error=\"invalid_request\"");
		return api_fail(request, 401, ERROR_INPUT, "invalid_request",
			"The header Authorization must be the word Bearer, a space and a token of Podium.");
	}
	*secret = header + sizeof scheme - 1;
	return 0;
}

int api_take_token(struct request *request, const char *secret)
{
	struct token_holder *holder = arena_alloc(request->arena, sizeof *holder);
	int rc = token_find(request->db, request->arena, secret, holder, request->error);
	if (rc == ERROR_NOT_FOUND) {
		response_header(request, "WWW-Authenticate", "Bearer error=\"invalid_token\"");
		request->status = 401;
		request->problem = "invalid_token";
		return request->error->code = ERROR_FORBIDDEN;
	}
	if (rc)
		return rc;
	request->token = holder;
	request->viewer = (struct viewer){ .id = holder->user_id,
		.name = holder->user,
		.role = holder->role,
		.has_role = holder->has_role };
	return viewer_read_teams(request, holder->in_teams);
}

/* Counts the request against the per-minute limit of its token, or of the client's address if it
 * has no token. */
static int count_request(struct request *request)
{
	const char *whom = request->token
		? arena_printf(request->arena, "token %lld", (long long)request->token->token.id)
		: arena_printf(request->arena, "address %.40s", rate_limit_network(request));
	struct request_rate allowance;
	request_rate_take(request->config->api_requests_per_minute, whom, &allowance);
	if (!allowance.most)
		return 0;
	request->limits = arena_printf(request->arena,
		"RateLimit-Limit: %lld\r\nRateLimit-Remaining: %lld\r\nRateLimit-Reset: %lld\r\n",
		(long long)allowance.most, (long long)allowance.left, (long long)allowance.renewed_in_s);
	if (!allowance.is_used_up)
		return 0;
	response_header(request, "Retry-After",
		arena_printf(request->arena, "%lld", (long long)allowance.renewed_in_s));
	return api_fail(request, 429, ERROR_LIMIT, "rate_limit",
		"%s may send %lld requests a minute. Wait %lld second%s, then try again.",
		request->token ? "A token" : "An address without a token", (long long)allowance.most,
		(long long)allowance.renewed_in_s, allowance.renewed_in_s == 1 ? "" : "s");
}

int api_recognise(struct request *request)
{
	const char *secret;
	int rc = api_bearer(request, &secret);
	if (!rc && secret)
		rc = api_take_token(request, secret);
	/* A request with a wrong token counts against the client's address, to slow down guessing. */
	if (rc && rc != ERROR_FORBIDDEN)
		return rc;
	struct error refused = *request->error;
	int limited = count_request(request);
	if (limited || !rc)
		return limited;
	*request->error = refused;
	return rc;
}

bool api_may(const struct request *request, enum token_scope scope)
{
	return request->token && request->token->token.scopes & (int64_t)scope;
}

int api_refuse_scope(struct request *request, enum token_scope scope)
{
	response_header(request, "WWW-Authenticate",
		arena_printf(request->arena, "Bearer error=\"insufficient_scope\", scope=\"%s\"",
			token_scope_name(scope)));
	return api_fail(request, 403, ERROR_FORBIDDEN, "insufficient_scope",
		"This token lacks the scope %s. Create one that has it on your account's page.",
		token_scope_name(scope));
}

int api_check_rights(struct request *request, const struct call *call)
{
	enum access access = call->route.access;
	if (access != ANYONE && !request->token) {
		response_header(request, "WWW-Authenticate", "Bearer");
		return api_fail(request, 401, ERROR_FORBIDDEN, "token_missing",
			"This call needs a token. Create one on your account's page and send it in the header "
			"Authorization, after the word Bearer.");
	}
	if (request->token && call->scope && !api_may(request, (enum token_scope)call->scope))
		return api_refuse_scope(request, (enum token_scope)call->scope);
	if (access == STAFF && !viewer_is_staff(&request->viewer))
		return fail(request->error, ERROR_FORBIDDEN,
			"Only creators, jury members and admins may do this. Ask the leaderboard's creator for "
			"a "
			"role.");
	if (access == CREATORS && request->viewer.role == ROLE_PARTICIPANT)
		return fail(request->error, ERROR_FORBIDDEN,
			"Only creators and admins may do this. Ask an admin to make you a creator.");
	if (access == ADMINS && request->viewer.role != ROLE_ADMIN)
		return fail(request->error, ERROR_FORBIDDEN, "Only admins may do this.");
	return 0;
}

int api_admit(struct request *request, const struct call *call)
{
	return api_check_rights(request, call);
}

/* ---- query and body ---- */

static const char NAME_SIGNS[] = "?*"; /* see struct call */

/* Returns the signs after `name` in `names`, up to the next space; NULL: `name` is not in it. */
static const char *find_name(const char *names, const char *name)
{
	size_t length = strlen(name);
	for (const char *at = names; *at;) {
		at += strspn(at, " ");
		size_t word = strcspn(at, " ?*");
		if (length && word == length && strncmp(at, name, length) == 0)
			return at + word;
		at += strcspn(at, " ");
	}
	return NULL;
}

static bool has_sign(const char *signs, char sign)
{
	return memchr(signs, sign, strspn(signs, NAME_SIGNS));
}

/* Returns the beginning of a text, without a cut character at its end. */
static const char *shortened(struct arena *arena, const char *text, size_t most_bytes)
{
	size_t length = strlen(text);
	return arena_strndup(
		arena, text, text_utf8_prefix(text, length < most_bytes ? length : most_bytes));
}

static int refuse_name(
	struct request *request, const char *kind, const char *name, const char *names)
{
	cleanup_buffer struct buffer shown = { 0 }, known = { 0 };
	text_append_printable(&shown, name);
	for (const char *at = names; *at; at++)
		if (!strchr(NAME_SIGNS, *at))
			buffer_byte(&known, *at);
	request->problem = "unknown_name";
	fail_field(request->error, shortened(request->arena, buffer_string(&shown), 40),
		"There is no %s named %s here%s%s.", kind,
		shortened(request->arena, buffer_string(&shown), 100), *names ? ". Known names: " : "",
		buffer_string(&known));
	return ERROR_INPUT;
}

static int refuse_empty(struct request *request, const char *kind, const char *name)
{
	return fail_field(
		request->error, name, "The %s %s is empty. Give it a value, or leave it out.", kind, name);
}

static int check_query(struct request *request, const char *names)
{
	for (size_t i = 0; i < request->query_count; i++) {
		const char *name = request->query[i].name;
		if (!find_name(names, name))
			return refuse_name(request, "parameter", name, names);
		if (!*request->query[i].value)
			return refuse_empty(request, "parameter", name);
		for (size_t j = 0; j < i; j++)
			if (strcmp(request->query[j].name, name) == 0)
				return fail_field(request->error, name,
					"The address has the parameter %s twice. Send it once.", name);
	}
	return 0;
}

static int check_member(
	struct request *request, const char *names, const char *name, const json_t *value)
{
	const char *signs = find_name(names, name), *text = json_string_value(value);
	if (!signs)
		return refuse_name(request, "member", name, names);
	if (json_is_null(value) && !has_sign(signs, '?'))
		return fail_field(
			request->error, name, "The member %s is null. Give it a value, or leave it out.", name);
	return text && !*text && !has_sign(signs, '*') ? refuse_empty(request, "member", name) : 0;
}

static int check_field(struct request *request, const char *names, const struct field *field)
{
	const char *signs = find_name(names, field->name);
	if (!signs)
		return refuse_name(request, "field", field->name, names);
	return *field->value || has_sign(signs, '*') ? 0 : refuse_empty(request, "field", field->name);
}

/* Refuses unknown names, and members that are null or empty without a meaning of that: a caller
 * who sends an empty value has most likely made a mistake. */
static int check_members(struct request *request, const char *names)
{
	int rc = 0;
	const char *name;
	json_t *value;
	json_object_foreach(request->json, name, value)
	{
		rc = check_member(request, names, name, value);
		if (rc)
			return rc;
	}
	for (size_t i = 0; i < request->form_count && !rc; i++)
		rc = check_field(request, names, &request->form[i]);
	for (size_t i = 0; i < request->upload_count && !rc; i++)
		if (!find_name(names, request->uploads[i].field))
			rc = refuse_name(request, "field", request->uploads[i].field, names);
	return rc;
}

/* Fails with the JSON parser's reason. Makes the reason printable first, because it quotes the
 * input. */
static int refuse_json(struct request *request, const json_error_t *reason)
{
	cleanup_buffer struct buffer valid = { 0 }, shown = { 0 };
	text_append_valid(&valid, reason->text, strlen(reason->text));
	text_append_printable(&shown, buffer_string(&valid));
	return fail(request->error, ERROR_INPUT,
		"The body is not valid JSON, in line %d at column %d: %s.", reason->line, reason->column,
		buffer_string(&shown));
}

/* Counts values and depth before the parser runs, because the parser needs 80 bytes and more for a
 * value of two bytes. Each value but the first follows one of `,:[{`. */
static int check_json_size(const char *text, size_t length, struct error *error)
{
	size_t values = 1, depth = 0;
	bool in_string = false;
	for (const char *at = text, *end = text + length; at < end; at++) {
		if (in_string && *at == '\\')
			at++;
		else if (*at == '"')
			in_string = !in_string;
		else if (!in_string && *at && strchr(",:[{", *at))
			values++;
		if (in_string || !*at)
			continue;
		depth += *at == '[' || *at == '{';
		depth -= depth && (*at == ']' || *at == '}');
		if (depth > json_most_depth)
			return fail(error, ERROR_LIMIT,
				"The body nests lists and objects more than %d deep. Send fewer levels.",
				json_most_depth);
		if (values > json_most_values)
			return fail(error, ERROR_LIMIT, "The body has more than %d JSON values. Send fewer.",
				json_most_values);
	}
	return 0;
}

/* Reads the body as one JSON object. Rejects repeated names; jansson rejects NUL in strings. */
static int read_json(struct request *request, size_t most_bytes)
{
	const char *body;
	json_error_t reason;
	int rc = form_read_bytes(request, most_bytes, &body);
	if (!rc)
		rc = check_json_size(body, request->body_length, request->error);
	if (rc || !request->body_length)
		return rc;
	request->json = json_loadb(body, request->body_length, JSON_REJECT_DUPLICATES, &reason);
	if (!request->json)
		return refuse_json(request, &reason);
	if (!json_is_object(request->json))
		return fail(request->error, ERROR_INPUT,
			"The body must be a JSON object, such as {\"name\": \"value\"}.");
	return 0;
}

int api_read_body(struct request *request, size_t most_bytes)
{
	bool is_multipart = form_is_type(request, "multipart/form-data");
	if (!*request->body_type && !request->body_length)
		return 0;
	if (!is_multipart && !form_is_type(request, "application/json"))
		return api_fail(request, 415, ERROR_INPUT, "media_type",
			"Send the body as application/json%s.",
			most_bytes > api_json_bytes ? " or as multipart/form-data" : "");
	int rc = is_multipart ? form_read(request, most_bytes) : read_json(request, most_bytes);
	if (rc == ERROR_LIMIT) {
		request->status = 413;
		request->problem = "too_large";
	}
	return rc;
}

int api_read(struct request *request, const struct call *call)
{
	bool is_get = request->method == METHOD_GET;
	int rc = form_parse_query(request);
	if (!rc && call->takes)
		rc = check_query(request, is_get ? call->takes : "");
	if (rc || is_get)
		return rc;
	rc = api_read_body(request, call->route.most_body_bytes);
	return rc || !call->takes ? rc : check_members(request, call->takes);
}

/* ---- caching ---- */

/* The ETag is a hash of the body, so that it is the same on every host and after every restart. */
static void make_etag(struct request *request)
{
	unsigned char hash[16];
	char text[2 * sizeof hash + 1];
	crypto_generichash(hash, sizeof hash, (const unsigned char *)buffer_string(&request->body),
		request->body.length, NULL, 0);
	request->etag = arena_printf(
		request->arena, "\"%s\"", sodium_bin2hex(text, sizeof text, hash, sizeof hash));
}

/* Whether the header If-None-Match names the ETag. The comparison ignores the prefix W/ of weak
 * ETags (RFC 9110, section 13.1.2), because nginx makes the ETag of a compressed response weak. */
static bool is_known(const struct request *request)
{
	const char *known = request_header(request, "If-None-Match");
	return known && (strcmp(known, "*") == 0 || strstr(known, request->etag));
}

static void append_limits(struct request *request)
{
	if (request->limits && !request->may_be_cached)
		buffer_text(&request->headers, request->limits);
}

/* Adds the ETag, and turns a response that the client already has into 304. Leaves responses to
 * anonymous clients whole, because nginx caches these for 1 s and answers 304 from its cache. */
void api_finish(struct request *request)
{
	bool is_whole = request->method == METHOD_GET && request->status == 200 && !request->stream;
	request->may_be_cached = is_whole && !request->token;
	append_limits(request);
	if (!is_whole)
		return;
	make_etag(request);
	if (!request->may_be_cached && is_known(request)) {
		request->status = 304;
		request->disposition = NULL;
		buffer_clear(&request->body);
	}
}

/* ---- errors ---- */

/* Problem codes for programs, and titles. The title is the status phrase, as RFC 9457 wants for a
 * problem whose type is "about:blank". */
static const struct {
	int status;
	const char *problem, *title;
} PROBLEMS[] = {
	{ 400, "invalid", "Bad Request" },
	{ 401, "invalid_token", "Unauthorized" },
	{ 403, "forbidden", "Forbidden" },
	{ 404, "not_found", "Not Found" },
	{ 405, "method", "Method Not Allowed" },
	{ 409, "conflict", "Conflict" },
	{ 413, "too_large", "Content Too Large" },
	{ 415, "media_type", "Unsupported Media Type" },
	{ 429, "limit", "Too Many Requests" },
	{ 500, "internal", "Internal Server Error" },
	{ 503, "unavailable", "Service Unavailable" },
};

void api_refuse(struct request *request, int code, const char *title, const char *sentence)
{
	const char *problem = NULL;
	/* A message that quotes input may end within a character. JSON cannot contain that. */
	cleanup_buffer struct buffer valid = { 0 };
	text_append_valid(&valid, sentence, strlen(sentence));
	sentence = buffer_string(&valid);
	append_limits(request);
	for (size_t i = 0; i < COUNT(PROBLEMS); i++)
		if (PROBLEMS[i].status == request->status) {
			problem = PROBLEMS[i].problem;
			title = PROBLEMS[i].title;
		}
	if (request->problem)
		problem = request->problem;
	json_t *json = json_pack("{s:s, s:s, s:o, s:i, s:o, s:s}", "type", "about:blank", "title",
		title, "code", json_text(problem), "status", request->status, "detail", json_text(sentence),
		"instance", request->id);
	const char *field =
		shortened(request->arena, request->error->field, sizeof request->error->field);
	if (*field && !error_is_ours(code))
		json_object_set_new(
			json, "errors", json_pack("[{s:s, s:s}]", "field", field, "detail", sentence));
	respond_json(request, json);
	request->content_type = "application/problem+json";
}
