/* Writes manual pages in man(7) macros, from the tables that --help prints. Any text is allowed:
 * these functions escape it. */
#ifndef PODIUM_LIB_BASE_MANUAL_H
#define PODIUM_LIB_BASE_MANUAL_H

#include "lib/base/buffer.h"

/* The header and the section NAME: `podium-web`, 8, "System administration", "serves Podium's
 * pages". */
void manual_begin(
	struct buffer *out, const char *name, int section, const char *volume, const char *purpose);
void manual_section(struct buffer *out, const char *title);
/* a command and its arguments */
void manual_subsection(struct buffer *out, const char *bold, const char *rest);

/* Text that keeps its line breaks. An empty line starts a new paragraph. */
void manual_text(struct buffer *out, const char *text);

/* Preformatted lines. */
void manual_lines(struct buffer *out, const char *text);

/* "bold italic" with the indented meaning below it; `italic` may be "". */
void manual_item(struct buffer *out, const char *bold, const char *italic, const char *meaning);

/* One command and its arguments in a synopsis. */
void manual_synopsis(struct buffer *out, const char *bold, const char *italic);

#endif
