/* Measures text for a terminal: its columns, the terminal's columns, and whether to use colour. */
#ifndef PODIUM_CLI_PODIUM_DISPLAY_H
#define PODIUM_CLI_PODIUM_DISPLAY_H

#include "lib/base/buffer.h"

#include <stdbool.h>
#include <stddef.h>

/* Counts the columns of UTF-8 text without control characters. A wide character takes two columns,
 * a combining character none. */
size_t display_width(const char *text);

/* Returns the length in bytes of the longest prefix that fits into `columns`. */
size_t display_prefix(const char *text, size_t columns);

/* Appends the text, cut with "…" if it is wider than `columns`. */
void display_append(struct buffer *out, const char *text, size_t columns);

/* Returns the terminal's columns, or 0 if the descriptor is no terminal: lines may then have any
 * length. */
size_t display_columns(int descriptor);

/* Whether the descriptor is a terminal that understands escape sequences: TERM is set and is not
 * "dumb". */
bool display_is_terminal(int descriptor);

/* Whether display_is_terminal() holds and NO_COLOR is unset or empty. */
bool display_wants_colour(int descriptor);

#endif
