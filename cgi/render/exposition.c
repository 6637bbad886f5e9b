#include "cgi/render/exposition.h"

#include "lib/base/format.h"
#include "lib/base/text.h"

#include <stdarg.h>

void exposition_family(struct buffer *out, const char *name, const char *type, const char *help)
{
	buffer_printf(out, "# HELP %s %s\n# TYPE %s %s\n", name, help, name, type);
}

static bool is_plain(const char *value)
{
	for (; *value; value++)
		if (*value < ' ' || *value > '~' || *value == '\\' || *value == '"')
			return false;
	return true;
}

/* Printable text has no newline, so only backslashes and quotes need escaping. */
static void append_value(struct buffer *out, const char *value)
{
	cleanup_buffer struct buffer shown = { 0 };
	if (is_plain(value)) {
		buffer_text(out, value);
		return;
	}
	text_append_printable(&shown, value);
	for (const char *c = buffer_string(&shown); *c; c++) {
		if (*c == '\\' || *c == '"')
			buffer_byte(out, '\\');
		buffer_byte(out, *c);
	}
}

static void append_labels(struct buffer *out, va_list *labels)
{
	const char *between = "{";
	for (const char *name; (name = va_arg(*labels, const char *)); between = ",") {
		const char *value = va_arg(*labels, const char *);
		buffer_text(out, between);
		buffer_text(out, name);
		buffer_text(out, "=\"");
		append_value(out, value ? value : "");
		buffer_byte(out, '"');
	}
	buffer_text(out, *between == ',' ? "} " : " ");
}

void exposition_count(struct buffer *out, const char *name, uint64_t value, ...)
{
	va_list labels;
	va_start(labels, value);
	buffer_text(out, name);
	append_labels(out, &labels);
	format_text text;
	format_count(text, value);
	buffer_text(out, text);
	buffer_byte(out, '\n');
	va_end(labels);
}

void exposition_real(struct buffer *out, const char *name, double value, ...)
{
	va_list labels;
	va_start(labels, value);
	buffer_text(out, name);
	append_labels(out, &labels);
	buffer_printf(out, "%.15g\n", value);
	va_end(labels);
}
