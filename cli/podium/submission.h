/* A submission as the server tells it, for people: how it ended, each device's result, the first
 * failing case, the cases of each stage, and the last lines of what was printed. Nothing in it can
 * steer a terminal. */
#ifndef PODIUM_CLI_PODIUM_SUBMISSION_H
#define PODIUM_CLI_PODIUM_SUBMISSION_H

#include "lib/arena.h"
#include "lib/buffer.h"

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>

struct submission_view {
	struct arena *arena;
	const json_t *submission; /* as GET /submissions/{id} answers */
	const char *page;         /* its address; NULL: not told */
	size_t columns;           /* of the terminal; 0: any number */
	bool in_colour;
	bool is_whole; /* with the cases and outputs of what has passed, and how it was measured */
};

void submission_write(struct buffer *out, const struct submission_view *view);

/* The exit code of its verdict; podium_done while it has none. */
int submission_exit_code(const json_t *submission);

#endif
