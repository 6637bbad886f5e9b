#include "lib/base/error.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

static int fill_error(struct error *error, int code, const char *field, const char *format,
	va_list arguments) __attribute__((format(printf, 4, 0)));
static int fill_error(
	struct error *error, int code, const char *field, const char *format, va_list arguments)
{
	if (!error)
		return code;
	error->code = code;
	snprintf(error->field, sizeof error->field, "%s", field);
	vsnprintf(error->text, sizeof error->text, format, arguments);
	return code;
}

int fail(struct error *error, int code, const char *format, ...)
{
	va_list arguments;
	va_start(arguments, format);
	fill_error(error, code, "", format, arguments);
	va_end(arguments);
	return code;
}

int fail_field(struct error *error, const char *field, const char *format, ...)
{
	va_list arguments;
	va_start(arguments, format);
	fill_error(error, ERROR_INPUT, field, format, arguments);
	va_end(arguments);
	return ERROR_INPUT;
}

int fail_context(struct error *error, const char *format, ...)
{
	if (!error)
		return ERROR_SYSTEM;
	char prefix[256], rest[sizeof error->text];
	va_list arguments;
	va_start(arguments, format);
	vsnprintf(prefix, sizeof prefix, format, arguments);
	va_end(arguments);
	memcpy(rest, error->text, sizeof rest);
	snprintf(error->text, sizeof error->text, "%s: %.*s", prefix,
		(int)(sizeof error->text - sizeof prefix - 3), rest);
	return error->code;
}
