#include "cgi/http/form.h"

#include "cgi/http/multipart.h"
#include "lib/base/text.h"

#include <ctype.h>
#include <string.h>
#include <strings.h>

enum { most_fields = 256 };

static int hex_value(char digit)
{
	if (digit >= '0' && digit <= '9')
		return digit - '0';
	digit = (char)tolower((unsigned char)digit);
	return digit >= 'a' && digit <= 'f' ? digit - 'a' + 10 : -1;
}

/* Decodes within the text, which never grows, and ends it with a NUL. Returns the decoded length,
 * which counts embedded NUL bytes, so check_value() can find them. A % without two hex digits stays
 * as it is. */
static size_t percent_decode(char *text, size_t length, bool plus_is_space)
{
	size_t used = 0;
	for (size_t i = 0; i < length; i++) {
		int high = text[i] == '%' && i + 2 < length ? hex_value(text[i + 1]) : -1;
		int low = high >= 0 ? hex_value(text[i + 2]) : -1;
		if (low >= 0) {
			text[used++] = (char)(high * 16 + low);
			i += 2;
		} else {
			text[used++] = plus_is_space && text[i] == '+' ? ' ' : text[i];
		}
	}
	text[used] = '\0';
	return used;
}

static int check_value(const char *name, const char *bytes, size_t length, struct error *error)
{
	if (memchr(bytes, '\0', length))
		return fail_field(error, name, "This field contains a NUL byte. Remove it.");
	if (!text_is_utf8(bytes, length))
		return fail_field(error, name, "This field is not UTF-8 text.");
	return 0;
}

static int add_field(struct arena *arena, struct field **fields, size_t *count, const char *name,
	const char *value, struct error *error)
{
	if (*count == most_fields)
		return fail(error, ERROR_INPUT, "The request has more than %d fields.", most_fields);
	if (!*fields)
		*fields = arena_array(arena, struct field, most_fields);
	(*fields)[(*count)++] = (struct field){ name, value };
	return 0;
}

/* Decodes one piece, "name=value" or "name". A NUL may replace the byte behind it. */
static int parse_field(struct arena *arena, char *piece, size_t length, struct field **fields,
	size_t *count, struct error *error)
{
	char *equals = memchr(piece, '=', length);
	char *value = equals ? equals + 1 : piece + length;
	size_t value_length = percent_decode(value, (size_t)(piece + length - value), true);
	size_t name_length = percent_decode(piece, equals ? (size_t)(equals - piece) : length, true);
	int rc = check_value("", piece, name_length, error);
	if (!rc)
		rc = check_value(piece, value, value_length, error);
	return rc ? rc : add_field(arena, fields, count, piece, value, error);
}

int form_parse_urlencoded(struct arena *arena, char *text, size_t length, struct field **fields,
	size_t *count, struct error *error)
{
	char *end = text + length, *stop;
	int rc = 0;
	for (; !rc && text < end; text = stop + 1) {
		stop = memchr(text, '&', (size_t)(end - text));
		if (!stop)
			stop = end;
		if (stop > text)
			rc = parse_field(arena, text, (size_t)(stop - text), fields, count, error);
	}
	return rc;
}

int form_parse_query(struct request *request)
{
	size_t length = strlen(request->query_string);
	return form_parse_urlencoded(request->arena,
		arena_strndup(request->arena, request->query_string, length), length, &request->query,
		&request->query_count, request->error);
}

char *form_decode_path(struct arena *arena, const char *text)
{
	char *path = arena_strdup(arena, text);
	size_t length = percent_decode(path, strlen(path), false);
	if (!text_is_utf8(path, length))
		return NULL;
	for (size_t i = 0; i < length; i++)
		if ((unsigned char)path[i] < 0x20 || path[i] == 0x7f)
			return NULL;
	return path;
}

/* ---- bodies ---- */

static int take_part(void *context, const struct multipart_part *part, struct error *error)
{
	struct request *request = context;
	int rc = check_value("", part->name, strlen(part->name), error);
	if (rc)
		return rc;
	if (!part->file_name) {
		rc = check_value(part->name, part->bytes, part->length, error);
		return rc ? rc
				  : add_field(request->arena, &request->form, &request->form_count, part->name,
					  part->bytes, error);
	}
	if (!request->uploads)
		request->uploads = arena_array(request->arena, struct upload, multipart_most_parts);
	cleanup_buffer struct buffer name = { 0 };
	text_append_valid(&name, part->file_name, strlen(part->file_name));
	request->uploads[request->upload_count++] = (struct upload){
		.field = part->name,
		.file_name = arena_strdup(request->arena, buffer_string(&name)),
		.bytes = part->bytes,
		.length = part->length,
	};
	return 0;
}

bool form_is_type(const struct request *request, const char *type)
{
	size_t length = strlen(type);
	return strncasecmp(request->body_type, type, length) == 0
		&& strchr("; \t", request->body_type[length]);
}

/* Reads the body into one block of its length. nginx has received the whole body before, so it
 * names the right length, also of a body in chunks. */
static int read_body(struct request *request, size_t most_bytes, char **body)
{
	if (request->body_length > most_bytes)
		return fail(request->error, ERROR_LIMIT,
			"The request is larger than the limit of %zu bytes. Send less.", most_bytes);
	size_t total = 0, got = 1;
	char more;
	*body = arena_alloc(request->arena, request->body_length + 1);
	while (got && total < request->body_length) {
		got = request->read_body(request->body_source, *body + total, request->body_length - total);
		total += got;
	}
	if (total < request->body_length)
		return fail(
			request->error, ERROR_INPUT, "The request did not arrive completely. Send it again.");
	return request->read_body(request->body_source, &more, 1) ? fail(request->error, ERROR_INPUT,
			   "The request is longer than its Content-Length says. Send the right length.")
															  : 0;
}

int form_read_bytes(struct request *request, size_t most_bytes, const char **bytes)
{
	char *body = NULL;
	int rc = read_body(request, most_bytes, &body);
	*bytes = body;
	return rc;
}

int form_read(struct request *request, size_t most_bytes)
{
	bool is_multipart = form_is_type(request, "multipart/form-data");
	char *body;
	if (!is_multipart && !form_is_type(request, "application/x-www-form-urlencoded"))
		return fail(request->error, ERROR_INPUT,
			"A form must be sent as multipart/form-data or application/x-www-form-urlencoded.");
	int rc = read_body(request, most_bytes, &body);
	if (rc)
		return rc;
	return is_multipart ? multipart_parse(
			   request->body_type, body, request->body_length, take_part, request, request->error)
						: form_parse_urlencoded(request->arena, body, request->body_length,
							&request->form, &request->form_count, request->error);
}
