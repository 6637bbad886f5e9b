#include "cgi/render/chart.h"

#include "cgi/render/chart_scale.h"
#include "cgi/render/html.h"
#include "lib/base/scope.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- line styles ---- */

/* A style's dash pattern in pixels and the SVG path of its point shape around the origin.
 * Consecutive styles differ in both, so that readers can tell lines close together apart. */
static const struct style {
	const char *dash, *shape;
	bool hollow;
} STYLES[chart_styles + 1] = {
	{ "none", "M-4 0a4 4 0 1 0 8 0a4 4 0 1 0-8 0z", false },
	{ "7 3", "M-3.5-3.5h7v7h-7z", false },
	{ "2 3", "M0-5l4.6 8.4h-9.2z", false },
	{ "9 3 2 3", "M0-5l5 5l-5 5l-5-5z", false },
	{ "none", "M-4-4l8 8M4-4l-8 8", true },
	{ "4 4", "M-4 0a4 4 0 1 0 8 0a4 4 0 1 0-8 0z", true },
	{ "12 4", "M0 5l4.6-8.4h-9.2z", false },
	{ "2 5", "M-3.5-3.5h7v7h-7z", true },
	{ "9 3 2 3 2 3", "M0-5v10M-5 0h10", true },
	{ "5 2", "M0-5l5 5l-5 5l-5-5z", true },
	[chart_record] = { "none", NULL, false },
};

static const struct style *style_of(size_t style)
{
	return &STYLES[style <= chart_record ? style : chart_record];
}

/* Lines that would only be a tangle of colors: gray and thin. */
static bool is_quiet(size_t style, bool is_own)
{
	return style >= chart_strong && style < chart_styles && !is_own;
}

static int line_width(size_t style, bool is_own)
{
	return is_quiet(style, is_own) ? 1 : style < chart_styles && !is_own ? 2 : 4;
}

/* The reader's own line is solid, because its rings already tell it apart. So are quiet lines, of
 * which dashes would make a tangle. */
static const char *line_dash(size_t style, bool is_own)
{
	return is_own || is_quiet(style, is_own) ? "none" : style_of(style)->dash;
}

static const char *mark_dash(const struct chart_mark *mark)
{
	return mark->is_bound ? "2 3" : "10 3 2 3";
}

static void class_of(struct buffer *out, size_t style, bool is_own)
{
	if (is_quiet(style, is_own))
		buffer_text(out, "quiet");
	else if (style < chart_styles)
		buffer_printf(out, "line-%zu", style + 1);
	else
		buffer_text(out, "record");
}

/* ---- points ---- */

static bool point_is_shown(const struct chart_point *point)
{
	return isfinite(point->x) && isfinite(point->ns) && point->ns > 0;
}

/* Finds the point, other than the first and the last, that improves least on the point before. The
 * improvement is the ratio of their times. */
static size_t least_fall(const struct chart_point *points, size_t count)
{
	size_t least = 1;
	for (size_t i = 2; i + 1 < count; i++)
		if (points[i].ns / points[i - 1].ns > points[least].ns / points[least - 1].ns)
			least = i;
	return least;
}

size_t chart_thin(struct chart_point *points, size_t count, size_t most)
{
	for (; count > most && count > 2; count--) {
		size_t drop = least_fall(points, count);
		memmove(points + drop, points + drop + 1, (count - drop - 1) * sizeof *points);
	}
	return count;
}

/* ---- drawing ---- */

struct drawing {
	struct buffer *out;
	const struct chart *chart;
	struct chart_scale x, y;
};

struct ends {
	double first, last, low, high;
};

/* The range of x and of the times over all lines. If no line has a shown point, low is above
 * high. */
static struct ends ends_of(const struct chart *chart)
{
	struct ends ends = { INFINITY, -INFINITY, INFINITY, -INFINITY };
	for (size_t i = 0; i < chart->line_count; i++)
		for (size_t p = 0; p < chart->lines[i].count; p++) {
			const struct chart_point *point = &chart->lines[i].points[p];
			if (!point_is_shown(point))
				continue;
			ends.first = fmin(ends.first, point->x);
			ends.last = fmax(ends.last, point->x);
			ends.low = fmin(ends.low, point->ns);
			ends.high = fmax(ends.high, point->ns);
		}
	return ends;
}

