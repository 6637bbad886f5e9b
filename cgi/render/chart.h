/* Charts of times as inline SVG: axes, scales, and lines that differ in color, dash and shape.
 *
 * A chart fills the width of its container, and style.css sets its height. Positions are
 * percentages and only the lines are stretched, so text keeps its size. Colors come from style.css
 * (.chart) and follow light and dark mode. Without styles the lines are black, with the same dashes
 * and shapes. A chart's text alternative is short, so pages also show the data in a table.
 *
 * The line of the reader, who looks at the page, is thicker, has rings around its points and "you"
 * at its end. Marks are horizontal lines with names, for comparison. */
#ifndef PODIUM_CGI_RENDER_CHART_H
#define PODIUM_CGI_RENDER_CHART_H

#include "lib/base/buffer.h"
#include "lib/base/format.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Line styles: 0 to chart_styles - 1, and chart_record, which is thicker and has no shape. Styles
 * from chart_strong on are gray and thin, except for the reader's own line. */
enum { chart_styles = 10, chart_strong = 3, chart_record = chart_styles };
/* No device resolves shorter times. They are drawn at the axis's end, so that a result of 1 ns does
 * not squeeze all others. */
enum { chart_least_ns = 10 };

struct chart_point {
	double x; /* ms since 1970, or the index of a name, from 0 */
	/* Above 0. If the value is not finite, the point is left out, and the line continues at the
	 * next point. */
	double ns;
};

struct chart_line {
	size_t style;
	const struct chart_point *points; /* ordered by x */
	size_t count;
	bool is_own; /* the reader's own line */
};

struct chart_mark {
	const char *name;
	double ns;
	bool is_bound; /* a lower bound; else a measured time */
};

struct chart {
	const char *id;          /* prefix of the ids inside; unique on its page */
	const char *alternative; /* text alternative */
	const struct chart_line *lines;
	size_t line_count; /* the first line is drawn last, on top */
	/* With `names`, the x axis shows names, and lines join the points. With NULL, the x axis shows
	 * time. A line then keeps its value until its next point, and its last value until the end of
	 * the chart. */
	const char *const *names;
	size_t name_count;
	/* With NULL in `names`: the time axis ends here, in ms since 1970, but never before the last
	 * point. 0: at the last point. */
	double end_ms;
	const struct chart_mark *marks; /* fastest first */
	size_t mark_count;
};

/* Whether a mark is close enough to the lines to be drawn; a distant mark would flatten them. An
 * arrow at the lower edge tells of a distant bound. */
bool chart_has_room(const struct chart *chart, const struct chart_mark *mark);

/* What a reader must know of the axes: " The scale is logarithmic." Begins with a space, or is "".
 */
const char *chart_axes(const struct chart *chart);

/* Thins a falling line to `most` points (at least 2): the first, the last, and the points that fall
 * most relative to the point before. Keeps their order. Returns how many remain. */
size_t chart_thin(struct chart_point *points, size_t count, size_t most);

/* Template filters. html_chart prints nothing when no line has a point. */
void html_chart(struct buffer *out, const struct chart *chart);
/* Prints a short piece of a line with its point shape, for legends. */
void html_chart_key(struct buffer *out, size_t style, bool is_own);
void html_chart_mark_key(struct buffer *out, const struct chart_mark *mark);
/* Prints a bar that covers `part` of the width, from 0 to 1. Prints a broken bar if `part` is above
 * 1, and nothing for NAN. */
void html_chart_bar(struct buffer *out, double part);

#endif
