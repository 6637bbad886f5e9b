#include "cgi/render/timeline.h"

#include "cgi/render/html.h"
#include "lib/base/format.h"

#include <math.h>

enum {
	most_lanes = 8,
	lane_height = 24,
	bar_height = 20,
	gap_height = 20,  /* of the row with the gaps and their lengths */
	axis_height = 18, /* of the row with the scale */
	most_lengths = 7,
};
/* In percent of the width: of the narrowest bar, of the narrowest bar with a number, and of the
 * length of a gap as text. */
static const double least_bar = .25, least_number = 4, length_width = 14;

struct drawing {
	struct buffer *out;
	const struct timeline *timeline;
	double lane_ends[most_lanes]; /* of the last span in each lane */
	size_t lanes;
	double lengths[most_lengths]; /* the centers of the gaps' lengths so far */
	size_t length_count;
};

static double part_of(const struct drawing *drawing, double ns)
{
	double total = drawing->timeline->total_ns;
	return total > 0 ? fmin(fmax(100 * ns / total, 0), 100) : 0;
}

/* Returns the first lane in which nothing runs. Spans that do not fit share the last lane. */
static size_t take_lane(struct drawing *drawing, const struct timeline_span *span)
{
	size_t lane = 0;
	while (
		lane + 1 < most_lanes && lane < drawing->lanes && drawing->lane_ends[lane] > span->begin_ns)
		lane++;
	if (lane == drawing->lanes)
		drawing->lanes++;
	drawing->lane_ends[lane] = fmax(drawing->lane_ends[lane], span->end_ns);
	return lane;
}

static void draw_text(
	const struct drawing *drawing, const char *class, double x, size_t y, const char *text)
{
	buffer_printf(drawing->out, "<text class=\"%s\" x=\"%.3f%%\" y=\"%zu\">", class, x, y);
	html_text(drawing->out, text);
	buffer_text(drawing->out, "</text>");
}

static void draw_span(struct drawing *drawing, const struct timeline_span *span)
{
	double x = part_of(drawing, span->begin_ns),
		   width = fmax(part_of(drawing, span->end_ns) - x, least_bar);
	size_t y = take_lane(drawing, span) * lane_height;
	format_text time, begin;
	x = fmin(x, 100 - least_bar);
	format_duration_ns(time, span->end_ns - span->begin_ns);
	format_duration_ns(begin, span->begin_ns);
	buffer_printf(drawing->out,
		"<rect class=\"%s\" x=\"%.3f%%\" y=\"%zu\" width=\"%.3f%%\" height=\"%d\"><title>%zu ",
		span->is_main ? "main" : "other", x, y + 2, width, bar_height, span->number);
	html_text(drawing->out, span->label);
	buffer_printf(drawing->out, ": %s, from %s on</title></rect>", time, begin);
	if (width >= least_number) {
		buffer_printf(drawing->out, "<text class=\"%s\" x=\"%.3f%%\" y=\"%zu\">%zu</text>",
			span->is_main ? "on main" : "on other", x + width / 2, y + 16, span->number);
	}
}

static void draw_gap(const struct drawing *drawing, const struct timeline_span *span)
{
	double x = part_of(drawing, span->begin_ns - span->gap_ns),
		   width = part_of(drawing, span->begin_ns) - x;
	format_text length;
	format_duration_ns(length, span->gap_ns);
	buffer_printf(drawing->out,
		"<rect class=\"gap\" x=\"%.3f%%\" y=\"%zu\" width=\"%.3f%%\" height=\"3\"><title>nothing "
		"ran for %s</title></rect>",
		x, drawing->lanes * lane_height, width, length);
}

/* Writes the length below the gap unless it would cover another. */
static void draw_length(struct drawing *drawing, const struct timeline_span *span)
{
	size_t y = drawing->lanes * lane_height + 15;
	double center = part_of(drawing, span->begin_ns - span->gap_ns / 2);
	bool is_first = center<length_width / 2, is_last = center> 100 - length_width / 2;
	format_text length;
	format_duration_ns(length, span->gap_ns);
	center = is_first ? length_width / 2 : is_last ? 100 - length_width / 2 : center;
	for (size_t i = 0; i < drawing->length_count; i++)
		if (fabs(drawing->lengths[i] - center) < length_width)
			return;
	drawing->lengths[drawing->length_count++] = center;
	draw_text(drawing,
		is_first      ? "from"
			: is_last ? "to"
					  : "length",
		is_first      ? 0
			: is_last ? 100
					  : center,
		y, length);
}

/* The longest gaps get their lengths first, because not all may have room. */
static void draw_lengths(struct drawing *drawing)
{
	const struct timeline_span *longest[most_lengths] = { 0 };
	for (size_t i = 0; i < drawing->timeline->count; i++) {
		const struct timeline_span *span = &drawing->timeline->spans[i];
		for (size_t k = 0; k < most_lengths && span && span->gap_ns > 0; k++)
			if (!longest[k] || longest[k]->gap_ns < span->gap_ns) {
				const struct timeline_span *shorter = longest[k];
				longest[k] = span;
				span = shorter;
			}
	}
	for (size_t k = 0; k < most_lengths && longest[k]; k++)
		draw_length(drawing, longest[k]);
}

static size_t find_height(const struct timeline *timeline)
{
	struct drawing drawing = { .timeline = timeline };
	for (size_t i = 0; i < timeline->count; i++)
		take_lane(&drawing, &timeline->spans[i]);
	return drawing.lanes * lane_height + gap_height + axis_height;
}

/* A picture of many spans has a sentence as its text alternative; the table has the rest. */
static void begin_picture(struct drawing *drawing, size_t height)
{
	double gaps_ns = 0;
	size_t gaps = 0;
	format_text total, idle;
	for (size_t i = 0; i < drawing->timeline->count; i++) {
		gaps_ns += drawing->timeline->spans[i].gap_ns;
		gaps += drawing->timeline->spans[i].gap_ns > 0;
	}
	format_duration_ns(total, drawing->timeline->total_ns);
	format_duration_ns(idle, gaps_ns);
	buffer_printf(drawing->out,
		"<svg class=\"timeline\" role=\"img\" width=\"100%%\" height=\"%zu\" "
		"aria-label=\"Timeline of %s: ",
		height, total);
	html_plural(drawing->out, (int64_t)drawing->timeline->count, "node");
	buffer_text(drawing->out, ", ");
	html_plural(drawing->out, (int64_t)gaps, "gap");
	if (gaps)
		buffer_printf(drawing->out, ", %s in total", idle);
	buffer_text(drawing->out, "\">");
}

void html_timeline(struct buffer *out, const struct timeline *timeline)
{
	struct drawing drawing = { .out = out, .timeline = timeline };
	size_t height = find_height(timeline);
	format_text total;
	if (!timeline->count)
		return;
	begin_picture(&drawing, height);
	for (size_t i = 0; i < timeline->count; i++)
		draw_span(&drawing, &timeline->spans[i]);
	for (size_t i = 0; i < timeline->count; i++)
		if (timeline->spans[i].gap_ns > 0)
			draw_gap(&drawing, &timeline->spans[i]);
	draw_lengths(&drawing);
	buffer_printf(out, "<line class=\"axis\" x1=\"0\" x2=\"100%%\" y1=\"%zu\" y2=\"%zu\"/>",
		height - axis_height, height - axis_height);
	format_duration_ns(total, timeline->total_ns);
	draw_text(&drawing, "from", 0, height - 4, "0");
	draw_text(&drawing, "to", 100, height - 4, total);
	buffer_text(out, "</svg>");
}
