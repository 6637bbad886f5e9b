/* Renders untrusted Markdown (task descriptions) as HTML that is safe to print without escaping.
 *
 * It supports CommonMark with tables, strikethrough, bare links and task lists. Raw HTML is shown
 * as text. Links go only to http, https, mailto or relative addresses and carry rel="nofollow
 * noopener". An image becomes a link to it, because pages load nothing from other hosts. A heading
 * `#` gets the level `top_heading` (1 to 6), and deeper headings follow, so that all are below the
 * page's own headings. */
#ifndef PODIUM_CGI_RENDER_MARKDOWN_H
#define PODIUM_CGI_RENDER_MARKDOWN_H

#include "lib/base/buffer.h"

#include <stddef.h>

/* Longer text is printed unrendered: the parser's time may grow faster than its input. */
enum { markdown_most_bytes = 128 * 1024 };

void markdown_render(struct buffer *out, const char *text, size_t length, int top_heading);

#endif
