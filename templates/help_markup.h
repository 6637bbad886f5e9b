#ifndef PODIUM_TEMPLATES_HELP_MARKUP_H
#define PODIUM_TEMPLATES_HELP_MARKUP_H
/* What the HTML of a help page needs beyond its Markdown. Each function appends `html`, changed. */
#include "lib/base/arena.h"
#include "lib/base/buffer.h"

/* Tables scroll in a box, and are cards on a phone, where each cell has its column's heading. */
void help_tables(struct buffer *out, struct arena *arena, const char *html);

/* Each block of code gets a button that copies it. */
void help_code(struct buffer *out, const char *html);

/* Short code, and a number and its unit, stay on one line. */
void help_unbroken(struct buffer *out, const char *html);

#endif
