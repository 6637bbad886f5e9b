#include "cgi/api.h"

#include "cgi/allowance.h"
#include "cgi/form.h"
#include "cgi/html.h"
#include "lib/format.h"
#include "lib/scope.h"
#include "lib/text.h"

#include <math.h>
#include <sodium.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

int api_fail(struct request *request, int status, int code, const char *problem, const char *format, ...)
{
	va_list arguments;
	va_start(arguments, format);
	const char *sentence = arena_vprintf(request->arena, format, arguments);
	va_end(arguments);
	request->status = status;
	request->problem = problem;
	return fail(request->error, code, "%s", sentence);
}

/* ---- who asks ---- */

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
	request->viewer = (struct viewer){ .id = holder->user_id, .name = holder->user, .role = holder->role };
	return 0;
}

/* Each request costs one of what its token, or its address without one, has for a minute. */
static int count_request(struct request *request)
{
	const char *whom = request->token ? arena_printf(request->arena, "token %lld", (long long)request->token->token.id)
		: arena_printf(request->arena, "address %s", request->address);
	struct allowance allowance;
	allowance_take(request->config->api_requests_per_minute, whom, &allowance);
	if (!allowance.most)
		return 0;
	request->limits = arena_printf(request->arena, "RateLimit-Limit: %lld\r\nRateLimit-Remaining: %lld\r\nRateLimit-Reset: %lld\r\n",
		(long long)allowance.most, (long long)allowance.left, (long long)allowance.renewed_in_s);
	if (!allowance.is_used_up)
		return 0;
	response_header(request, "Retry-After", arena_printf(request->arena, "%lld", (long long)allowance.renewed_in_s));
	return api_fail(request, 429, ERROR_LIMIT, "rate_limit", "%s may ask %lld times a minute. Wait %lld second%s and go on.",
		request->token ? "A token" : "An address without a token", (long long)allowance.most, (long long)allowance.renewed_in_s,
		allowance.renewed_in_s == 1 ? "" : "s");
}

