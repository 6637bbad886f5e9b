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

/* Returns the decoded text. *decoded_length counts embedded NUL bytes, so check_value() can find
 * them. A % without two hex digits stays as it is. */
static char *percent_decode(struct arena *arena, const char *text, size_t length,
	bool plus_is_space, size_t *decoded_length)
{
	char *out = arena_alloc(arena, length + 1);
	size_t used = 0;
	for (size_t i = 0; i < length; i++) {
		int high = text[i] == '%' && i + 2 < length ? hex_value(text[i + 1]) : -1;
		int low = high >= 0 ? hex_value(text[i + 2]) : -1;
		if (low >= 0) {
			out[used++] = (char)(high * 16 + low);
			i += 2;
		} else {
			out[used++] = plus_is_space && text[i] == '+' ? ' ' : text[i];
		}
	}
	*decoded_length = used;
	return out;
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

int form_parse_urlencoded(struct arena *arena, const char *text, size_t length,
	struct field **fields, size_t *count, struct error *error)
{
	const char *end = text + length;
	while (text < end) {
		const char *stop = memchr(text, '&', (size_t)(end - text));
		if (!stop)
			stop = end;
		const char *equals = memchr(text, '=', (size_t)(stop - text));
		const char *value_begin = equals ? equals + 1 : stop;
		size_t name_length, value_length;
		char *name = percent_decode(
			arena, text, (size_t)((equals ? equals : stop) - text), true, &name_length);
		char *value =
			percent_decode(arena, value_begin, (size_t)(stop - value_begin), true, &value_length);
		int rc = check_value("", name, name_length, error);
		if (!rc)
			rc = check_value(name, value, value_length, error);
		if (!rc && stop > text)
			rc = add_field(arena, fields, count, name, value, error);
		if (rc)
			return rc;
		text = stop + 1;
	}
	return 0;
}

char *form_decode_path(struct arena *arena, const char *text)
{
	size_t length;
	char *path = percent_decode(arena, text, strlen(text), false, &length);
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

typedef int feed(void *sink, const char *bytes, size_t length, struct error *error);

static int feed_multipart(void *sink, const char *bytes, size_t length, struct error *error)
{
	return multipart_feed(sink, bytes, length, error);
}

static int feed_buffer(void *sink, const char *bytes, size_t length, struct error *error)
{
	(void)error;
	buffer_append(sink, bytes, length);
	return 0;
}

static int read_pieces(struct request *request, size_t most_bytes, feed *feed_to, void *sink)
{
	char piece[16384];
	size_t total = 0;
	for (;;) {
		size_t got = request->read_body(request->body_source, piece, sizeof piece);
		if (!got)
			break;
		total += got;
		if (total > most_bytes)
			return fail(request->error, ERROR_LIMIT,
				"The request is larger than the limit of %zu bytes. Send less.", most_bytes);
		int rc = feed_to(sink, piece, got, request->error);
		if (rc)
			return rc;
	}
	if (total < request->body_length)
		return fail(
			request->error, ERROR_INPUT, "The request did not arrive completely. Send it again.");
	return 0;
}

static int read_multipart(struct request *request, size_t most_bytes)
{
	struct multipart parser;
	int rc = multipart_begin(
		&parser, request->arena, request->body_type, take_part, request, request->error);
	if (!rc)
		rc = read_pieces(request, most_bytes, feed_multipart, &parser);
	if (!rc)
		rc = multipart_end(&parser, request->error);
	multipart_free(&parser);
	return rc;
}

static int read_urlencoded(struct request *request, size_t most_bytes)
{
	cleanup_buffer struct buffer body = { 0 };
	int rc = read_pieces(request, most_bytes, feed_buffer, &body);
	return rc ? rc
			  : form_parse_urlencoded(request->arena, buffer_string(&body), body.length,
				  &request->form, &request->form_count, request->error);
}

bool form_is_type(const struct request *request, const char *type)
{
	size_t length = strlen(type);
	return strncasecmp(request->body_type, type, length) == 0
		&& strchr("; \t", request->body_type[length]);
}

static int check_length(struct request *request, size_t most_bytes)
{
	if (request->body_length <= most_bytes)
		return 0;
	return fail(request->error, ERROR_LIMIT,
		"The request is larger than the limit of %zu bytes. Send less.", most_bytes);
}

int form_read_bytes(struct request *request, size_t most_bytes, struct buffer *body)
{
	int rc = check_length(request, most_bytes);
	return rc ? rc : read_pieces(request, most_bytes, feed_buffer, body);
}

int form_read(struct request *request, size_t most_bytes)
{
	int rc = check_length(request, most_bytes);
	if (rc)
		return rc;
	if (form_is_type(request, "multipart/form-data"))
		return read_multipart(request, most_bytes);
	if (form_is_type(request, "application/x-www-form-urlencoded"))
		return read_urlencoded(request, most_bytes);
	return fail(request->error, ERROR_INPUT,
		"A form must be sent as multipart/form-data or application/x-www-form-urlencoded.");
}
