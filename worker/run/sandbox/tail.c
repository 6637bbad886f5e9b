#include "worker/run/sandbox/tail.h"

#include "lib/base/text.h"

#include <string.h>

enum { spare_bytes = 64 }; /* longer than a secret */

static bool is_between(char byte, char least, char most)
{
	return byte >= least && byte <= most;
}

/* The length of a string that starts with ESC ] or the like and ends with BEL or ESC \ (ECMA-48,
 * 8.3). An unterminated one extends to the end of its line. */
static size_t string_length(const char *at)
{
	size_t length = 2 + strcspn(at + 2, "\a\033\n");
	return at[length] == '\a'                            ? length + 1
		: at[length] == '\033' && at[length + 1] == '\\' ? length + 2
														 : length;
}

/* The length of what starts with ESC: a control sequence (ESC [, parameters, a final byte), a
 * string, or another sequence of ECMA-35. */
static size_t escape_length(const char *at)
{
	size_t length = 1;
	if (at[1] && strchr("]PX^_", at[1]))
		return string_length(at);
	if (at[1] == '[') {
		length = 2;
		while (is_between(at[length], 0x30, 0x3f))
			length++;
	}
	while (is_between(at[length], 0x20, 0x2f))
		length++;
	return is_between(at[length], 0x30, 0x7e) ? length + 1 : length;
}

static void restart_line(struct buffer *out, size_t since)
{
	while (out->length > since && out->data[out->length - 1] != '\n')
		out->data[--out->length] = '\0';
}

/* "\r\n" ends a line. After "\r" alone the next bytes overwrite the line, so a final "\r" leaves
 * the line as it is. */
static void append_plain(struct buffer *out, const char *text)
{
	size_t since = out->length;
	for (const char *at = text; *at;) {
		size_t control = *at == '\n' || *at == '\t' ? 0 : text_control_length(at);
		if (*at == '\r' && at[1] && at[1] != '\n' && at[1] != '\r')
			restart_line(out, since);
		if (!control)
			buffer_byte(out, *at);
		at += *at == '\033' ? escape_length(at) : control ? control : 1;
	}
}

/* Drops an unfinished line near the end of the head: capture_text always keeps the head, but may
 * cut it at a line end there. */
static void keep_whole_lines(struct buffer *bytes, uint64_t end)
{
	const char *newline = bytes->length && end + capture_line_bytes > capture_half_bytes
		? memrchr(bytes->data, '\n', bytes->length)
		: NULL;
	if (newline) {
		bytes->length = (size_t)(newline - bytes->data) + 1;
		bytes->data[bytes->length] = '\0';
	}
}

void tail_append(struct buffer *out, const struct capture *capture, bool only_kept)
{
	cleanup_buffer struct buffer bytes = { 0 }, valid = { 0 };
	uint64_t end =
		only_kept && capture->total > capture_half_bytes ? capture_half_bytes : capture->total;
	capture_stretch(capture, end, tail_most_bytes + spare_bytes, &bytes);
	if (only_kept)
		keep_whole_lines(&bytes, end);
	text_append_valid(&valid, buffer_string(&bytes), bytes.length);
	append_plain(out, buffer_string(&valid));
}

/* How many bytes at the end of the text may be the start of the secret. */
static size_t begun_secret(const struct buffer *text, const char *secret)
{
	for (size_t length = strlen(secret); length; length--)
		if (length <= text->length
			&& memcmp(text->data + text->length - length, secret, length) == 0)
			return length;
	return 0;
}

void tail_cut(struct buffer *text, const char *secret)
{
	size_t begun = begun_secret(text, secret);
	if (begun)
		text->data[text->length -= begun] = '\0';
	if (text->length <= tail_most_bytes)
		return;
	size_t from = text->length - tail_most_bytes;
	const char *newline = memchr(text->data + from, '\n', text->length - from);
	if (newline && newline[1])
		from = (size_t)(newline - text->data) + 1;
	while ((text->data[from] & 0xc0) == 0x80)
		from++;
	buffer_drop_front(text, from);
}
