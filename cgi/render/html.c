#include "cgi/render/html.h"

#include "lib/base/format.h"
#include "lib/base/rank.h"
#include "lib/base/text.h"
#include "lib/gpu/floor.h"

#include <ctype.h>
#include <string.h>

/* Returns "" for other bytes. Also escapes `'`, so that the result fits in both kinds of quotes. */
static const char *html_entity(char byte)
{
	switch (byte) {
	case '&': return "&amp;";
	case '<': return "&lt;";
	case '>': return "&gt;";
	case '"': return "&quot;";
	case '\'': return "&#39;";
	default: return "";
	}
}

/* Bytes that html_text may not copy: those with entities, control characters of one byte, and the
 * first bytes of longer ones. */
static bool is_special(unsigned char byte)
{
	static const bool special[256] = { ['&'] = true,
		['<'] = true,
		['>'] = true,
		['"'] = true,
		['\''] = true,
		[0 ... 8] = true,
		[11 ... 12] = true,
		[14 ... 31] = true,
		[0x7f] = true,
		[0xc2] = true,
		[0xd8] = true,
		[0xe2] = true };
	return special[byte];
}

static void escape_text(struct buffer *out, const char *text, bool marks)
{
	while (text) {
		size_t plain = 0;
		while (!is_special((unsigned char)text[plain]))
			plain++;
		buffer_append(out, text, plain);
		text += plain;
		if (!*text)
			return;
		size_t mark = marks ? text_append_mark(out, text) : 0;
		const char *entity = html_entity(*text);
		if (!mark && *entity)
			buffer_text(out, entity);
		else if (!mark)
			buffer_byte(out, *text);
		text += mark ? mark : 1;
	}
}

void html_text(struct buffer *out, const char *text)
{
	escape_text(out, text, true);
}

void html_attribute(struct buffer *out, const char *text)
{
	escape_text(out, text, true);
}

void html_sent_back(struct buffer *out, const char *text)
{
	escape_text(out, text, false);
}

void html_url_part(struct buffer *out, const char *text)
{
	for (; text && *text; text++) {
		unsigned char byte = (unsigned char)*text;
		if (isalnum(byte) || strchr("-._~/", byte))
			buffer_byte(out, *text);
		else
			buffer_printf(out, "%%%02X", byte);
	}
}

void url_own(struct buffer *out, const char *path)
{
	/* A path that could name another host becomes "/". Browsers treat a backslash as a slash and
	 * drop tabs and line breaks, so those are encoded. */
	if (!path || path[0] != '/' || path[1] == '/')
		path = "/";
	for (; *path; path++) {
		unsigned char byte = (unsigned char)*path;
		if (byte <= 0x20 || byte >= 0x7f || byte == '\\')
			buffer_printf(out, "%%%02X", byte);
		else
			buffer_byte(out, *path);
	}
}

void html_url(struct buffer *out, const char *path)
{
	cleanup_buffer struct buffer address = { 0 };
	url_own(&address, path);
	html_text(out, address.data);
}

void html_integer(struct buffer *out, int64_t number)
{
	format_text text;
	format_integer(text, number);
	buffer_text(out, text);
}

void html_duration(struct buffer *out, double ns)
{
	format_text text;
	format_duration_ns(text, ns);
	buffer_text(out, text);
}

void html_stopwatch(struct buffer *out, int64_t ms)
{
	format_text text;
	format_stopwatch(text, ms);
	buffer_text(out, text);
}

void html_score(struct buffer *out, double ns, double err_ns, const char *gpu)
{
	format_text text;
	format_score(text, ns, err_ns, floor_reached_ns(gpu, ns));
	html_text(out, text);
}

void html_measured(struct buffer *out, double ns, double err_ns, const char *gpu)
{
	format_text text;
	format_measured(text, ns, err_ns, floor_reached_ns(gpu, ns));
	html_text(out, text);
}

void html_interval(struct buffer *out, struct interval interval)
{
	format_text text;
	format_interval(text, interval);
	buffer_text(out, text);
}

void html_gap(struct buffer *out, double ns, double best_ns)
{
	format_text text;
	format_gap(text, ns, best_ns);
	html_text(out, text);
}

