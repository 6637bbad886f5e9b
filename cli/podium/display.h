/* How text looks on a terminal: how many columns it takes, how many there are, whether colours are
 * wanted. */
#ifndef PODIUM_CLI_PODIUM_DISPLAY_H
#define PODIUM_CLI_PODIUM_DISPLAY_H

#include "lib/buffer.h"

#include <stdbool.h>
#include <stddef.h>

/* Columns of UTF-8 without control characters: two for wide characters, none for those that combine
 * with the one before. */
size_t display_width(const char *text);

/* Bytes of the longest beginning that takes at most so many columns. */
size_t display_prefix(const char *text, size_t columns);

/* Appends the text, cut with "…" if it takes more than so many columns. */
void display_append(struct buffer *out, const char *text, size_t columns);

/* Columns of the terminal behind the descriptor; 0: it is none, so that lines may have any length.
 */
size_t display_columns(int descriptor);

bool display_is_terminal(int descriptor);  /* one that can be steered: TERM is set and not "dumb" */
bool display_wants_colour(int descriptor); /* and NO_COLOR is not set */

#endif
