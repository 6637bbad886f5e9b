/* Charts of times as SVG that a page holds inline: axes, scales, and lines that are told apart by
 * colour, dash and shape.
 *
 * A chart is as wide as its place and as high as style.css says; text keeps its size, because
 * positions are percentages and only the lines themselves are stretched. Colours are style.css's
 * (.chart), so they follow light and dark; without styles the lines are black, with the same dashes
 * and shapes. A chart has a text alternative, no more: beside it belongs a table.
 *
 * The reader's own line is thicker, its points have rings, and its end says "you". Marks are level
 * lines with a name: what there is to be compared with. */
#ifndef PODIUM_CGI_CHART_H
#define PODIUM_CGI_CHART_H

#include "lib/buffer.h"
#include "lib/format.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Lines look in as many ways: 0 to chart_styles - 1, and chart_record, which is thicker and has no
 * shape. */
enum { chart_styles = 10, chart_record = chart_styles, chart_most_ticks = 8 };

struct chart_point {
	double x;  /* ms since 1970, or the number of a name, from 0 */
	double ns; /* above 0; a point that is not finite is left out, and the line goes on behind it */
};

struct chart_line {
	size_t style;
	const struct chart_point *points;
	size_t count; /* by rising x */
	bool is_own;  /* the reader's */
};

struct chart_mark {
	const char *name;
	double ns;
	bool is_bound; /* the least that is possible; else a time that was taken */
};

struct chart {
	const char *id;          /* what the ids inside begin with; unique on its page */
	const char *alternative; /* what it shows, for those who do not see it */
	const struct chart_line *lines;
	size_t line_count; /* the first is drawn last, above the others */
	/* Where `names` are given, they are the x axis, and points are joined. Without them it is time,
	 * and a line holds its height until its next point, and the last one until the end of the
	 * chart. */
	const char *const *names;
	size_t name_count;
	const struct chart_mark *marks;
	size_t mark_count; /* the fastest first */
};

/* Whether the chart has room for a mark: one that is far from all lines would press them together.
 */
bool chart_has_room(const struct chart *chart, const struct chart_mark *mark);

/* An axis: its ends, and where it has ticks. */
struct chart_scale {
	double low, high;
	bool is_logarithmic;
	double ticks[chart_most_ticks];
	size_t tick_count;
	double step; /* between ticks; 0: they are not evenly spaced */
};

/* For times from `low` to `high` ns: linear between round numbers; logarithmic where one end is
 * more than five times the other. The ends of a scale are never equal. */
struct chart_scale chart_scale_durations(double low_ns, double high_ns);

/* For moments, in ms since 1970: ticks at round times of day, days, months or years, UTC. */
struct chart_scale chart_scale_moments(double first_ms, double last_ms);

/* Where a value stands between the ends, from 0 to 100. */
double chart_percent(const struct chart_scale *scale, double value);

/* "20 µs", "31.95 µs": with the digits that the scale's step asks for. */
void chart_duration_label(format_text out, const struct chart_scale *scale, double ns);
/* "06:00", "21 Nov", "Nov 2026": as exact as the step; midnight is the name of its day. */
void chart_moment_label(format_text out, const struct chart_scale *scale, double ms);

/* Leaves `most` (2 at least) of the points of a line that falls: the first, the last, and those at
 * which it falls by the largest part. Returns how many are left, in their order. */
size_t chart_thin(struct chart_point *points, size_t count, size_t most);

/* Nothing when no line has a point. Filters of the templates. */
void html_chart(struct buffer *out, const struct chart *chart);
void html_chart_key(struct buffer *out, size_t style,
	bool is_own); /* a piece of the line with its shape, for legends */
void html_chart_mark_key(struct buffer *out, const struct chart_mark *mark);
void html_chart_bar(struct buffer *out,
	double part); /* a bar of this part of the width, 0 to 1; above 1: broken off; NAN: nothing */

#endif
