/* Measures text for a terminal: its columns, the terminal's columns, and whether to use colour. */
#ifndef PODIUM_CLI_PODIUM_DISPLAY_H
#define PODIUM_CLI_PODIUM_DISPLAY_H

#include "lib/base/buffer.h"

#include <stdbool.h>
#include <stddef.h>

/* Counts the columns of UTF-8 without control characters. A wide character takes two, a combining
 * character none. */
size_t display_width(const char *text);

/* Returns the bytes of the longest prefix that fits into `columns`. */
size_t display_prefix(const char *text, size_t columns);

/* Appends the text, cut with "…" if it is wider than `columns`. */
void display_append(struct buffer *out, const char *text, size_t columns);

/* Returns the terminal's columns; 0 if the descriptor is no terminal, so lines may be any length.
 */
size_t display_columns(int descriptor);

/* Whether it is a terminal that understands escape sequences: TERM is set and not "dumb". */
bool display_is_terminal(int descriptor);

/* Whether it is such a terminal and NO_COLOR is not set. */
bool display_wants_colour(int descriptor);

#endif
