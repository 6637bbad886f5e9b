/* Prints a submission from the server: its verdict, each device's result, the first failing case,
 * the cases of each stage, and the last lines of output. Control characters are escaped, so they
 * cannot steer the terminal. */
#ifndef PODIUM_CLI_PODIUM_SUBMISSION_H
#define PODIUM_CLI_PODIUM_SUBMISSION_H

#include "lib/base/arena.h"
#include "lib/base/buffer.h"

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>

struct submission_view {
	struct arena *arena;
	const json_t *submission; /* the answer of GET /submissions/{id} */
	const char *page;         /* address of the submission's page; NULL: print no address */
	size_t columns;           /* width of the terminal; 0: no limit */
	bool in_colour;
	bool is_whole; /* also print passed cases, their output, and how they were measured */
};

void submission_write(struct buffer *out, const struct submission_view *view);

/* Returns the exit code of the verdict; podium_done if there is none yet. */
int submission_exit_code(const json_t *submission);

#endif
