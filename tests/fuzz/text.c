/* Untrusted text on its way into pages, logs and messages. */
#include "cgi/render/html.h"
#include "lib/base/format.h"
#include "lib/base/quote.h"

#include "tests/fuzz/fuzz.h"

static void check_printable(const char *text)
{
	cleanup_buffer struct buffer out = { 0 }, again = { 0 };
	text_append_printable(&out, text);
	if (out.length)
		require_sentence(out.data);
	text_append_printable(&again, buffer_string(&out));
	require(strcmp(buffer_string(&out), buffer_string(&again)) == 0);
}

static void check_valid(const char *bytes, size_t length)
{
	cleanup_buffer struct buffer out = { 0 };
	text_append_valid(&out, bytes, length);
	require_text(buffer_string(&out), out.length);
	require(out.length <= 3 * length);
	require(!text_is_utf8(bytes, length) || memchr(bytes, '\0', length)
		|| (out.length == length && (!length || memcmp(out.data, bytes, length) == 0)));
}

static void check_quote(const char *bytes, size_t length)
{
	cleanup_arena struct arena *arena = arena_new();
	const char *quoted = quote_bytes(arena, bytes, length);
	require_sentence(quoted);
	require(quoted[0] == '"' && text_ends_with(quoted, "\"")
		&& strlen(quoted) <= 4 * quote_most_bytes + 5);
}

/* Escaped text must contain no special character, and a browser must read the original text from
 * it. */
static void check_html(const char *text)
{
	static const struct {
		const char *entity;
		char byte;
	} entities[] = {
		{ "&amp;", '&' },
		{ "&lt;", '<' },
		{ "&gt;", '>' },
		{ "&quot;", '"' },
		{ "&#39;", '\'' },
	};
	cleanup_buffer struct buffer out = { 0 };
	html_sent_back(&out, text);
	for (const char *at = buffer_string(&out); *at; text++) {
		require(!strchr("<>\"'", *at));
		size_t i = 0;
		while (*at == '&' && i < COUNT(entities)
			&& strncmp(at, entities[i].entity, strlen(entities[i].entity)) != 0)
			i++;
		require(*at != '&' || (i < COUNT(entities) && entities[i].byte == *text));
		require(*at == '&' || *at == *text);
		at += *at == '&' ? strlen(entities[i].entity) : 1;
	}
	require(*text == '\0');
}

static void check_marks(const char *text)
{
	cleanup_buffer struct buffer out = { 0 };
	html_text(&out, text);
	for (const char *at = buffer_string(&out); *at; at++)
		require(strchr("\t\n\r", *at) || !text_control_length(at));
}

static void check_time(const char *text)
{
	int64_t ms, again;
	if (parse_utc(text, &ms))
		return;
	format_text written;
	format_iso(written, ms);
	*strchr(written, '.') = '\0'; /* deadlines have no milliseconds */
	require(parse_utc(written, &again) == 0 && ms == again);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t length)
{
	cleanup_free char *text = fuzz_string(bytes, length);
	check_printable(text);
	check_valid(text, length);
	check_quote(text, length);
	check_html(text);
	check_marks(text);
	check_time(text);
	return 0;
}