int api_recognise(struct request *request)
{
	const char *secret;
	int rc = api_bearer(request, &secret);
	if (!rc && secret)
		rc = api_take_token(request, secret);
	/* Whoever guesses tokens is counted by the address. */
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

static int refuse_scope(struct request *request, enum token_scope scope)
{
	response_header(request, "WWW-Authenticate", arena_printf(request->arena, "Bearer error=\"insufficient_scope\", scope=\"%s\"",
		token_scope_name(scope)));
	return api_fail(request, 403, ERROR_FORBIDDEN, "insufficient_scope",
		"This token lacks the scope %s. Make one that has it on your account's page.", token_scope_name(scope));
}

int api_check_rights(struct request *request, const struct call *call)
{
	enum access access = call->route.access;
	if (access != ANYONE && !request->token) {
		response_header(request, "WWW-Authenticate", "Bearer");
		return api_fail(request, 401, ERROR_FORBIDDEN, "token_missing",
			"This needs a token. Make one on your account's page and send it in the header Authorization, behind the word Bearer.");
	}
	if (request->token && call->scope && !api_may(request, (enum token_scope)call->scope))
		return refuse_scope(request, (enum token_scope)call->scope);
	if (access == CREATORS && request->viewer.role == ROLE_PARTICIPANT)
		return fail(request->error, ERROR_FORBIDDEN, "This is for creators and admins. Ask an admin for that role.");
	if (access == ADMINS && request->viewer.role != ROLE_ADMIN)
		return fail(request->error, ERROR_FORBIDDEN, "This is for admins.");
	return 0;
}

int api_admit(struct request *request, const struct call *call)
{
	return api_check_rights(request, call);
}

/* ---- what is sent ---- */

/* Whether `name` is one of the words of `names`. */
static bool is_named(const char *names, const char *name)
{
	size_t length = strlen(name);
	for (const char *at = names; *at;) {
		at += strspn(at, " ");
		size_t word = strcspn(at, " ");
		if (length && word == length && strncmp(at, name, length) == 0)
			return true;
		at += word;
	}
	return false;
}

static int refuse_name(struct request *request, const char *kind, const char *name, const char *names)
{
	cleanup_buffer struct buffer shown = {0};
	text_append_printable(&shown, name);
	request->problem = "unknown_name";
	fail(request->error, ERROR_INPUT, "There is no %s named %.100s here%s%s.", kind, buffer_string(&shown), *names ? "; it takes " : "",
		names);
	snprintf(request->error->field, sizeof request->error->field, "%.40s", buffer_string(&shown));
	return ERROR_INPUT;
}

int api_read_query(struct request *request)
{
	return form_parse_urlencoded(request->arena, request->query_string, strlen(request->query_string), &request->query,
		&request->query_count, request->error);
}

static int check_query(struct request *request, const char *names)
{
	for (size_t i = 0; i < request->query_count; i++) {
		const char *name = request->query[i].name;
		if (!is_named(names, name))
			return refuse_name(request, "parameter", name, names);
		for (size_t j = 0; j < i; j++)
			if (strcmp(request->query[j].name, name) == 0)
				return fail_field(request->error, name, "The parameter %s stands in the address twice.", name);
	}
	return 0;
}

static int check_members(struct request *request, const char *names)
{
	const char *name;
	json_t *value;
	json_object_foreach(request->json, name, value)
		if (!is_named(names, name))
			return refuse_name(request, "member", name, names);
	for (size_t i = 0; i < request->form_count; i++)
		if (!is_named(names, request->form[i].name))
			return refuse_name(request, "field", request->form[i].name, names);
	for (size_t i = 0; i < request->upload_count; i++)
		if (!is_named(names, request->uploads[i].field))
			return refuse_name(request, "field", request->uploads[i].field, names);
	return 0;
}

/* Reading it into members is strict: one object, no name twice, no NUL inside of texts (jansson refuses that by itself). */
static int read_json(struct request *request, size_t most_bytes)
{
	cleanup_buffer struct buffer body = {0};
	int rc = form_read_bytes(request, most_bytes, &body);
	if (rc)
		return rc;
	json_error_t reason;
	request->json = json_loadb(buffer_string(&body), body.length, JSON_REJECT_DUPLICATES, &reason);
	if (!request->json)
		return fail(request->error, ERROR_INPUT, "The body is not valid JSON, in line %d at column %d: %s.", reason.line, reason.column,
			reason.text);
	if (!json_is_object(request->json))
		return fail(request->error, ERROR_INPUT, "The body must be a JSON object, such as {\"name\": \"value\"}.");
	return 0;
}

int api_read_body(struct request *request, size_t most_bytes)
{
	bool is_multipart = form_is_type(request, "multipart/form-data");
	if (!*request->body_type && !request->body_length)
		return 0;
	if (!is_multipart && !form_is_type(request, "application/json"))
		return api_fail(request, 415, ERROR_INPUT, "media_type", "Send the body as application/json%s.",
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
	int rc = api_read_query(request);
	if (!rc && call->takes)
		rc = check_query(request, is_get ? call->takes : "");
	if (rc || is_get)
		return rc;
	rc = api_read_body(request, call->route.most_body_bytes);
	return rc || !call->takes ? rc : check_members(request, call->takes);
}

/* ---- members ---- */

/* NULL where it is not there, or null. */
static json_t *member(const struct request *request, const char *name)
{
	json_t *value = json_object_get(request->json, name);
	return json_is_null(value) ? NULL : value;
}

static int refuse_type(struct request *request, const char *name, const char *type)
{
	return fail_field(request->error, name, "The member %s must be %s.", name, type);
}

int api_text(struct request *request, const char *name, const char **value)
{
	json_t *json = member(request, name);
	*value = request->json ? json_string_value(json) : request_form(request, name);
	return json && !*value ? refuse_type(request, name, "a string") : 0;
}

int api_texts(struct request *request, const char *name, const char ***values, size_t *count)
{
	json_t *json = member(request, name);
	*count = 0;
	if (!request->json) {
		*count = request_form_values(request, name, values);
		return 0;
	}
	if (json && !json_is_array(json))
		return refuse_type(request, name, "an array of strings");
	*values = arena_array(request->arena, const char *, json_array_size(json) + 1);
	for (; *count < json_array_size(json); ++*count)
		if (!((*values)[*count] = json_string_value(json_array_get(json, *count))))
			return refuse_type(request, name, "an array of strings");
	return 0;
}

static int parse_integer(const char *text, int64_t *value)
{
	char *end;
	size_t digits = strspn(text, "0123456789");
	*value = strtoll(text, &end, 10);
	return digits && digits <= 18 && !text[digits] ? 0 : -1;
}

int api_integer(struct request *request, const char *name, int64_t otherwise, int64_t *value)
{
	json_t *json = member(request, name);
	const char *field = request->json ? NULL : request_form(request, name);
	*value = json_is_integer(json) ? json_integer_value(json) : otherwise;
	bool is_wrong = (json && !json_is_integer(json)) || (field && parse_integer(field, value));
	return is_wrong ? refuse_type(request, name, "a whole number") : 0;
}

int api_boolean(struct request *request, const char *name, bool otherwise, bool *value)
{
	json_t *json = member(request, name);
	const char *field = request->json ? NULL : request_form(request, name);
	*value = json ? json_is_true(json) : field ? strcmp(field, "true") == 0 : otherwise;
	bool is_wrong = (json && !json_is_boolean(json)) || (field && !*value && strcmp(field, "false") != 0);
	return is_wrong ? refuse_type(request, name, "true or false") : 0;
}

int api_query_integer(struct request *request, const char *name, int64_t least, int64_t most, int64_t otherwise, int64_t *value)
{
	const char *text = request_query(request, name);
	*value = otherwise;
	if (!text || (parse_integer(text, value) == 0 && *value >= least && *value <= most))
		return 0;
	return fail_field(request->error, name, "The parameter %s must be a whole number from %lld to %lld.", name, (long long)least,
		(long long)most);
}

int api_path_id(struct request *request, size_t star, const char *what, int64_t *id)
{
	const char *text = request->path_parameters[star];
	if (parse_integer(text, id) == 0 && *id > 0 && *text != '0')
		return 0;
	return fail(request->error, ERROR_NOT_FOUND, "There is no %s with this number.", what);
}

/* ---- lists ---- */

enum { list_usual = 50, list_most = 100 };
static const char CURSOR_FORMAT[] = "1 %lld %lld";

int api_list_read(struct request *request, struct api_list *list)
{
	int rc = api_query_integer(request, "limit", 1, list_most, list_usual, &list->limit);
	const char *cursor = request_query(request, "cursor");
	list->is_first = !cursor;
	list->after[0] = list->after[1] = 0;
	if (rc || !cursor)
		return rc;
	char text[64] = "";
	long long first, second;
	int behind = 0;
	size_t length;
	if (sodium_base642bin((unsigned char *)text, sizeof text - 1, cursor, strlen(cursor), NULL, &length, NULL,
			sodium_base64_VARIANT_URLSAFE_NO_PADDING) || sscanf(text, "1 %lld %lld%n", &first, &second, &behind) != 2
			|| (size_t)behind != length)
		return fail_field(request->error, "cursor", "This is no cursor of this list; take the member next of the answer before.");
	list->after[0] = first;
	list->after[1] = second;
	return 0;
}

const char *api_cursor(struct request *request, int64_t first, int64_t second)
{
	const char *text = arena_printf(request->arena, CURSOR_FORMAT, (long long)first, (long long)second);
	size_t length = strlen(text), size = sodium_base64_ENCODED_LEN(length, sodium_base64_VARIANT_URLSAFE_NO_PADDING);
	return sodium_bin2base64(arena_alloc(request->arena, size), size, (const unsigned char *)text, length,
		sodium_base64_VARIANT_URLSAFE_NO_PADDING);
}

/* Where the rest of the list is: this address with another cursor. */
static void link_next(struct request *request, const char *next)
{
	cleanup_buffer struct buffer link = {0};
	buffer_byte(&link, '<');
	html_url_part(&link, request->path);
	buffer_byte(&link, '?');
	for (size_t i = 0; i < request->query_count; i++) {
		if (strcmp(request->query[i].name, "cursor") == 0)
			continue;
		html_url_part(&link, request->query[i].name);
		buffer_byte(&link, '=');
		html_url_part(&link, request->query[i].value);
		buffer_byte(&link, '&');
	}
	buffer_printf(&link, "cursor=%s>; rel=\"next\"", next);
	response_header(request, "Link", buffer_string(&link));
}

int respond_list_about(struct request *request, json_t *about, json_t *items, const char *next)
{
	if (next)
		link_next(request, next);
	json_object_set_new(about, "items", items);
	json_object_set_new(about, "next", json_text(next));
	return respond_json(request, about);
}

int respond_list(struct request *request, json_t *items, const char *next)
{
	return respond_list_about(request, json_object(), items, next);
}

/* ---- answers ---- */

int respond_created(struct request *request, json_t *json, const char *format, ...)
{
	va_list arguments;
	va_start(arguments, format);
	request->location = arena_vprintf(request->arena, format, arguments);
	va_end(arguments);
	request->status = 201;
	return respond_json(request, json);
}

int respond_nothing(struct request *request)
{
	request->status = 204;
	return 0;
}

int respond_text(struct request *request, const char *file_name, const void *bytes, size_t length)
{
	response_as_text(request, file_name, false);
	buffer_append(&request->body, bytes, length);
	return 0;
}

json_t *json_text(const char *text)
{
	json_t *json = text ? json_string(text) : NULL;
	return json ? json : json_null();
}

json_t *json_count(int64_t number)
{
	return number == SQL_NULL_INTEGER ? json_null() : json_integer(number);
}

json_t *json_number(double number)
{
	return isfinite(number) ? json_real(number) : json_null();
}

json_t *json_moment(int64_t ms)
{
	format_text text;
	if (ms == TIME_NULL)
		return json_null();
	format_iso(text, ms);
	return json_string(text);
}

/* Of the body, so that it is the same on every host and after every restart. */
static void make_etag(struct request *request)
{
	unsigned char hash[16];
	char text[2 * sizeof hash + 1];
	crypto_generichash(hash, sizeof hash, (const unsigned char *)buffer_string(&request->body), request->body.length, NULL, 0);
	request->etag = arena_printf(request->arena, "\"%s\"", sodium_bin2hex(text, sizeof text, hash, sizeof hash));
}

/* Whether the header If-None-Match names the tag (RFC 9110, section 13.1.2: a weak comparison, since nginx makes the tag of
 * what it compresses a weak one). */
static bool is_known(const struct request *request)
{
	const char *known = request_header(request, "If-None-Match");
	return known && (strcmp(known, "*") == 0 || strstr(known, request->etag));
}

static void tell_limits(struct request *request)
{
	if (request->limits && !request->may_be_cached)
		buffer_text(&request->headers, request->limits);
}

/* What nobody in particular has asked for, nginx gives to others for a second. It answers with 304 by itself from what it keeps,
 * and must be given the whole for that. */
void api_finish(struct request *request)
{
	bool is_whole = request->method == METHOD_GET && request->status == 200 && !request->stream;
	request->may_be_cached = is_whole && !request->token;
	tell_limits(request);
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

/* What the codes are called by programs, and what RFC 9457 wants as the title of a problem without a type: the words of its status. */
static const struct { int status; const char *problem, *title; } PROBLEMS[] = {
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
	tell_limits(request);
	for (size_t i = 0; i < COUNT(PROBLEMS); i++)
		if (PROBLEMS[i].status == request->status) {
			problem = PROBLEMS[i].problem;
			title = PROBLEMS[i].title;
		}
	if (request->problem)
		problem = request->problem;
	json_t *json = json_pack("{s:s, s:s, s:o, s:i, s:o, s:s}", "type", "about:blank", "title", title, "code", json_text(problem),
		"status", request->status, "detail", json_text(sentence), "instance", request->id);
	const char *field = request->error->field;
	if (*field && code != ERROR_DATABASE && code != ERROR_SYSTEM)
		json_object_set_new(json, "errors", json_pack("[{s:s, s:s}]", "field", field, "detail", sentence));
	respond_json(request, json);
	request->content_type = "application/problem+json";
}
