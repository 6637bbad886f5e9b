#include "cgi/render/csv.h"

#include "lib/base/format.h"

#include <math.h>
#include <stdbool.h>
#include <string.h>

static bool begins_record(const struct buffer *out)
{
	return !out->length || out->data[out->length - 1] == '\n';
}

static void begin_field(struct buffer *out)
{
	if (!begins_record(out))
		buffer_byte(out, ',');
}

/* Writes an empty first field of a line as two quotes. Without them, begins_record would take the
 * next field for the first one, and the line would lack a field. */
static void empty_field(struct buffer *out)
{
	buffer_text(out, begins_record(out) ? "\"\"" : ",");
}

static void append_quoted(struct buffer *out, const char *text)
{
	buffer_byte(out, '"');
	for (; *text; text++) {
		if (*text == '"')
			buffer_byte(out, '"');
		buffer_byte(out, *text);
	}
	buffer_byte(out, '"');
}

void csv_text(struct buffer *out, const char *text)
{
	cleanup_buffer struct buffer value = { 0 };
	if (!*text) {
		empty_field(out);
		return;
	}
	if (strchr("=+-@\t\r", *text))
		buffer_byte(&value, '\'');
	buffer_text(&value, text);
	begin_field(out);
	if (strpbrk(text, "\",\r\n"))
		append_quoted(out, buffer_string(&value));
	else
		buffer_text(out, buffer_string(&value));
}

void csv_integer(struct buffer *out, int64_t number)
{
	format_text text;
	format_integer(text, number);
	begin_field(out);
	buffer_text(out, text);
}

void csv_real(struct buffer *out, double number)
{
	format_text text;
	if (!isfinite(number)) {
		empty_field(out);
		return;
	}
	begin_field(out);
	format_real(text, number);
	buffer_text(out, text);
}

void csv_end_line(struct buffer *out)
{
	buffer_text(out, "\r\n");
}
