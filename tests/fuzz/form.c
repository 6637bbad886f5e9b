/* Queries, paths and the addresses made from them. Input: a query in the first line, then a
 * path. */
#include "cgi/http/form.h"
#include "cgi/render/html.h"

#include "tests/fuzz/fuzz.h"

static void check_fields(const struct field *fields, size_t count)
{
	require(count <= 256);
	for (size_t i = 0; i < count; i++) {
		require_text(fields[i].name, strlen(fields[i].name));
		require_text(fields[i].value, strlen(fields[i].value));
	}
}

/* Fields written as a query and read again must be the same. */
static void check_round_trip(struct arena *arena, const struct field *fields, size_t count)
{
	cleanup_buffer struct buffer query = { 0 };
	char empty[] = "";
	struct field *again = NULL;
	size_t again_count = 0;
	for (size_t i = 0; i < count; i++) {
		buffer_text(&query, i ? "&" : "");
		html_url_part(&query, fields[i].name);
		buffer_text(&query, "=");
		html_url_part(&query, fields[i].value);
	}
	require(form_parse_urlencoded(
				arena, query.data ? query.data : empty, query.length, &again, &again_count, NULL)
		== 0);
	require(again_count == count);
	for (size_t i = 0; i < count; i++)
		require(strcmp(fields[i].name, again[i].name) == 0
			&& strcmp(fields[i].value, again[i].value) == 0);
}

static void check_query(struct arena *arena, char *query)
{
	struct field *fields = NULL;
	size_t count = 0;
	struct error error = { 0 };
	int rc = form_parse_urlencoded(arena, query, strlen(query), &fields, &count, &error);
	check_fields(fields, count);
	if (rc)
		require_error(rc, &error);
	else
		check_round_trip(arena, fields, count);
}

/* An address in a header must stay on this host and on one line, whatever it was made of. */
static void check_own_address(const char *text)
{
	cleanup_buffer struct buffer address = { 0 };
	url_own(&address, text);
	require(address.data[0] == '/' && address.data[1] != '/');
	for (const char *at = address.data; *at; at++)
		require(*at > 0x20 && *at < 0x7f && *at != '\\');
}

static void check_path(struct arena *arena, const char *text)
{
	check_own_address(text);
	const char *path = form_decode_path(arena, text);
	if (!path)
		return;
	require_text(path, strlen(path));
	for (const char *at = path; *at; at++)
		require((unsigned char)*at >= 0x20 && *at != 0x7f);
	check_own_address(path);
	cleanup_buffer struct buffer encoded = { 0 };
	html_url_part(&encoded, path);
	const char *again = form_decode_path(arena, buffer_string(&encoded));
	require(again && strcmp(again, path) == 0);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t length)
{
	struct fuzz_input input = { bytes, length };
	cleanup_free char *query = fuzz_line(&input);
	cleanup_free char *path = fuzz_string(input.bytes, input.length);
	cleanup_arena struct arena *arena = arena_new();
	check_query(arena, query);
	check_path(arena, path);
	return 0;
}
