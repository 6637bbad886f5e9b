/* Markdown of strangers (task descriptions) as HTML that is safe to print raw.
 *
 * CommonMark with tables, strikethrough, bare links and task lists. Raw HTML is shown as the text
 * that it is. Links go to http, https, mailto or relative addresses only and carry rel="nofollow
 * noopener"; an image becomes a link to it, because pages load nothing from other hosts. Headings
 * are moved below the page's own: `top_heading` is the level that `#` becomes (1 to 6). */
#ifndef PODIUM_CGI_MARKDOWN_H
#define PODIUM_CGI_MARKDOWN_H

#include "lib/buffer.h"

#include <stddef.h>

/* Longer text is printed as it is: the parser's time may grow faster than its input. */
enum { markdown_most_bytes = 128 * 1024 };

void markdown_render(struct buffer *out, const char *text, size_t length, int top_heading);

#endif
