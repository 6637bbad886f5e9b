#include "lib/base/quote.h"

#include "lib/base/buffer.h"
#include "lib/base/text.h"

#include <string.h>

/* text_append_printable stops at a NUL, so the pieces between NULs are appended one by one. */
static void append_pieces(struct buffer *out, const char *bytes, size_t length)
{
	for (size_t at = 0; at <= length;) {
		cleanup_buffer struct buffer piece = { 0 };
		const char *nul = memchr(bytes + at, '\0', length - at);
		size_t end = nul ? (size_t)(nul - bytes) : length;
		buffer_append(&piece, bytes + at, end - at);
		text_append_printable(out, buffer_string(&piece));
		if (nul)
			buffer_text(out, "\\x00");
		at = end + 1;
	}
}

const char *quote_bytes(struct arena *arena, const void *bytes, size_t length)
{
	cleanup_buffer struct buffer out = { 0 };
	size_t shown = length;
	if (length > quote_most_bytes) {
		shown = text_utf8_prefix(bytes, quote_most_bytes);
		if (shown + 4 <= quote_most_bytes) /* binary data: cut at the limit instead */
			shown = quote_most_bytes;
	}
	buffer_byte(&out, '"');
	append_pieces(&out, bytes, shown);
	buffer_text(&out, shown < length ? "...\"" : "\"");
	return arena_strndup(arena, buffer_string(&out), out.length);
}

const char *quote(struct arena *arena, const char *text)
{
	return quote_bytes(arena, text, strlen(text));
}
