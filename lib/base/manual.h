/* Manual pages, in the language of man(7), from the tables that --help prints. Text may hold
 * anything: it is escaped. */
#ifndef PODIUM_LIB_MANUAL_H
#define PODIUM_LIB_MANUAL_H

#include "lib/buffer.h"

/* The head and the section NAME: `podium-web`, 8, "System administration", "serves Podium's pages".
 */
void manual_begin(
	struct buffer *out, const char *name, int section, const char *volume, const char *purpose);
void manual_section(struct buffer *out, const char *title);
void manual_subsection(
	struct buffer *out, const char *bold, const char *rest); /* a command and its arguments */

/* Text, whose own lines stay; an empty line begins a paragraph. */
void manual_text(struct buffer *out, const char *text);

/* Lines as they stand. */
void manual_lines(struct buffer *out, const char *text);

/* "bold italic" and, indented below it, what it means; `italic` may be "". */
void manual_item(struct buffer *out, const char *bold, const char *italic, const char *meaning);

/* Words of a synopsis. */
void manual_synopsis(struct buffer *out, const char *bold, const char *italic);

#endif
