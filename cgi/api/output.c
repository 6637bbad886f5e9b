/* Responses of calls: paged lists, texts, nothing. */
#include "cgi/api/api.h"

#include "cgi/render/html.h"

#include <sodium.h>
#include <stdio.h>
#include <string.h>

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
	if (sodium_base642bin((unsigned char *)text, sizeof text - 1, cursor, strlen(cursor), NULL,
			&length, NULL, sodium_base64_VARIANT_URLSAFE_NO_PADDING)
		|| sscanf(text, "1 %lld %lld%n", &first, &second, &behind) != 2 || (size_t)behind != length)
		return fail_field(request->error, "cursor",
			"The cursor is not valid. Use the member next of the previous answer.");
	list->after[0] = first;
	list->after[1] = second;
	return 0;
}

const char *api_cursor(struct request *request, int64_t first, int64_t second)
{
	const char *text =
		arena_printf(request->arena, CURSOR_FORMAT, (long long)first, (long long)second);
	size_t length = strlen(text),
		   size = sodium_base64_ENCODED_LEN(length, sodium_base64_VARIANT_URLSAFE_NO_PADDING);
	return sodium_bin2base64(arena_alloc(request->arena, size), size, (const unsigned char *)text,
		length, sodium_base64_VARIANT_URLSAFE_NO_PADDING);
}

/* Adds the header Link to the next page: the request's address with another cursor. */
static void link_next(struct request *request, const char *next)
{
	cleanup_buffer struct buffer link = { 0 };
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

int respond_page(struct request *request, json_t *page, const char *next)
{
	if (next)
		link_next(request, next);
	json_object_set_new(page, "next", json_text(next));
	return respond_json(request, page);
}

int respond_list_about(struct request *request, json_t *about, json_t *items, const char *next)
{
	json_object_set_new(about, "items", items);
	return respond_page(request, about, next);
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
