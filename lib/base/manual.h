/* Writes manual pages in man(7) macros, from the tables that --help prints. Any text is allowed:
 * these functions escape it. */
#ifndef PODIUM_LIB_BASE_MANUAL_H
#define PODIUM_LIB_BASE_MANUAL_H

#include "lib/base/buffer.h"

/* Writes the page's header and its section NAME. Example: `podium-web`, 8, "System administration",
 * "serves Podium's pages". */
void manual_begin(
	struct buffer *out, const char *name, int section, const char *volume, const char *purpose);
void manual_section(struct buffer *out, const char *title);
/* `bold` is a command and `rest` its arguments */
void manual_subsection(struct buffer *out, const char *bold, const char *rest);

/* Writes text that keeps its line breaks. An empty line starts a new paragraph. */
void manual_text(struct buffer *out, const char *text);

/* Writes preformatted lines. */
void manual_lines(struct buffer *out, const char *text);

/* Writes "bold italic" with the indented meaning below it; `italic` may be "". */
void manual_item(struct buffer *out, const char *bold, const char *italic, const char *meaning);

/* Writes one command (bold) and its arguments (italic) as a line of a synopsis. */
void manual_synopsis(struct buffer *out, const char *bold, const char *italic);

#endif
