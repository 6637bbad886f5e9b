/* Shows progress on stderr. A terminal gets a few lines that are rewritten and finally erased; any
 * other output gets a line for each step. */
#ifndef PODIUM_CLI_PODIUM_PROGRESS_H
#define PODIUM_CLI_PODIUM_PROGRESS_H

#include "lib/base/buffer.h"

#include <stdbool.h>
#include <stddef.h>

enum { progress_most_lines = 20 };

struct progress {
	bool is_silent, rewrites;
	size_t lines;    /* number of lines on the terminal; the cursor is at the start of the first */
	char shown[256]; /* the newest text of progress_say */
};

/* `only_terminal`: stay silent if stderr is no terminal. */
struct progress progress_begin(bool only_terminal);
void progress_say(struct progress *progress, const char *format, ...)
	__attribute__((format(printf, 2, 3)));

/* Shows several lines on a terminal; elsewhere does nothing. The caller escapes control characters.
 * Lines that would wrap are cut. */
void progress_show(struct progress *progress, const char *const *lines, size_t count);

/* Prints a line that stays above the rewritten lines. */
void progress_keep(struct progress *progress, const char *format, ...)
	__attribute__((format(printf, 2, 3)));
void progress_end(struct progress *progress);

/* Appends "[#####-----]" for `done` of `all`. */
void progress_bar(struct buffer *out, long long done, long long all);

#endif
