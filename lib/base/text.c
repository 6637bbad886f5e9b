#include "lib/base/text.h"

#include <ctype.h>
#include <stdarg.h>
#include <string.h>

/* Length of the UTF-8 sequence at `s`, 0 if it is invalid. Source: table 3-7 of the Unicode
 * standard. */
static size_t sequence_length(const unsigned char *s, size_t length)
{
	if (s[0] < 0x80)
		return 1;
	size_t need = s[0] >= 0xc2 && s[0] <= 0xdf ? 2
		: (s[0] & 0xf0) == 0xe0                ? 3
		: s[0] >= 0xf0 && s[0] <= 0xf4         ? 4
											   : 0;
	if (!need || need > length)
		return 0;
	unsigned char low = 0x80, high = 0xbf;
	if (s[0] == 0xe0)
		low = 0xa0;
	if (s[0] == 0xed)
		high = 0x9f;
	if (s[0] == 0xf0)
		low = 0x90;
	if (s[0] == 0xf4)
		high = 0x8f;
	if (s[1] < low || s[1] > high)
		return 0;
	for (size_t i = 2; i < need; i++)
		if ((s[i] & 0xc0) != 0x80)
			return 0;
	return need;
}

size_t text_utf8_prefix(const char *bytes, size_t length)
{
	size_t at = 0;
	while (at < length) {
		size_t step = sequence_length((const unsigned char *)bytes + at, length - at);
		if (!step)
			break;
		at += step;
	}
	return at;
}

bool text_is_utf8(const char *bytes, size_t length)
{
	return text_utf8_prefix(bytes, length) == length;
}

size_t text_count_characters(const char *text)
{
	size_t count = 0;
	for (; *text; text++)
		count += ((unsigned char)*text & 0xc0) != 0x80;
	return count;
}

static bool is_name(const char *name, size_t least, size_t most)
{
	size_t length = strlen(name);
	if (length < least || length > most || !isalnum((unsigned char)name[0]))
		return false;
	return strspn(name, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._-")
		== length;
}

bool text_is_ascii(const char *text)
{
	while (*text && (unsigned char)*text < 0x80)
		text++;
	return !*text;
}

bool text_is_user_name(const char *name)
{
	return is_name(name, 2, 32);
}

bool text_is_leaderboard_name(const char *name)
{
	return is_name(name, 1, 64);
}

size_t text_control_length(const char *text)
{
	const unsigned char *at = (const unsigned char *)text;
	if (!at[0])
		return 0;
	if (at[0] < 0x20 || at[0] == 0x7f)
		return 1;
	if ((at[0] == 0xc2 && at[1] >= 0x80 && at[1] < 0xa0) || (at[0] == 0xd8 && at[1] == 0x9c))
		return 2;
	bool turns = at[0] == 0xe2
		&& ((at[1] == 0x80 && (at[2] == 0x8e || at[2] == 0x8f || (at[2] >= 0xa8 && at[2] <= 0xae)))
			|| (at[1] == 0x81 && at[2] >= 0xa6 && at[2] <= 0xa9));
	return turns ? 3 : 0;
}

size_t text_append_mark(struct buffer *out, const char *at)
{
	const unsigned char *byte = (const unsigned char *)at;
	size_t length = *at && strchr("\t\n\r", *at) ? 0 : text_control_length(at);
	if (length == 1)
		buffer_printf(out, "\\x%02x", byte[0]);
	else if (length == 2)
		buffer_printf(out, "\\u%04x", (byte[0] & 0x1fu) << 6 | (byte[1] & 0x3fu));
	else if (length == 3)
		buffer_printf(
			out, "\\u%04x", (byte[0] & 0xfu) << 12 | (byte[1] & 0x3fu) << 6 | (byte[2] & 0x3fu));
	return length;
}

void text_append_printable(struct buffer *out, const char *text)
{
	size_t length = strlen(text);
	for (size_t at = 0; at < length;) {
		size_t step = sequence_length((const unsigned char *)text + at, length - at);
		bool shown = step && !text_control_length(text + at);
		if (!step)
			step = 1;
		if (shown)
			buffer_append(out, text + at, step);
		for (size_t i = 0; !shown && i < step; i++)
			buffer_printf(out, "\\x%02x", (unsigned char)text[at + i]);
		at += step;
	}
}

void text_print_line(FILE *stream, const char *format, ...)
{
	cleanup_buffer struct buffer line = { 0 };
	char text[4096];
	va_list arguments;
	va_start(arguments, format);
	vsnprintf(text, sizeof text, format, arguments);
	va_end(arguments);
	text_append_printable(&line, text);
	fprintf(stream, "%s\n", buffer_string(&line));
}

void text_append_valid(struct buffer *out, const char *bytes, size_t length)
{
	/* Start of the valid bytes that are not yet appended. Every byte is examined once. */
	size_t begin = 0;
	for (size_t at = 0; at < length;) {
		size_t step =
			bytes[at] ? sequence_length((const unsigned char *)bytes + at, length - at) : 0;
		at += step;
		if (step)
			continue;
		buffer_append(out, bytes + begin, at - begin);
		buffer_text(out, "\xef\xbf\xbd");
		begin = ++at;
	}
	if (begin < length)
		buffer_append(out, bytes + begin, length - begin);
}

bool text_ends_with(const char *text, const char *suffix)
{
	size_t length = strlen(text), tail = strlen(suffix);
	return length >= tail && strcmp(text + length - tail, suffix) == 0;
}

bool text_is_line(const char *text, size_t most)
{
	size_t length = strlen(text);
	if (length > most || !text_is_utf8(text, length) || !text[strspn(text, " ")])
		return false;
	for (const char *at = text; *at; at++)
		if (text_control_length(at))
			return false;
	return true;
}

bool text_has_control(const char *text)
{
	for (; *text; text++)
		if (text_control_length(text))
			return true;
	return false;
}

bool text_is_one_of(const char *text, const char *const *words, size_t count)
{
	for (size_t i = 0; i < count; i++)
		if (strcmp(text, words[i]) == 0)
			return true;
	return false;
}

bool text_is_identifier(const char *text)
{
	if (!isalpha((unsigned char)*text) && *text != '_')
		return false;
	while (isalnum((unsigned char)*text) || *text == '_')
		text++;
	return !*text;
}

char *text_trim(char *text)
{
	while (isspace((unsigned char)*text))
		text++;
	size_t length = strlen(text);
	while (length && isspace((unsigned char)text[length - 1]))
		text[--length] = '\0';
	return text;
}
