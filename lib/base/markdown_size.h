/* Whether Markdown is small enough to render. A few bytes can make a parser produce gigabytes. It
 * pads short rows of tables and repeats the address of a link at each use. Deep nesting takes long.
 * The counts here never run the parser and are upper limits for CommonMark with tables.
 * Code and text in which `|`, `[` and `>` mean nothing count too, because only a parser could tell;
 * the limits leave room for that. */
#ifndef PODIUM_LIB_BASE_MARKDOWN_SIZE_H
#define PODIUM_LIB_BASE_MARKDOWN_SIZE_H

#include "lib/base/error.h"

#include <stddef.h>

enum {
	markdown_most_bytes = 128 * 1024,
	markdown_most_cells = 20000,      /* of all tables */
	markdown_most_items = 10000,      /* quotes and items of lists that begin */
	markdown_most_depth = 32,         /* of quotes and lists on one line, and of open brackets */
	markdown_most_expansion = 4 << 20 /* bytes that links by reference may repeat */
};

/* 0, or ERROR_INPUT with a sentence that begins with the line and follows a colon well. */
int markdown_check(const char *text, size_t length, struct error *error);

#endif
