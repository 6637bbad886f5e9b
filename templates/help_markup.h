#ifndef PODIUM_TEMPLATES_HELP_MARKUP_H
#define PODIUM_TEMPLATES_HELP_MARKUP_H
/* Improves the HTML that Markdown gives for a help page. Each function appends a changed copy of
 * `html` to `out`. */
#include "lib/base/arena.h"
#include "lib/base/buffer.h"

/* Puts each table into a box that scrolls. On a phone, each row becomes a card, whose cells have
 * the headings of their columns. */
void help_tables(struct buffer *out, struct arena *arena, const char *html);

/* Adds a button to each block of code, which copies the code. */
void help_code(struct buffer *out, const char *html);

/* Keeps short code on one line, and a number together with its unit. */
void help_unbroken(struct buffer *out, const char *html);

#endif
