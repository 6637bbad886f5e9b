/* Whether Markdown is small enough to render. A few bytes can make a parser produce gigabytes,
 * because it pads short rows of tables and repeats the address of a link at each use. Deep nesting
 * takes long.
 *
 * This module counts without running the parser. Its counts are upper limits for CommonMark with
 * tables. They include `|`, `[` and `>` in code, where these mean nothing, because only a parser
 * could tell; the limits leave room for that. */
#ifndef PODIUM_LIB_BASE_MARKDOWN_SIZE_H
#define PODIUM_LIB_BASE_MARKDOWN_SIZE_H

#include "lib/base/error.h"

#include <stddef.h>

enum {
	markdown_most_bytes = 128 * 1024,
	markdown_most_cells = 20000,      /* of all tables */
	markdown_most_items = 10000,      /* quotes and items of lists, counted by their markers */
	markdown_most_depth = 32,         /* of quotes and lists on one line, and of open brackets */
	markdown_most_expansion = 4 << 20 /* bytes that links by reference may repeat */
};

/* Returns 0 or ERROR_INPUT. The sentence begins in lower case, with the line ("line 7: ...") or
 * "the text", so that callers can put "rules: " or the like before it. */
int markdown_check(const char *text, size_t length, struct error *error);

#endif
