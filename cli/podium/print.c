#include "cli/podium/print.h"

#include "cli/podium/display.h"
#include "cli/podium/podium.h"
#include "lib/base/text.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

/* The most bytes of a line that are printed: nobody reads more. */
enum { most_line_bytes = 1000 };

static void print_line(struct buffer *out, const char *indent, const char *line, size_t length)
{
	buffer_text(out, indent);
	while (length && line[length - 1] == '\r')
		length--;
	size_t left_out =
		length > most_line_bytes ? length - text_utf8_prefix(line, most_line_bytes) : 0;
	length -= left_out;
	for (size_t at = 0, step; at < length; at += step) {
		const char *tab = memchr(line + at, '\t', length - at);
		step = tab ? (size_t)(tab - line) - at : length - at;
		cleanup_buffer struct buffer piece = { 0 };
		buffer_append(&piece, line + at, step);
		text_append_printable(out, buffer_string(&piece));
		buffer_text(out, tab ? "    " : "");
		step += tab != NULL;
	}
	if (left_out)
		buffer_printf(out, "... (%zu bytes more)", left_out);
	buffer_byte(out, '\n');
}

static size_t count_lines(const char *text)
{
	size_t lines = 0;
	for (; *text; text += strcspn(text, "\n"), text += *text == '\n')
		lines++;
	return lines;
}

void print_tail(struct buffer *out, const char *indent, const char *text)
{
	size_t lines = count_lines(text),
		   skipped = lines > print_tail_lines ? lines - print_tail_lines : 0;
	if (skipped)
		buffer_printf(out, "%s(%zu earlier lines left out; --json has them)\n", indent, skipped);
	for (; *text; text += *text == '\n') {
		size_t length = strcspn(text, "\n");
		if (skipped)
			skipped--;
		else
			print_line(out, indent, text, length);
		text += length;
	}
}

void print_fact(struct buffer *out, const char *name, const char *value)
{
	print_padded_fact(out, 10, name, value);
}

void print_padded_fact(struct buffer *out, int width, const char *name, const char *value)
{
	if (!value || !*value)
		return;
	cleanup_buffer struct buffer heading = { 0 };
	text_append_printable(&heading, name);
	buffer_printf(out, "  %-*s ", width, buffer_string(&heading));
	text_append_printable(out, value);
	buffer_byte(out, '\n');
}

void print_text(struct buffer *out, const char *indent, const char *text)
{
	for (; *text; text += *text == '\n') {
		size_t length = strcspn(text, "\n");
		print_line(out, indent, text, length);
		text += length;
	}
}

void print_table(struct buffer *out, struct table *table)
{
	table->most_width = display_columns(STDOUT_FILENO);
	table_write(out, table, "  ");
}

int print_json(const json_t *json)
{
	json_dumpf(json, stdout, JSON_INDENT(1) | (isatty(STDOUT_FILENO) ? JSON_ENSURE_ASCII : 0));
	putchar('\n');
	return podium_done;
}

int print_file(const char *bytes, size_t length)
{
	cleanup_buffer struct buffer text = { 0 };
	if (!isatty(STDOUT_FILENO)) {
		fwrite(bytes, 1, length, stdout);
		return podium_done;
	}
	print_text(&text, "", bytes);
	fputs(buffer_string(&text), stdout);
	return podium_done;
}

int podium_complain(const struct error *error, int code)
{
	text_print_line(stderr, "podium: %s", error->text);
	return code;
}
