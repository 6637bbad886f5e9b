/* What goes on right now, on stderr: on a terminal a few lines that are rewritten and go in the
 * end, else a line for each step. */
#ifndef PODIUM_CLI_PODIUM_PROGRESS_H
#define PODIUM_CLI_PODIUM_PROGRESS_H

#include "lib/buffer.h"

#include <stdbool.h>
#include <stddef.h>

enum { progress_most_lines = 20 };

struct progress {
	bool is_silent, rewrites;
	size_t lines;    /* that stand there, the cursor at the beginning of the first */
	char shown[256]; /* the newest that progress_say said */
};

/* `only_terminal`: say nothing where stderr is none. */
struct progress progress_begin(bool only_terminal);
void progress_say(struct progress *progress, const char *format, ...)
	__attribute__((format(printf, 2, 3)));

/* Several lines at once, only on a terminal: elsewhere nothing happens. None may hold what steers a
 * terminal; each is cut where it would wrap. */
void progress_show(struct progress *progress, const char *const *lines, size_t count);

/* A line that stays, above what is rewritten; elsewhere a line like any. */
void progress_keep(struct progress *progress, const char *format, ...)
	__attribute__((format(printf, 2, 3)));
void progress_end(struct progress *progress);

/* Appends "[#####-----]" for `done` of `all`. */
void progress_bar(struct buffer *out, long long done, long long all);

#endif
