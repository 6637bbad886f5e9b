/* Private to cgi/render: the axes of charts, where they begin and end, their ticks and labels. */
#ifndef PODIUM_CGI_RENDER_CHART_SCALE_H
#define PODIUM_CGI_RENDER_CHART_SCALE_H

#include "lib/base/format.h"

#include <stdbool.h>
#include <stddef.h>

enum { chart_most_ticks = 8, chart_day_ms = 86400000 };

/* An axis: the values at its ends, and its ticks. */
struct chart_scale {
	double low, high;
	bool is_logarithmic;
	double ticks[chart_most_ticks];
	size_t tick_count;
	double step; /* between ticks; 0: not evenly spaced */
};

/* A scale for times: linear between round numbers, or logarithmic when high_ns is above five times
 * low_ns. The ends of a scale are never equal. */
struct chart_scale chart_scale_durations(double low_ns, double high_ns);

/* Logarithmic, with a margin beyond both ends. */
struct chart_scale chart_scale_logarithmic(double low_ns, double high_ns);

/* The greatest value below `ns` at which a logarithmic scale may have a tick. */
double chart_round_below(double ns);

/* A scale for moments in ms since 1970: ticks at round times of day, days, months or years, UTC. */
struct chart_scale chart_scale_moments(double first_ms, double last_ms);

/* The position of a value between the ends, from 0 to 100. */
double chart_percent(const struct chart_scale *scale, double value);

/* "20 µs", "31.95 µs": with the digits that the scale's step needs. */
void chart_duration_label(format_text out, const struct chart_scale *scale, double ns);
/* "06:00", "21 Nov", "Nov 2026": as exact as the step; midnight shows the date. */
void chart_moment_label(format_text out, const struct chart_scale *scale, double ms);

#endif
