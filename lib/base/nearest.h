/* Names that somebody may have meant who typed another one. */
#ifndef PODIUM_LIB_NEAREST_H
#define PODIUM_LIB_NEAREST_H

#include "lib/arena.h"

#include <stddef.h>

/* How many letters have to be put in, left out, replaced or swapped with their neighbour to turn
 * one name into the other; the case of letters does not count. Names of more than 64 bytes are
 * compared by their first 64. */
size_t nearest_distance(const char *a, const char *b);

/* Those of `names` that are near to `wanted`, the nearest first, at most `most`: a third of its
 * letters may differ, or one contains the other. Names that are as near stand in alphabetical
 * order. */
size_t nearest_names(struct arena *arena, const char *wanted, const char *const *names,
	size_t count, const char **near, size_t most);

#endif
