/* `#!POPCORN` and `//!POPCORN` lines at the head of a submission. */
#ifndef PODIUM_LIB_SUBMISSION_DIRECTIVE_H
#define PODIUM_LIB_SUBMISSION_DIRECTIVE_H

#include "lib/base/arena.h"
#include "lib/base/error.h"

#include <stddef.h>

struct directives {
	const char *leaderboard; /* NULL: not given */
	const char **gpus;
	size_t gpu_count;
};

/* Reads the directives `#!POPCORN leaderboard NAME` and `#!POPCORN gpus A B`. `gpu` means the same
 * as `gpus`; GPUs are separated by spaces. Directives must be in the first lines, which begin with
 * `#` or `//` in column 0. The first line that begins otherwise, even an empty one, ends them. An
 * unknown, repeated or empty directive is ERROR_INPUT and names its line. */
int directives_parse(
	struct arena *arena, const char *source, struct directives *directives, struct error *error);

#endif
