#include "lib/mail/message.h"

#include "lib/base/text.h"

#include <ctype.h>
#include <string.h>
#include <time.h>

/* From RFC 2045 and RFC 2047: the lengths of a line and of an encoded word. */
enum { most_line = 76, most_word = 75 };

/* ---- addresses ---- */

static bool is_atom_character(char c)
{
	return isalnum((unsigned char)c) || (c && strchr("!#$%&'*+-/=?^_`{|}~", c));
}

static bool is_local_part(const char *text, size_t length)
{
	if (!length || length > 64 || text[0] == '.' || text[length - 1] == '.')
		return false;
	for (size_t i = 0; i < length; i++)
		if (text[i] == '.' ? text[i - 1] == '.' : !is_atom_character(text[i]))
			return false;
	return true;
}

static bool is_label(const char *text, size_t length)
{
	if (!length || length > 63 || text[0] == '-' || text[length - 1] == '-')
		return false;
	for (size_t i = 0; i < length; i++)
		if (!isalnum((unsigned char)text[i]) && text[i] != '-')
			return false;
	return true;
}

bool mail_address_is_valid(const char *text)
{
	const char *at = strrchr(text, '@');
	if (!at || strlen(text) > mail_address_most_bytes || !text_is_ascii(text)
		|| !is_local_part(text, (size_t)(at - text)))
		return false;
	for (const char *label = at + 1;; label++) {
		size_t length = strcspn(label, ".");
		if (!is_label(label, length))
			return false;
		label += length;
		if (!*label)
			return true;
	}
}

/* ---- headers ---- */

/* Appends the text as one line: control characters, which could begin a header of their own, become
 * spaces. */
static void append_line(struct buffer *out, const char *text, size_t most)
{
	struct buffer valid = { 0 };
	text_append_valid(&valid, text, strlen(text));
	const char *at = buffer_string(&valid);
	size_t start = out->length;
	while (*at && out->length - start < most) {
		size_t control = text_control_length(at), length = control ? control : 1;
		while (!control && ((unsigned char)at[length] & 0xc0) == 0x80)
			length++;
		if (control)
			buffer_byte(out, ' ');
		else
			buffer_append(out, at, length);
		at += length;
	}
	buffer_free(&valid);
}

static void append_base64(struct buffer *out, const char *bytes, size_t length)
{
	static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
	for (size_t i = 0; i < length; i += 3) {
		unsigned value = 0;
		for (size_t k = 0; k < 3; k++)
			value = value << 8 | (i + k < length ? (unsigned char)bytes[i + k] : 0);
		for (size_t k = 0; k < 4; k++)
			buffer_byte(out, i + k > length ? '=' : digits[value >> (18 - 6 * k) & 63]);
	}
}

/* Whether the text needs no encoding. "=?" would begin an encoded word. */
static bool is_plain(const char *text)
{
	return text_is_ascii(text) && !strstr(text, "=?") && strlen(text) < most_line - 10;
}

/* Appends encoded words, each on a line of its own and with whole characters. */
static void append_words(struct buffer *out, const char *text)
{
	static const char head[] = "=?UTF-8?B?";
	const size_t most = (most_word - (sizeof head - 1) - 2) / 4 * 3 - 6;
	for (size_t length = strlen(text); length;) {
		size_t part = length < most ? length : most;
		while (part < length && ((unsigned char)text[part] & 0xc0) == 0x80)
			part--;
		buffer_text(out, head);
		append_base64(out, text, part);
		buffer_text(out, part < length ? "?=\r\n " : "?=");
		text += part;
		length -= part;
	}
}

static void append_subject(struct buffer *out, const char *subject)
{
	struct buffer line = { 0 };
	append_line(&line, subject, message_most_subject_bytes);
	const char *text = buffer_string(&line);
	buffer_text(out, "Subject: ");
	if (is_plain(text))
		buffer_text(out, text);
	else
		append_words(out, text);
	buffer_text(out, "\r\n");
	buffer_free(&line);
}

/* Not by strftime, whose names of days and months depend on the locale. */
static void append_date(struct buffer *out, int64_t time_ms)
{
	static const char days[] = "SunMonTueWedThuFriSat",
					  months[] = "JanFebMarAprMayJunJulAugSepOctNovDec";
	time_t time_s = (time_t)(time_ms / 1000);
	struct tm utc;
	gmtime_r(&time_s, &utc);
	buffer_printf(out, "Date: %.3s, %02d %.3s %d %02d:%02d:%02d +0000\r\n", days + 3 * utc.tm_wday,
		utc.tm_mday, months + 3 * utc.tm_mon, utc.tm_year + 1900, utc.tm_hour, utc.tm_min,
		utc.tm_sec);
}

/* ---- text ---- */

/* Appends one byte as quoted-printable and breaks the line before it becomes too long. */
static void append_quoted(struct buffer *out, size_t *column, unsigned char byte, bool encode)
{
	size_t width = encode ? 3 : 1;
	if (*column + width > most_line - 1) {
		buffer_text(out, "=\r\n");
		*column = 0;
	}
	if (encode)
		buffer_printf(out, "=%02X", byte);
	else
		buffer_byte(out, (char)byte);
	*column += width;
}

static void append_text(struct buffer *out, const char *text)
{
	struct buffer valid = { 0 };
	size_t column = 0;
	text_append_valid(&valid, text, strlen(text));
	for (const char *at = buffer_string(&valid); *at; at++) {
		unsigned char byte = (unsigned char)*at;
		if (byte == '\n') {
			buffer_text(out, "\r\n");
			column = 0;
			continue;
		}
		bool ends_line = !at[1] || at[1] == '\n';
		bool encode = byte < ' ' || byte > '~' || byte == '=' || (byte == ' ' && ends_line);
		append_quoted(out, &column, byte, encode);
	}
	buffer_free(&valid);
}

void message_write(struct buffer *out, const struct message *message)
{
	append_date(out, message->time_ms);
	buffer_printf(out, "From: Podium <%s>\r\nTo: <%s>\r\n", message->sender, message->recipient);
	append_subject(out, message->subject);
	buffer_printf(out, "Message-ID: <%s%s>\r\n", message->id, strrchr(message->sender, '@'));
	if (message->unsubscribe)
		buffer_printf(out,
			"List-Unsubscribe: <%s>\r\n"
			"List-Unsubscribe-Post: List-Unsubscribe=One-Click\r\n",
			message->unsubscribe);
	buffer_text(out,
		"Auto-Submitted: auto-generated\r\n"
		"MIME-Version: 1.0\r\n"
		"Content-Type: text/plain; charset=UTF-8\r\n"
		"Content-Transfer-Encoding: quoted-printable\r\n\r\n");
	append_text(out, message->text);
}