/* Whether a mark is close enough to the lines to be drawn. On a logarithmic scale, a mark on each
 * side leaves the lines at least half of the height. */
static bool is_near(const struct ends *ends, double ns)
{
	const double least_times = 1.5;
	double times = fmax(least_times, sqrt(ends->high / ends->low));
	return ns >= ends->low / times && ns <= ends->high * times;
}

bool chart_has_room(const struct chart *chart, const struct chart_mark *mark)
{
	struct ends ends = ends_of(chart);
	return is_near(&ends, mark->ns);
}

/* Logarithmic if it has enough ticks, so that the same factor between devices is the same slope. */
static struct chart_scale scale_of_devices(double low, double high)
{
	struct chart_scale scale = { 0 };
	if (high > low)
		scale = chart_scale_logarithmic(low, high);
	return scale.tick_count > 2 ? scale : chart_scale_durations(low, high);
}

/* A line of a logarithmic grid lies below the fastest time. */
static struct chart_scale scale_of_trend(double low, double high)
{
	return chart_scale_durations(high > 5 * low ? chart_round_below(low) : low, high);
}

/* Computes the scales for the lines and the marks near them. Returns false if no point is shown. */
static bool find_scales(struct drawing *drawing)
{
	const struct chart *chart = drawing->chart;
	struct ends ends = ends_of(chart);
	double low = ends.low, high = ends.high;
	for (size_t i = 0; i < chart->mark_count; i++)
		if (is_near(&ends, chart->marks[i].ns)) {
			low = fmin(low, chart->marks[i].ns);
			high = fmax(high, chart->marks[i].ns);
		}
	if (!(ends.low <= ends.high))
		return false;
	if (chart->names && high <= 5 * low) /* no line may lie on the axis of the names */
		low -= .05 * (high - low);
	if (low < chart_least_ns) {
		low = chart_least_ns;
		high = fmax(high, 2 * low);
	}
	drawing->y = chart->names ? scale_of_devices(low, high) : scale_of_trend(low, high);
	/* Leave space of a quarter of a step before the first name and after the last. */
	drawing->x = chart->names
		? (struct chart_scale){ .low = -.25, .high = (double)chart->name_count - .75 }
		: chart_scale_moments(ends.first, fmax(ends.last, chart->end_ms));
	return true;
}

const char *chart_axes(const struct chart *chart)
{
	struct drawing drawing = { .chart = chart };
	if (!find_scales(&drawing))
		return "";
	bool shows_hours = !chart->names && drawing.x.step < chart_day_ms;
	if (drawing.y.is_logarithmic)
		return shows_hours ? " The scale is logarithmic, and times of day are UTC."
						   : " The scale is logarithmic.";
	return shows_hours ? " Times of day are UTC." : "";
}

static double chart_x(const struct drawing *drawing, double x)
{
	return chart_percent(&drawing->x, x);
}

/* Returns the position of a time in percent from the top. */
static double chart_y(const struct drawing *drawing, double ns)
{
	return 100 - chart_percent(&drawing->y, ns);
}

static void draw_y_axis(const struct drawing *drawing)
{
	for (size_t i = 0; i < drawing->y.tick_count; i++) {
		double y = chart_y(drawing, drawing->y.ticks[i]);
		format_text label;
		chart_duration_label(label, &drawing->y, drawing->y.ticks[i]);
		buffer_printf(drawing->out,
			"<line class=\"grid\" x2=\"100%%\" y1=\"%.4g%%\" y2=\"%.4g%%\" stroke=\"#888\" "
			"stroke-width=\".5\"/>",
			y, y);
		buffer_printf(drawing->out,
			"<text x=\"-8\" y=\"%.4g%%\" dy=\".32em\" text-anchor=\"end\">%s</text>", y, label);
	}
}

/* Draws a label below the axis. Near an end of the axis, the label is anchored there so that it is
 * not cut off. */
static void draw_x_label(const struct drawing *drawing, double x, const char *label)
{
	const char *anchor = x < 4 ? "start" : x > 96 ? "end" : "middle";
	buffer_printf(drawing->out,
		"<line class=\"tick\" x1=\"%.4g%%\" x2=\"%.4g%%\" y1=\"100%%\" y2=\"102%%\" "
		"stroke=\"#888\"/>",
		x, x);
	buffer_printf(
		drawing->out, "<text x=\"%.4g%%\" y=\"100%%\" dy=\"2em\" text-anchor=\"%s\">", x, anchor);
	html_text(drawing->out, label);
	buffer_text(drawing->out, "</text>");
}