void html_fastest_gap(struct buffer *out, double ns, double fastest_ns)
{
	format_text text;
	format_fastest_gap(text, ns, fastest_ns);
	html_text(out, text);
}

void html_above_gap(struct buffer *out, double ns, double above_ns)
{
	format_text text;
	format_above_gap(text, ns, above_ns);
	html_text(out, text);
}

void html_change_than(struct buffer *out, double ns, double before_ns)
{
	format_text change;
	format_change(change, ns / before_ns);
	buffer_printf(out, "%s than", change);
}

void html_times_faster(struct buffer *out, double ratio)
{
	buffer_printf(out, "%.*f× faster", ratio < 9.995 ? 2 : ratio < 99.95 ? 1 : 0, ratio);
}

void html_points(struct buffer *out, double points)
{
	format_text text;
	int length = snprintf(text, sizeof text, "%.2f", points);
	while (text[length - 1] == '0')
		length--;
	buffer_append(out, text, (size_t)(text[length - 1] == '.' ? length - 1 : length));
}

void html_bytes(struct buffer *out, int64_t bytes)
{
	format_text text;
	format_bytes(text, bytes > 0 ? (uint64_t)bytes : 0);
	buffer_text(out, text);
}

void html_utc(struct buffer *out, int64_t ms)
{
	format_text text;
	format_utc(text, ms);
	buffer_text(out, text);
}

void html_date(struct buffer *out, int64_t ms)
{
	enum { date_length = 10 };
	format_text text;
	format_iso(text, ms);
	buffer_append(out, text, strnlen(text, date_length));
}

void html_iso(struct buffer *out, int64_t ms)
{
	format_text text;
	format_iso(text, ms);
	buffer_text(out, text);
}

void html_relative(struct buffer *out, int64_t ms, int64_t now)
{
	format_text text;
	format_relative(text, ms, now);
	buffer_text(out, text);
}

void html_time(struct buffer *out, int64_t ms, int64_t now)
{
	if (ms == INT64_MIN)
		return;
	buffer_text(out, "<time datetime=\"");
	html_iso(out, ms);
	buffer_text(out, "\" title=\"");
	html_utc(out, ms);
	buffer_text(out, "\">");
	html_relative(out, ms, now);
	buffer_text(out, "</time>");
}

void html_moment(struct buffer *out, int64_t ms)
{
	enum { date_length = 10, clock_length = 8 };
	format_text text;
	format_iso(text, ms);
	if (!*text)
		return;
	buffer_printf(out, "<time datetime=\"%s\">%.*s %.*s</time>", text, date_length, text,
		clock_length, text + date_length + 1);
}

void html_rank(struct buffer *out, int64_t place, bool is_tied)
{
	format_text text;
	format_rank(text, place, is_tied);
	buffer_text(out, text);
}

void html_ordinal(struct buffer *out, int64_t number)
{
	static const char *const endings[] = { "th", "st", "nd", "rd" };
	int64_t last = number % 10, teens = number % 100;
	html_integer(out, number);
	buffer_text(out, last <= 3 && (teens < 11 || teens > 13) ? endings[last] : "th");
}

void html_commands(struct buffer *out, const char *text)
{
	cleanup_buffer struct buffer part = { 0 };
	for (bool is_inside = false;; is_inside = !is_inside) {
		bool is_last = !is_inside && !(strchr(text, '"') && strchr(strchr(text, '"') + 1, '"'));
		size_t length = is_last ? strlen(text) : strcspn(text, "\"");
		buffer_clear(&part);
		buffer_append(&part, text, length);
		html_text(out, buffer_string(&part));
		if (is_last)
			return;
		buffer_text(out, is_inside ? "</code>" : "<code>");
		text += length + 1;
	}
}

void html_plural(struct buffer *out, int64_t count, const char *noun)
{
	html_integer(out, count);
	buffer_byte(out, ' ');
	html_text(out, noun);
	if (count != 1)
		buffer_byte(out, 's');
}

bool html_lines_are_many(const char *code, size_t length)
{
	enum { most_bytes = 1000 * 1000, most_lines = 20000 };
	size_t lines = 0;
	for (size_t i = 0; i < length; i++)
		lines += code[i] == '\n';
	return length > most_bytes || lines > most_lines;
}
