/* Suggests known names for a mistyped one. */
#ifndef PODIUM_LIB_BASE_NEAREST_H
#define PODIUM_LIB_BASE_NEAREST_H

#include "lib/base/arena.h"

#include <stddef.h>

/* The number of letters to insert, delete, replace or swap with a neighbor to turn one name into
 * the other. Upper and lower case count as equal. Only the first 64 bytes are compared. */
size_t nearest_distance(const char *a, const char *b);

/* Fills `near` with at most `most` of `names` that resemble `wanted`, nearest first, and returns
 * their number. A name resembles it when at most a third of its letters differ, or when one
 * contains the other. Equally near names are in alphabetical order. */
size_t nearest_names(struct arena *arena, const char *wanted, const char *const *names,
	size_t count, const char **near, size_t most);

#endif