static void draw_x_axis(const struct drawing *drawing)
{
	const struct chart *chart = drawing->chart;
	for (size_t i = 0; chart->names && i < chart->name_count; i++)
		draw_x_label(drawing, chart_x(drawing, (double)i), chart->names[i]);
	for (size_t i = 0; !chart->names && i < drawing->x.tick_count; i++) {
		format_text label;
		chart_moment_label(label, &drawing->x, drawing->x.ticks[i]);
		draw_x_label(drawing, chart_x(drawing, drawing->x.ticks[i]), label);
	}
}

/* A short name stands right of the plot, where room is left for it; a longer one ends there, above
 * its line. */
static void draw_label(const struct drawing *drawing, double y, const char *class, const char *name)
{
	enum { most_outside = 8 };
	bool is_outside = strlen(name) <= most_outside;
	buffer_printf(drawing->out,
		"<text class=\"%s\" x=\"100%%\" y=\"%.4g%%\" dx=\"%s\" dy=\"%s\" "
		"text-anchor=\"%s\">",
		class, y, is_outside ? ".5em" : "0", is_outside ? ".35em" : "-.4em",
		is_outside ? "start" : "end");
	html_text(drawing->out, name);
	buffer_text(drawing->out, "</text>");
}

static void draw_marks(const struct drawing *drawing)
{
	for (size_t i = 0; i < drawing->chart->mark_count; i++) {
		const struct chart_mark *mark = &drawing->chart->marks[i];
		if (!chart_has_room(drawing->chart, mark))
			continue;
		double y = chart_y(drawing, mark->ns);
		buffer_printf(drawing->out,
			"<line class=\"mark-%s\" x2=\"100%%\" y1=\"%.4g%%\" y2=\"%.4g%%\" "
			"stroke=\"currentColor\" stroke-width=\"2\" stroke-dasharray=\"%s\"/>",
			mark->is_bound ? "bound" : "time", y, y, mark_dash(mark));
	}
}

/* Lines fall from left to right, so the lower left corner has room. Hardly a line is below a bound
 * that is drawn, so its name is there. */
static void draw_bound_label(
	const struct drawing *drawing, const struct chart_mark *mark, bool has_room)
{
	double y = has_room ? chart_y(drawing, mark->ns) : 100;
	buffer_printf(drawing->out,
		"<text class=\"mark-bound\" x=\"%s\" y=\"%.4g%%\" dx=\"%s\" dy=\"%s\"%s>%s",
		has_room ? "100%" : "0", y, has_room ? "0" : ".4em", has_room ? "1em" : "-.4em",
		has_room ? " text-anchor=\"end\"" : "", has_room ? "" : "↓ ");
	html_text(drawing->out, mark->name);
	if (!has_room) {
		format_text time;
		format_duration_ns(time, mark->ns);
		buffer_printf(drawing->out, ", %s", time);
	}
	buffer_text(drawing->out, "</text>");
}

static double own_end(const struct chart *chart)
{
	for (size_t i = 0; i < chart->line_count; i++)
		for (size_t p = chart->lines[i].is_own ? chart->lines[i].count : 0; p-- > 0;)
			if (point_is_shown(&chart->lines[i].points[p]))
				return chart->lines[i].points[p].ns;
	return NAN;
}

/* Names stand above all lines. If a name would cover the previous one or "you", only the legend has
 * it. */
static void draw_names(const struct drawing *drawing)
{
	const struct chart *chart = drawing->chart;
	const double name_height = 7; /* percent */
	double own_ns = chart->names ? NAN : own_end(chart), last_y = INFINITY;
	double own_y = isfinite(own_ns) ? chart_y(drawing, own_ns) : INFINITY;
	if (isfinite(own_ns))
		draw_label(drawing, own_y, "you", "you");
	for (size_t i = 0; i < chart->mark_count; i++) {
		const struct chart_mark *mark = &chart->marks[i];
		bool has_room = chart_has_room(chart, mark);
		if (mark->is_bound) {
			if (has_room || mark->ns < drawing->y.low)
				draw_bound_label(drawing, mark, has_room);
			continue;
		}
		double y = chart_y(drawing, mark->ns);
		if (!has_room || fabs(last_y - y) < name_height || fabs(own_y - y) < name_height)
			continue;
		draw_label(drawing, y, "mark-time", mark->name);
		last_y = y;
	}
}

