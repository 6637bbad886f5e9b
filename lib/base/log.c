#include "lib/base/log.h"

#include "lib/base/buffer.h"
#include "lib/base/scope.h"
#include "lib/base/text.h"

#include <limits.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

enum form { TEXT_LINE, LOGFMT, JSON };
enum { most_line_bytes = PIPE_BUF, most_value_bytes = 96 };

static const char *const FORM_NAMES[] = {
	[TEXT_LINE] = "text", [LOGFMT] = "logfmt", [JSON] = "json"
};

static const struct {
	const char *name;
	bool is_number;
} FIELDS[] = {
	[LOG_REQUEST] = { "request", false },
	[LOG_ROUTE] = { "route", false },
	[LOG_USER] = { "user", true },
	[LOG_WORKER] = { "worker", false },
	[LOG_DEVICE] = { "device", false },
	[LOG_SUBMISSION] = { "submission", true },
	[LOG_JOB] = { "job", true },
	[LOG_FENCE] = { "fence", true },
	[LOG_STAGE] = { "stage", false },
	[LOG_WEBHOOK] = { "webhook", true },
};

static const char *program_name = "podium";
static enum form form = TEXT_LINE;
static _Thread_local char field_values[log_field_count][most_value_bytes];

/* ---- choosing the form ---- */

static void open_log(const char *program, const char *otherwise)
{
	const char *name = getenv("PODIUM_LOG_FORMAT");
	program_name = program;
	if (!name || log_set_format(name, NULL))
		log_set_format(otherwise, NULL);
}

void log_open(const char *program)
{
	open_log(program, "text");
}

void log_open_service(const char *program)
{
	open_log(program, "auto");
}

int log_set_format(const char *name, struct error *error)
{
	if (strcmp(name, "auto") == 0) {
		form = isatty(STDERR_FILENO) ? TEXT_LINE : LOGFMT;
		return 0;
	}
	for (size_t i = 0; i < COUNT(FORM_NAMES); i++)
		if (strcmp(FORM_NAMES[i], name) == 0) {
			form = (enum form)i;
			return 0;
		}
	return fail(
		error, ERROR_INPUT, "log_format must be auto, text, logfmt or json, not \"%.40s\".", name);
}

const char *log_format(void)
{
	return FORM_NAMES[form];
}

/* ---- fields of the current thread ---- */

void log_about(enum log_field field, const char *value)
{
	value = value ? value : "";
	size_t length = strnlen(value, most_value_bytes - 1);
	memcpy(field_values[field], value, length);
	field_values[field][length] = '\0';
}

void log_about_number(enum log_field field, int64_t value)
{
	char digits[24];
	snprintf(digits, sizeof digits, "%lld", (long long)value);
	log_about(field, value ? digits : NULL);
}

/* ---- writing ---- */

/* logfmt and JSON use the same two escapes inside quotes. */
static void append_escaped(struct buffer *out, const char *value)
{
	cleanup_buffer struct buffer shown = { 0 };
	text_append_printable(&shown, value);
	for (const char *c = buffer_string(&shown); *c; c++) {
		if (*c == '"' || *c == '\\')
			buffer_byte(out, '\\');
		buffer_byte(out, *c);
	}
}

static bool is_plain(const char *value)
{
	return *value
		&& strspn(value, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._:/*@+-")
		== strlen(value);
}

static void append_member(struct buffer *line, const char *name, const char *value, bool is_bare)
{
	const char *quote = is_bare ? "" : "\"";
	const char *between = line->length <= 1 ? "" : form == JSON ? "," : " ";
	buffer_printf(line, form == JSON ? "%s\"%s\":%s" : "%s%s=%s", between, name, quote);
	append_escaped(line, value);
	buffer_text(line, quote);
}

static void append_context(struct buffer *line)
{
	for (size_t i = 0; i < COUNT(FIELDS); i++)
		if (field_values[i][0])
			append_member(line, FIELDS[i].name, field_values[i],
				form == JSON ? FIELDS[i].is_number : is_plain(field_values[i]));
}

/* Appends as much of the message as fits into `room` bytes, without splitting a character or an
 * escape. */
static void append_cut(struct buffer *line, struct buffer *message, size_t room)
{
	static const char ellipsis[] = "…";
	if (message->length > room) {
		size_t length = text_utf8_prefix(message->data, room - strlen(ellipsis)), slashes = 0;
		while (slashes < length && message->data[length - 1 - slashes] == '\\')
			slashes++;
		message->data[length - slashes % 2] = '\0';
		message->length = length - slashes % 2;
		buffer_text(message, ellipsis);
	}
	buffer_append(line, buffer_string(message), message->length);
}

static void write_text_line(
	struct buffer *line, const char *stamp, const char *level, const char *text)
{
	cleanup_buffer struct buffer message = { 0 }, context = { 0 };
	text_append_printable(&message, text);
	append_context(&context);
	buffer_printf(line, "%s %s %s: ", stamp, level, program_name);
	append_cut(line, &message, most_line_bytes - line->length - context.length - strlen(" []\n"));
	if (context.length)
		buffer_printf(line, " [%s]", context.data);
}

static void write_member_line(
	struct buffer *line, const char *stamp, const char *level, const char *text)
{
	cleanup_buffer struct buffer message = { 0 };
	append_escaped(&message, text);
	if (form == JSON)
		buffer_byte(line, '{');
	append_member(line, "time", stamp, form == LOGFMT);
	append_member(line, "level", level, form == LOGFMT);
	append_member(line, "program", program_name, form == LOGFMT);
	append_context(line);
	buffer_text(line, form == JSON ? ",\"message\":\"" : " message=\"");
	append_cut(line, &message, most_line_bytes - line->length - strlen("\"}\n"));
	buffer_text(line, form == JSON ? "\"}" : "\"");
}

static void write_line(const char *level, const char *format, va_list arguments)
	__attribute__((format(printf, 2, 0)));
static void write_line(const char *level, const char *format, va_list arguments)
{
	char text[most_line_bytes + 1], seconds[32], stamp[48];
	vsnprintf(text, sizeof text, format, arguments);
	struct timespec now;
	clock_gettime(CLOCK_REALTIME, &now);
	struct tm utc;
	gmtime_r(&now.tv_sec, &utc);
	strftime(seconds, sizeof seconds, "%Y-%m-%dT%H:%M:%S", &utc);
	snprintf(stamp, sizeof stamp, "%s.%03ldZ", seconds, now.tv_nsec / 1000000);
	cleanup_buffer struct buffer line = { 0 };
	(form == TEXT_LINE ? write_text_line : write_member_line)(&line, stamp, level, text);
	buffer_byte(&line, '\n');
	/* One write keeps lines of different threads apart. Errors are ignored, because a full disk
	 * must not stop the program. */
	ssize_t ignored = write(STDERR_FILENO, line.data, line.length);
	(void)ignored;
}

#define DEFINE_LEVEL(function, level) \
	void function(const char *format, ...) \
	{ \
		va_list arguments; \
		va_start(arguments, format); \
		write_line(level, format, arguments); \
		va_end(arguments); \
	}

DEFINE_LEVEL(log_info, "info")
DEFINE_LEVEL(log_warning, "warning")
DEFINE_LEVEL(log_error, "error")
