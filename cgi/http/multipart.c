#include "cgi/http/multipart.h"

#include "lib/base/scope.h"

#include <stdio.h>
#include <string.h>
#include <strings.h>

/* ---- parameters of a header: `form-data; name="x"; filename="y"` ---- */

/* Copies the quoted or plain value at `at` into the arena. Browsers escape `"` in names as %22 and
 * leave a backslash alone, so a backslash is an ordinary byte here, except before a quote. */
static const char *parameter_value(struct arena *arena, const char *at, const char **end)
{
	if (*at != '"') {
		size_t length = strcspn(at, "; \t\r\n");
		*end = at + length;
		return arena_strndup(arena, at, length);
	}
	char *value = arena_alloc(arena, strlen(at) + 1);
	size_t length = 0;
	for (at++; *at && *at != '"'; at++) {
		if (*at == '\\' && at[1] == '"')
			at++;
		value[length++] = *at;
	}
	*end = *at ? at + 1 : at;
	return value;
}

static const char *find_parameter(struct arena *arena, const char *header, const char *name)
{
	size_t length = strlen(name);
	for (const char *at = strchr(header, ';'); at; at = strchr(at, ';')) {
		at += 1 + strspn(at + 1, " \t");
		bool matches = strncasecmp(at, name, length) == 0 && at[length] == '=';
		const char *equals = at + strcspn(at, "=;");
		if (*equals != '=')
			continue;
		const char *value = parameter_value(arena, equals + 1, &at);
		if (matches)
			return value;
	}
	return NULL;
}

int multipart_begin(struct multipart *parser, struct arena *arena, const char *content_type,
	multipart_take *take, void *context, struct error *error)
{
	*parser = (struct multipart){ .arena = arena, .take = take, .context = context };
	const char *boundary = find_parameter(arena, content_type, "boundary");
	if (!boundary || !*boundary || strlen(boundary) > multipart_most_boundary_bytes)
		return fail(
			error, ERROR_INPUT, "The form was sent without a usable boundary between its fields.");
	parser->delimiter_length =
		(size_t)snprintf(parser->delimiter, sizeof parser->delimiter, "\r\n--%s", boundary);
	/* The body may start with a delimiter that has no line break before it. Adding the line break
	 * here makes all delimiters alike. */
	buffer_text(&parser->pending, "\r\n");
	return 0;
}

void multipart_free(struct multipart *parser)
{
	buffer_free(&parser->pending);
	buffer_free(&parser->body);
}

/* ---- the parser's states: functions return 1 after progress, 0 to ask for more bytes, or an error
 * ---- */

/* Consumes bytes up to and including the next delimiter. Appends the bytes before it to `out`,
 * unless `out` is NULL. */
static int skip_to_delimiter(struct multipart *parser, struct buffer *out)
{
	struct buffer *pending = &parser->pending;
	const char *found = pending->length
		? memmem(pending->data, pending->length, parser->delimiter, parser->delimiter_length)
		: NULL;
	size_t safe = found ? (size_t)(found - pending->data)
		: pending->length >= parser->delimiter_length
		? pending->length - parser->delimiter_length + 1
		: 0;
	if (out)
		buffer_append(out, pending->data, safe);
	buffer_drop_front(pending, found ? safe + parser->delimiter_length : safe);
	return found ? 1 : 0;
}

static int behind_delimiter(struct multipart *parser, struct error *error)
{
	struct buffer *pending = &parser->pending;
	if (pending->length < 2)
		return 0;
	bool last = memcmp(pending->data, "--", 2) == 0;
	if (!last && memcmp(pending->data, "\r\n", 2) != 0)
		return fail(error, ERROR_INPUT,
			"The form is damaged: unexpected bytes follow a boundary. Send it again.");
	if (!last && ++parser->parts > multipart_most_parts)
		return fail(error, ERROR_LIMIT, "The form has more than %d fields.", multipart_most_parts);
	/* Keep the line break after the delimiter: a part without headers then still starts with the
	 * empty line that ends headers. */
	if (last)
		buffer_drop_front(pending, 2);
	parser->state = last ? MULTIPART_DONE : MULTIPART_HEADERS;
	return 1;
}

