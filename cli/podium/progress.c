#include "cli/podium/progress.h"

#include "cli/podium/display.h"
#include "lib/base/text.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

struct progress progress_begin(bool only_terminal)
{
	bool rewrites = display_is_terminal(STDERR_FILENO);
	return (struct progress){ .rewrites = rewrites, .is_silent = only_terminal && !rewrites };
}

/* Cuts the line to the terminal's width, because a line that wraps cannot be rewritten. */
static void write_cut(const char *line)
{
	size_t columns = display_columns(STDERR_FILENO);
	fprintf(stderr, "%.*s", (int)display_prefix(line, columns ? columns - 1 : 79), line);
}

static void clear_lines(struct progress *progress)
{
	if (progress->rewrites && progress->lines)
		fputs(progress->lines > 1 ? "\x1b[J" : "\x1b[K", stderr);
	progress->lines = 0;
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
	cleanup_buffer struct buffer line = { 0 };
	text_append_printable(&line, text);
	if (!progress->rewrites) {
		fprintf(stderr, "%s\n", buffer_string(&line));
		return;
	}
	/* Move the cursor back, so that podium-run's log lines start at the left margin. */
	fputs(progress->lines > 1 ? "\x1b[J" : "\x1b[K", stderr);
	write_cut(buffer_string(&line));
	fputs("\r", stderr);
	progress->lines = 1;
}

void progress_show(struct progress *progress, const char *const *lines, size_t count)
{
	if (!progress->rewrites || !count)
		return;
	count = count > progress_most_lines ? progress_most_lines : count;
	fputs("\x1b[J", stderr);
	for (size_t i = 0; i < count; i++) {
		write_cut(lines[i]);
		fputs(i + 1 < count ? "\n" : "\r", stderr);
	}
	if (count > 1)
		fprintf(stderr, "\x1b[%zuA", count - 1);
	progress->lines = count;
	progress->shown[0] = '\0';
}

void progress_keep(struct progress *progress, const char *format, ...)
{
	cleanup_buffer struct buffer line = { 0 };
	char text[1024];
	va_list arguments;
	va_start(arguments, format);
	vsnprintf(text, sizeof text, format, arguments);
	va_end(arguments);
	if (progress->is_silent)
		return;
	progress_end(progress);
	text_append_printable(&line, text);
	fprintf(stderr, "%s\n", buffer_string(&line));
}

void progress_end(struct progress *progress)
{
	clear_lines(progress);
	progress->shown[0] = '\0';
}

void progress_bar(struct buffer *out, long long done, long long all)
{
	enum { width = 20 };
	long long full = all <= 0 || done <= 0 ? 0 : done >= all ? width : done * width / all;
	buffer_byte(out, '[');
	for (int i = 0; i < width; i++)
		buffer_byte(out, i < full ? '#' : '-');
	buffer_byte(out, ']');
}
