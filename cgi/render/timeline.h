/* A timeline as inline SVG: what ran when, and the gaps in between. It fills the width of its
 * container; positions are percentages, so text keeps its size. Colors come from style.css
 * (.timeline) and follow light and dark mode. The picture leaves out numbers and lengths for which
 * there is no room; pages also show them in a table. */
#ifndef PODIUM_CGI_RENDER_TIMELINE_H
#define PODIUM_CGI_RENDER_TIMELINE_H

#include "lib/base/buffer.h"

#include <stdbool.h>
#include <stddef.h>

struct timeline_span {
	double begin_ns, end_ns;
	double gap_ns; /* of the gap that ends with this span; 0: none */
	size_t number; /* its row in the table */
	const char *label;
	bool is_main;
};

struct timeline {
	const struct timeline_span *spans; /* finite times of at least 0, in order of their begins */
	size_t count;
	double total_ns; /* the latest end */
};

/* A template filter: prints the picture with its text alternative, or nothing without spans. */
void html_timeline(struct buffer *out, const struct timeline *timeline);

#endif