static int take_disposition(struct multipart *parser, const char *headers, struct error *error)
{
	static const char wanted[] = "Content-Disposition:";
	const char *line = headers;
	while (line && strncasecmp(line, wanted, sizeof wanted - 1) != 0) {
		line = strstr(line, "\r\n");
		line = line ? line + 2 : NULL;
	}
	if (!line)
		return fail(error, ERROR_INPUT, "A field of the form has no name.");
	const char *end = strstr(line, "\r\n");
	const char *value =
		arena_strndup(parser->arena, line, end ? (size_t)(end - line) : strlen(line));
	parser->part = (struct multipart_part){
		.name = find_parameter(parser->arena, value, "name"),
		.file_name = find_parameter(parser->arena, value, "filename"),
	};
	return parser->part.name ? 0 : fail(error, ERROR_INPUT, "A field of the form has no name.");
}

static int read_headers(struct multipart *parser, struct error *error)
{
	struct buffer *pending = &parser->pending;
	const char *end = memmem(pending->data, pending->length, "\r\n\r\n", 4);
	size_t length = end ? (size_t)(end - pending->data) : pending->length;
	if (length > multipart_most_header_bytes)
		return fail(error, ERROR_LIMIT, "The headers of a form field are longer than %d bytes.",
			multipart_most_header_bytes);
	if (!end)
		return 0;
	if (memchr(pending->data, '\0', length))
		return fail(error, ERROR_INPUT, "The name of a form field contains a NUL byte. Remove it.");
	pending->data[length] = '\0';
	int rc = take_disposition(parser, pending->data, error);
	if (rc)
		return rc;
	/* Keep the second of the two line breaks: the delimiter of an empty body starts with it. */
	buffer_drop_front(pending, length + 2);
	buffer_clear(&parser->body);
	parser->state = MULTIPART_BODY;
	return 1;
}

static int read_part_body(struct multipart *parser, struct error *error)
{
	int found = skip_to_delimiter(parser, &parser->body);
	if (!found)
		return 0;
	/* The first two bytes are the line break that ends the headers. */
	size_t length = parser->body.length >= 2 ? parser->body.length - 2 : 0;
	parser->part.bytes =
		arena_copy(parser->arena, parser->body.length >= 2 ? parser->body.data + 2 : "", length);
	parser->part.length = length;
	buffer_free(&parser->body);
	int rc = parser->take(parser->context, &parser->part, error);
	parser->state = MULTIPART_BEHIND_DELIMITER;
	return rc ? rc : 1;
}

static int parse_step(struct multipart *parser, struct error *error)
{
	int found;
	switch (parser->state) {
	case MULTIPART_PREAMBLE:
		found = skip_to_delimiter(parser, NULL);
		if (found)
			parser->state = MULTIPART_BEHIND_DELIMITER;
		return found;
	case MULTIPART_BEHIND_DELIMITER: return behind_delimiter(parser, error);
	case MULTIPART_HEADERS: return read_headers(parser, error);
	case MULTIPART_BODY: return read_part_body(parser, error);
	case MULTIPART_DONE:
		buffer_clear(&parser->pending); /* ignore the epilogue */
		return 0;
	}
	return 0;
}

int multipart_feed(struct multipart *parser, const char *bytes, size_t length, struct error *error)
{
	buffer_append(&parser->pending, bytes, length);
	int rc;
	do {
		rc = parse_step(parser, error);
	} while (rc == 1);
	return rc;
}

int multipart_end(struct multipart *parser, struct error *error)
{
	if (parser->state == MULTIPART_DONE)
		return 0;
	return fail(error, ERROR_INPUT, "The request did not arrive completely. Send it again.");
}
