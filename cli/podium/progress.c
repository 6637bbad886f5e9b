#include "cli/podium/progress.h"

#include "lib/buffer.h"
#include "lib/text.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

static bool is_terminal(void)
{
	const char *kind = getenv("TERM");
	return isatty(STDERR_FILENO) && kind && *kind && strcmp(kind, "dumb") != 0;
}

struct progress progress_begin(bool only_terminal)
{
	bool rewrites = is_terminal();
	return (struct progress){ .rewrites = rewrites, .is_silent = only_terminal && !rewrites };
}

/* As much as fits on a line: one that wraps could not be rewritten. */
static int most_columns(void)
{
	struct winsize size;
	bool known = ioctl(STDERR_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 1;
	return known ? size.ws_col - 1 : 79;
}

/* Bytes of the first `columns` characters. */
static int prefix(const char *text, int columns)
{
	int bytes = 0;
	for (; text[bytes]; bytes++)
		if ((text[bytes] & 0xc0) != 0x80 && columns-- == 0)
			break;
	return bytes;
}

void progress_say(struct progress *progress, const char *format, ...)
{
	char text[sizeof progress->shown];
	va_list arguments;
	va_start(arguments, format);
	vsnprintf(text, sizeof text, format, arguments);
	va_end(arguments);
	if (progress->is_silent || strcmp(text, progress->shown) == 0)
		return;
	snprintf(progress->shown, sizeof progress->shown, "%s", text);
	cleanup_buffer struct buffer line = {0};
	text_append_printable(&line, text);
	/* The cursor goes back, so that what podium-run logs in between does not stand behind it. */
	if (progress->rewrites)
		fprintf(stderr, "\x1b[K%.*s\r", prefix(buffer_string(&line), most_columns()), buffer_string(&line));
	else
		fprintf(stderr, "%s\n", buffer_string(&line));
}

void progress_end(struct progress *progress)
{
	if (progress->rewrites && progress->shown[0])
		fputs("\x1b[K", stderr);
	progress->shown[0] = '\0';
}