/* Draws a line in a viewBox of 1000 x 1000 units, which the browser stretches to the size of the
 * chart. */
static void draw_line(const struct drawing *drawing, const struct chart_line *line)
{
	const char *next = "M";
	buffer_text(drawing->out, "<path class=\"");
	class_of(drawing->out, line->style, line->is_own);
	buffer_printf(drawing->out,
		"\" fill=\"none\" stroke=\"currentColor\" stroke-width=\"%d\" stroke-dasharray=\"%s\" "
		"vector-effect=\"non-scaling-stroke\" d=\"",
		line_width(line->style, line->is_own), line_dash(line->style, line->is_own));
	for (size_t i = 0; i < line->count; i++) {
		if (!point_is_shown(&line->points[i]))
			continue;
		double x = 10 * chart_x(drawing, line->points[i].x),
			   y = 10 * chart_y(drawing, line->points[i].ns);
		if (drawing->chart->names || *next == 'M')
			buffer_printf(drawing->out, "%s%.4g %.4g", next, x, y);
		else
			buffer_printf(drawing->out, "H%.4gV%.4g", x, y);
		next = "L";
	}
	buffer_printf(drawing->out, "%s\"/>", !drawing->chart->names && *next == 'L' ? "H1000" : "");
}

/* Draws in reverse order, so that the first line is on top of the others, and the reader's own line
 * on top of all. */
static void for_each_line(const struct drawing *drawing,
	void (*draw)(const struct drawing *drawing, const struct chart_line *line))
{
	const struct chart *chart = drawing->chart;
	for (int own = 0; own <= 1; own++)
		for (size_t i = chart->line_count; i-- > 0;)
			if (chart->lines[i].is_own == own)
				draw(drawing, &chart->lines[i]);
}

static void draw_lines(const struct drawing *drawing)
{
	buffer_text(drawing->out,
		"<svg class=\"lines\" width=\"100%\" height=\"100%\" viewBox=\"0 0 1000 1000\" "
		"preserveAspectRatio=\"none\">");
	for_each_line(drawing, draw_line);
	buffer_text(drawing->out, "</svg>");
}

static void draw_shape(struct buffer *out, const struct style *style)
{
	buffer_printf(out,
		"<path class=\"shape\" d=\"%s\" fill=\"%s\" stroke=\"currentColor\" stroke-width=\"%s\"",
		style->shape, style->hollow ? "none" : "currentColor", style->hollow ? "1.8" : "1");
}

static void define_shapes(const struct drawing *drawing)
{
	bool defined[chart_styles] = { 0 };
	buffer_text(drawing->out, "<defs>");
	for (size_t i = 0; i < drawing->chart->line_count; i++) {
		size_t style = drawing->chart->lines[i].style;
		if (style >= chart_styles || defined[style])
			continue;
		defined[style] = true;
		draw_shape(drawing->out, &STYLES[style]);
		buffer_text(drawing->out, " id=\"");
		html_attribute(drawing->out, drawing->chart->id);
		buffer_printf(drawing->out, "-%zu\"/>", style + 1);
	}
	buffer_text(drawing->out, "</defs>");
}

/* Draws rings around the points of the reader's own line. Without a time axis, "you" stands beside
 * the last point, or above it at the edge. */
static void draw_own(const struct drawing *drawing, const struct chart_line *line)
{
	const struct chart_point *last = NULL;
	for (size_t i = 0; i < line->count; i++) {
		if (!point_is_shown(&line->points[i]))
			continue;
		last = &line->points[i];
		buffer_printf(drawing->out,
			"<circle cx=\"%.4g%%\" cy=\"%.4g%%\" r=\"8\" fill=\"none\" stroke=\"currentColor\" "
			"stroke-width=\"1.5\"/>",
			chart_x(drawing, last->x), chart_y(drawing, last->ns));
	}
	bool has_room = last && chart_x(drawing, last->x) < 90; /* percent */
	if (last && drawing->chart->names)
		buffer_printf(drawing->out,
			"<text class=\"you\" x=\"%.4g%%\" y=\"%.4g%%\" dx=\"%s\" dy=\"%s\" "
			"text-anchor=\"%s\">you</text>",
			chart_x(drawing, last->x), chart_y(drawing, last->ns), has_room ? "1em" : "0",
			has_room ? ".35em" : "-1em", has_room ? "start" : "middle");
}

