#include "templates/help_markup.h"
#include "lib/base/scope.h"
#include "lib/base/text.h"

#include <ctype.h>
#include <string.h>

/* ---- tables ---- */

enum { most_columns = 12 };

/* Appends the text of a cell as the value of an attribute. */
static void append_label(struct buffer *out, const char *cell, size_t length)
{
	bool is_first = true;
	for (size_t i = 0; i < length; i++)
		if (cell[i] == '<') {
			i += strcspn(cell + i, ">");
		} else {
			if (cell[i] != '?') /* a colon follows */
				buffer_byte(out, is_first ? (char)toupper((unsigned char)cell[i]) : cell[i]);
			is_first = false;
		}
}

/* Appends the start tag of a row's cell. The first cell is the row's heading. */
static void print_cell(struct buffer *out, const char *label, bool is_first, bool is_number)
{
	buffer_printf(out, "<%s%s", is_first ? "th scope=\"row\"" : "td",
		is_number && !is_first ? " class=\"number\"" : "");
	if (*label)
		buffer_printf(out, " data-label=\"%s\"", label);
	buffer_text(out, ">");
}

/* How the headings end without which a row's first cell means nothing, as in "exit code | 0". */
static const char *const INCOMPLETE[] = { " change", " code", " contains", " leaves", " of",
	" ratios", " takes", " with" };

/* Whether the cells of a column need the column's heading beside them on a phone. In a table of two
 * columns, a heading of one word is not needed. */
static bool is_labelled(const char *label, size_t column, size_t columns)
{
	if (column > 0)
		return columns > 2 || strchr(label, ' ');
	for (size_t i = 0; i < COUNT(INCOMPLETE); i++)
		if (text_ends_with(label, INCOMPLETE[i]))
			return true;
	return false;
}

static void print_table(
	struct buffer *out, struct arena *arena, size_t number, const char *html, const char *end)
{
	const char *labels[most_columns];
	size_t columns = 0, column = 0;
	buffer_printf(out,
		"<div class=\"scroll\" role=\"region\" aria-label=\"Table %zu\" tabindex=\"0\">\n"
		"<table class=\"table stack\">",
		number);
	html = strchr(html, '>') + 1;
	while (html < end) {
		size_t length = strcspn(html, "<");
		buffer_append(out, html, length);
		html += length;
		size_t tag = strcspn(html, ">") + 1;
		bool is_number = strncmp(html + 3, " class=\"right\"", 14) == 0;
		if (strncmp(html, "<th", 3) == 0 && (html[3] == '>' || html[3] == ' ')) {
			cleanup_buffer struct buffer label = { 0 };
			append_label(&label, html + tag, (size_t)(strstr(html, "</th>") - html) - tag);
			if (columns < most_columns)
				labels[columns++] = arena_strdup(arena, buffer_string(&label));
			buffer_printf(out, "<th scope=\"col\"%s>", is_number ? " class=\"number\"" : "");
		} else if (strncmp(html, "<tr>", 4) == 0) {
			column = 0;
			buffer_append(out, html, tag);
		} else if (strncmp(html, "<td", 3) == 0) {
			const char *label = column < columns ? labels[column] : "";
			print_cell(
				out, is_labelled(label, column, columns) ? label : "", column == 0, is_number);
		} else if (strncmp(html, "</td>", 5) == 0) {
			buffer_text(out, column++ ? "</td>" : "</th>");
		} else {
			buffer_append(out, html, tag);
		}
		html += tag;
	}
	buffer_text(out, "</div>\n");
}

void help_tables(struct buffer *out, struct arena *arena, const char *html)
{
	size_t number = 1;
	for (const char *table; (table = strstr(html, "<table"));) {
		const char *end = strstr(table, "</table>") + strlen("</table>");
		buffer_append(out, html, (size_t)(table - html));
		print_table(out, arena, number++, table, end);
		html = end;
	}
	buffer_text(out, html);
}

/* ---- code ---- */

void help_code(struct buffer *out, const char *html)
{
	size_t number = 1;
	for (const char *code; (code = strstr(html, "<pre"));) {
		const char *end = strstr(code, "</pre>") + strlen("</pre>");
		buffer_append(out, html, (size_t)(code - html));
		buffer_printf(out,
			"<div class=\"snippet\"><pre id=\"code-%zu\"%.*s\n<button type=\"button\" "
			"class=\"button small\" data-copy=\"code-%zu\" hidden>Copy</button></div>",
			number, (int)(end - code - 4), code + 4, number);
		number++;
		html = end;
	}
	buffer_text(out, html);
}

/* ---- line breaks ---- */

enum { most_unbroken_characters = 24 };

static const char *const UNITS[] = { "%", "ns", "µs", "ms", "s", "min", "h", "B", "kB", "KiB", "MB",
	"MiB", "GB", "GiB", "px" };

static bool is_unit(const char *text)
{
	for (size_t i = 0; i < COUNT(UNITS); i++) {
		size_t length = strlen(UNITS[i]);
		if (strncmp(text, UNITS[i], length) == 0 && !isalnum((unsigned char)text[length]))
			return true;
	}
	return false;
}

/* The style sheet keeps code in a sentence on one line. Allows a line break in long code after each
 * space, "/", "(" and ",", but not inside "//". */
static void print_inline_code(struct buffer *out, const char *html, const char *end)
{
	size_t characters = 0;
	for (const char *at = html; at < end; at++) {
		characters += ((unsigned char)*at & 0xc0) != 0x80; /* the first byte of a character */
		if (*at == '&')
			at += strcspn(at, ";");
	}
	for (; html < end; html++) {
		buffer_byte(out, *html);
		bool is_address = *html == '/' && (html[1] == '/' || html[-1] == '/');
		if (characters > most_unbroken_characters && strchr(" /(,", *html) && !is_address)
			buffer_text(out, "<wbr>");
	}
}

void help_unbroken(struct buffer *out, const char *html)
{
	static const char less[] = "&lt;"; /* of "< 0.5 µs" */
	while (*html) {
		const char *end = html + 1;
		if (strncmp(html, "<pre", 4) == 0) {
			end = strstr(html, "</pre>");
		} else if (strncmp(html, "<code>", 6) == 0) {
			end = strstr(html, "</code>");
			buffer_text(out, "<code>");
			print_inline_code(out, html + 6, end);
			html = end;
		} else if (*html == '<') {
			end = strchr(html, '>');
		} else if (isdigit((unsigned char)*html) && isspace((unsigned char)html[1])
			&& is_unit(html + 2)) {
			buffer_printf(out, "%c\u00a0", *html);
			html = end = html + 2;
		} else if (strncmp(html, less, strlen(less)) == 0
			&& isspace((unsigned char)html[strlen(less)])) {
			buffer_printf(out, "%s\u00a0", less);
			html = end = html + strlen(less) + 1;
		}
		buffer_append(out, html, (size_t)(end - html));
		html = end;
	}
}
