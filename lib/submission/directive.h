/* `#!POPCORN` and `//!POPCORN` lines at the head of a submission. */
#ifndef PODIUM_LIB_DIRECTIVE_H
#define PODIUM_LIB_DIRECTIVE_H

#include "lib/arena.h"
#include "lib/error.h"

#include <stddef.h>

struct directives {
	const char *leaderboard; /* NULL: not given */
	const char **gpus;
	size_t gpu_count;
};

/* Reads lines from the first on while they begin with `#` or `//` in column 0; an empty line ends
 * it.
 * `#!POPCORN leaderboard NAME`, `#!POPCORN gpus A B` (`gpu` means the same; spaces, not commas).
 * An unknown, repeated or empty directive is ERROR_INPUT and names its line. */
int directives_parse(
	struct arena *arena, const char *source, struct directives *directives, struct error *error);

#endif
