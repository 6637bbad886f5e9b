/* Renders Markdown as HTML that is safe to print without escaping: untrusted task descriptions, and
 * the pages of docs/.
 *
 * It supports CommonMark with tables, strikethrough, bare links and task lists. Raw HTML is shown
 * as text. Links go only to http, https, mailto or relative addresses and carry rel="nofollow
 * noopener". An image becomes a link to it, because pages load nothing from other hosts. A heading
 * `#` gets the level `top_heading` (1 to 6), and deeper headings follow, so that all are below the
 * page's own headings. */
#ifndef PODIUM_CGI_RENDER_MARKDOWN_H
#define PODIUM_CGI_RENDER_MARKDOWN_H

#include "lib/base/buffer.h"

#include <stdbool.h>
#include <stddef.h>

/* Text that markdown_check (lib/base/markdown_size.h) refuses, or that becomes more than 1 MiB of
 * HTML, is printed unrendered. The HTML of a text is kept, so that its next views need no parser.
 */
enum { markdown_most_html_bytes = 1 << 20 };
void markdown_render(struct buffer *out, const char *text, size_t length, int top_heading);

/* Renders a page of docs/. The title, its heading `#`, is left out. Other headings get the id that
 * GitHub gives them, and their text links to it. An image leaves its description: a page
 * loads at most five files. */
struct markdown_page {
	/* Returns the address to print for a link. It lives until the next call. NULL: print the text
	 * without a link. */
	const char *(*address)(void *context, const char *address);
	/* NULL, or called for each heading, the title included. */
	void (*heading)(void *context, int level, const char *text, const char *id);
	/* NULL, or says whether to print an item of a list whose first link has this address ("": it
	 * has no link). A list without items is left out, with its heading. */
	bool (*item)(void *context, const char *address);
	void *context;
};
void markdown_render_page(
	struct buffer *out, const char *text, size_t length, const struct markdown_page *page);

#endif
