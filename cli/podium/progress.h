/* What goes on right now, on stderr: on a terminal one line that is rewritten and goes in the end, else a line for each
 * step. */
#ifndef PODIUM_CLI_PODIUM_PROGRESS_H
#define PODIUM_CLI_PODIUM_PROGRESS_H

#include <stdbool.h>

struct progress {
	bool is_silent, rewrites;
	char shown[256];         /* the newest */
};

/* `only_terminal`: say nothing where stderr is none. */
struct progress progress_begin(bool only_terminal);
void progress_say(struct progress *progress, const char *format, ...) __attribute__((format(printf, 2, 3)));
void progress_end(struct progress *progress);

#endif
