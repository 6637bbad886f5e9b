/* A whole request through the router, without a database. Input, a line each: the method, the
 * address with its query, the cookies, Host and Origin, the Content-Type; then the body. */
#include "cgi/http/form.h"
#include "cgi/router.h"
#include "lib/base/log.h"

#include "tests/fuzz/fuzz.h"

/* A text that must never reach a page unescaped. */
static const char HOSTILE[] = "<zz";

/* Replaces lib/base/log.c, because log lines would hide libFuzzer's output. */
void log_open(const char *program)
{
	(void)program;
}
void log_info(const char *format, ...)
{
	(void)format;
}
void log_warning(const char *format, ...)
{
	(void)format;
}
void log_error(const char *format, ...)
{
	(void)format;
}
void log_about(enum log_field field, const char *value)
{
	(void)field, (void)value;
}
void log_about_number(enum log_field field, int64_t value)
{
	(void)field, (void)value;
}

static size_t read_body(void *context, char *bytes, size_t size)
{
	struct fuzz_input *body = context;
	size_t piece = body->length < size ? body->length : size;
	memcpy(bytes, body->bytes, piece);
	body->bytes += piece;
	body->length -= piece;
	return piece;
}

static void check_status(int status)
{
	static const int known[] = { 200, 201, 204, 301, 303, 304, 400, 401, 403, 404, 405, 409, 413,
		415, 422, 429, 500, 503 };
	for (size_t i = 0; i < COUNT(known); i++)
		if (known[i] == status)
			return;
	require(!"a status that is sent");
}

static void check_header(const char *value)
{
	for (; *value; value++)
		require((unsigned char)*value >= 0x20 && *value != 0x7f);
}

/* Headers must be lines "Name: value" with the line ends of HTTP, and no value may end the
 * headers. */
static void check_headers(const char *text)
{
	while (*text) {
		const char *end = strstr(text, "\r\n");
		require(end && end > text && memchr(text, ':', (size_t)(end - text)));
		for (; text < end; text++)
			require((unsigned char)*text >= 0x20 && *text != 0x7f);
		text += 2;
	}
}

static void check_answer(const struct request *request)
{
	check_status(request->status);
	check_headers(buffer_string(&request->headers));
	require_text(buffer_string(&request->body), request->body.length);
	bool is_page = !request->content_type || strstr(request->content_type, "html");
	require(!is_page || !strstr(buffer_string(&request->body), HOSTILE));
	if (request->content_type)
		check_header(request->content_type);
	if (request->disposition)
		check_header(request->disposition);
	require((request->location != NULL)
		== (request->status == 201 || request->status == 301 || request->status == 303));
	if (request->location) {
		check_header(request->location);
		require(request->location[0] == '/' && request->location[1] != '/'
			&& request->location[1] != '\\');
	}
	require(request->viewer.id == 0 && !(request->sets_cookie && request->may_be_cached));
}

static enum method method_of(const char *name)
{
	static const struct {
		const char *name;
		enum method method;
	} known[] = {
		{ "GET", METHOD_GET },
		{ "POST", METHOD_POST },
		{ "PUT", METHOD_PUT },
		{ "PATCH", METHOD_PATCH },
		{ "DELETE", METHOD_DELETE },
	};
	for (size_t i = 0; i < COUNT(known); i++)
		if (strcmp(name, known[i].name) == 0)
			return known[i].method;
	return 0;
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t length)
{
	static const struct config config = { .database_socket = "/nonexistent/socket",
		.public_url = "http://podium.example" };
	struct fuzz_input input = { bytes, length };
	cleanup_free char *method = fuzz_line(&input), *address = fuzz_line(&input),
					  *cookies = fuzz_line(&input), *host = fuzz_line(&input),
					  *origin = fuzz_line(&input), *type = fuzz_line(&input);
	cleanup_arena struct arena *arena = arena_new();
	cleanup_database struct database *db = database_lazy(&config);
	struct error error = { 0 };
	const char *query = strchr(address, '?');
	const char *raw_path = arena_strndup(arena, address, strcspn(address, "?"));
	struct request request = {
		.arena = arena,
		.config = &config,
		.db = db,
		.error = &error,
		.method = method_of(method),
		.cookies = cookies,
		.raw_path = raw_path,
		.path = form_decode_path(arena, raw_path),
		.query_string = query ? query + 1 : "",
		.address = "127.0.0.1",
		.user_agent = "",
		.id = "0",
		.host = host,
		.origin = *origin ? origin : NULL,
		.body_type = type,
		.body_length = input.length,
		.read_body = read_body,
		.body_source = &input,
	};
	router_answer(&request);
	check_answer(&request);
	buffer_free(&request.headers);
	buffer_free(&request.body);
	return 0;
}
