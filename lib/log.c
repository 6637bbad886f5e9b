#include "lib/log.h"

#include "lib/buffer.h"
#include "lib/text.h"

#include <stdarg.h>
#include <stdio.h>
#include <time.h>
#include <unistd.h>

static const char *program_name = "podium";

void log_open(const char *program)
{
	program_name = program;
}

static void write_line(const char *level, const char *format, va_list arguments) __attribute__((format(printf, 2, 0)));
static void write_line(const char *level, const char *format, va_list arguments)
{
	char text[4096], stamp[32];
	vsnprintf(text, sizeof text, format, arguments);
	struct timespec now;
	clock_gettime(CLOCK_REALTIME, &now);
	struct tm utc;
	gmtime_r(&now.tv_sec, &utc);
	strftime(stamp, sizeof stamp, "%Y-%m-%dT%H:%M:%S", &utc);
	cleanup_buffer struct buffer line = {0};
	buffer_printf(&line, "%s.%03ldZ %s %s: ", stamp, now.tv_nsec / 1000000, level, program_name);
	text_append_printable(&line, text);
	buffer_byte(&line, '\n');
	/* One write, so that lines of several threads do not mix. A full disk must not stop the program. */
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
