/* Quotes untrusted text inside a sentence, such as names of zip entries and keys and values of
 * task.yml. */
#ifndef PODIUM_LIB_BASE_QUOTE_H
#define PODIUM_LIB_BASE_QUOTE_H

#include "lib/base/arena.h"

#include <stddef.h>

enum { quote_most_bytes = 80 };

/* The text in double quotes, in the arena. Control characters, NUL and invalid UTF-8 become
 * \xNN. Text over about quote_most_bytes is cut with "...". */
const char *quote_bytes(struct arena *arena, const void *bytes, size_t length);
const char *quote(struct arena *arena, const char *text);

#endif
