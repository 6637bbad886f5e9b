/* Text of strangers inside a sentence: names of zip entries, keys and values of a task.yml. */
#ifndef PODIUM_LIB_QUOTE_H
#define PODIUM_LIB_QUOTE_H

#include "lib/arena.h"

#include <stddef.h>

enum { quote_most_bytes = 80 };

/* The text in double quotes, in the arena: control characters, NUL and bytes that are not UTF-8 as
 * \xNN, cut with "..." after about quote_most_bytes. */
const char *quote_bytes(struct arena *arena, const void *bytes, size_t length);
const char *quote(struct arena *arena, const char *text);

#endif