static void draw_shapes(const struct drawing *drawing, const struct chart_line *line)
{
	if (line->style >= chart_styles)
		return;
	buffer_text(drawing->out, "<g class=\"");
	class_of(drawing->out, line->style, line->is_own);
	buffer_text(drawing->out, "\">");
	for (size_t i = 0; i < line->count; i++) {
		if (!point_is_shown(&line->points[i]))
			continue;
		buffer_text(drawing->out, "<use href=\"#");
		html_attribute(drawing->out, drawing->chart->id);
		buffer_printf(drawing->out, "-%zu\" x=\"%.4g%%\" y=\"%.4g%%\"/>", line->style + 1,
			chart_x(drawing, line->points[i].x), chart_y(drawing, line->points[i].ns));
	}
	if (line->is_own)
		draw_own(drawing, line);
	buffer_text(drawing->out, "</g>");
}

void html_chart(struct buffer *out, const struct chart *chart)
{
	struct drawing drawing = { .out = out, .chart = chart };
	if (!find_scales(&drawing))
		return;
	/* The padding in style.css leaves room for the axes' labels. */
	buffer_printf(out,
		"<svg class=\"chart%s\" role=\"img\" width=\"100%%\" height=\"300\" overflow=\"visible\" "
		"aria-label=\"",
		chart->names ? "" : " over-time");
	html_attribute(out, chart->alternative);
	buffer_text(out, "\">");
	define_shapes(&drawing);
	draw_y_axis(&drawing);
	draw_x_axis(&drawing);
	draw_marks(&drawing);
	draw_lines(&drawing);
	for_each_line(&drawing, draw_shapes);
	draw_names(&drawing);
	buffer_text(out, "</svg>");
}

void html_chart_key(struct buffer *out, size_t style, bool is_own)
{
	const struct style *look = style_of(style);
	buffer_text(out, "<svg class=\"chart-key ");
	class_of(out, style, is_own);
	buffer_printf(out,
		"\" width=\"38\" height=\"14\" aria-hidden=\"true\"><path d=\"M0 7h38\" fill=\"none\" "
		"stroke=\"currentColor\" stroke-width=\"%d\" stroke-dasharray=\"%s\"/>",
		line_width(style, is_own), line_dash(style, is_own));
	if (look->shape) {
		draw_shape(out, look);
		buffer_text(out, " transform=\"translate(19 7)\"/>");
	}
	if (is_own)
		buffer_text(out,
			"<circle cx=\"19\" cy=\"7\" r=\"8\" fill=\"none\" stroke=\"currentColor\" "
			"stroke-width=\"1.5\"/>");
	buffer_text(out, "</svg>");
}

void html_chart_mark_key(struct buffer *out, const struct chart_mark *mark)
{
	buffer_printf(out,
		"<svg class=\"chart-key mark-%s\" width=\"38\" height=\"14\" aria-hidden=\"true\"><path "
		"d=\"M0 7h38\" fill=\"none\" stroke=\"currentColor\" stroke-width=\"2\" "
		"stroke-dasharray=\"%s\"/></svg>",
		mark->is_bound ? "bound" : "time", mark_dash(mark));
}

void html_chart_bar(struct buffer *out, double part)
{
	static const char begin[] =
		"<svg class=\"chart-bar\" width=\"100%\" height=\"12\" aria-hidden=\"true\">";
	if (part > 1 + 1e-9)
		buffer_printf(out,
			"%s<rect width=\"88%%\" height=\"100%%\"/><rect x=\"91%%\" width=\"9%%\" "
			"height=\"100%%\"/></svg>",
			begin);
	else if (isfinite(part))
		buffer_printf(out, "%s<rect width=\"%.4g%%\" height=\"100%%\"/></svg>", begin,
			100 * fmin(fmax(part, 0), 1));
}
