#include "cgi/render/chart_scale.h"

#include "lib/base/scope.h"
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

/* ---- durations ---- */

/* The smallest 1, 2 or 5 times a power of ten that is not below `least`. */
static double round_step(double least)
{
	static const double steps[] = { 1, 2, 5, 10 };
	double power = pow(10, floor(log10(least)));
	for (size_t i = 0; i < COUNT(steps); i++)
		if (steps[i] * power >= least * (1 - 1e-9))
			return steps[i] * power;
	return 10 * power;
}

static struct chart_scale linear_scale(double low, double high)
{
	enum { most_steps = 5 };
	struct chart_scale scale = { 0 };
	if (high - low < low * 1e-6) { /* all values are equal: center them */
		low *= .99;
		high *= 1.01;
	}
	scale.step = round_step((high - low) / most_steps);
	double first = floor(low / scale.step + 1e-9), last = ceil(high / scale.step - 1e-9);
	scale.low = first * scale.step;
	scale.high = last * scale.step;
	for (double at = first; at <= last && scale.tick_count < chart_most_ticks; at++)
		scale.ticks[scale.tick_count++] = at * scale.step;
	return scale;
}

static const double MANY[] = { 1, 1.5, 2, 3, 4, 5, 7 };

/* The greatest of MANY times a power of ten that is not above `ns`. */
double chart_round_below(double ns)
{
	double power = pow(10, floor(log10(ns))), below = power;
	for (size_t i = 0; i < COUNT(MANY) && MANY[i] * power <= ns; i++)
		below = MANY[i] * power;
	return below;
}

/* Makes the scale's ticks: `multiples` of every `every`-th power of ten. Returns false if there
 * would be too many. */
static bool logarithmic_ticks(
	struct chart_scale *scale, const double *multiples, size_t count, int every)
{
	scale->tick_count = 0;
	for (int power = (int)floor(log10(scale->low) / every) * every; power <= log10(scale->high);
		 power += every)
		for (size_t i = 0; i < count; i++) {
			double tick = multiples[i] * pow(10, power);
			if (tick < scale->low || tick > scale->high)
				continue;
			if (scale->tick_count == chart_most_ticks - 1)
				return false;
			scale->ticks[scale->tick_count++] = tick;
		}
	return true;
}

struct chart_scale chart_scale_logarithmic(double low, double high)
{
	static const double multiples[] = { 1, 2, 5 };
	double margin = pow(high / low, .04);
	struct chart_scale scale = {
		.low = low / margin, .high = high * margin, .is_logarithmic = true
	};
	if (!logarithmic_ticks(&scale, MANY, COUNT(MANY), 1)
		&& !logarithmic_ticks(&scale, multiples, COUNT(multiples), 1))
		for (int every = 1; !logarithmic_ticks(&scale, multiples, 1, every); every++)
			;
	return scale;
}

struct chart_scale chart_scale_durations(double low_ns, double high_ns)
{
	return high_ns > 5 * low_ns ? chart_scale_logarithmic(low_ns, high_ns)
								: linear_scale(low_ns, high_ns);
}

static const struct duration_unit {
	double ns;
	const char *name;
} UNITS[] = {
	{ 1e9, "s" },
	{ 1e6, "ms" },
	{ 1e3, "µs" },
	{ 1, "ns" },
};

void chart_duration_label(format_text out, const struct chart_scale *scale, double ns)
{
	/* All labels of a linear scale have the same unit. On a logarithmic scale, each label has the
	 * unit that suits its value. */
	double of = scale->is_logarithmic ? ns : scale->high;
	size_t unit = 0;
	while (unit + 1 < COUNT(UNITS) && of < UNITS[unit].ns * .9999)
		unit++;
	double step = scale->step / UNITS[unit].ns;
	int digits = step > 0 && step < 1 ? (int)ceil(-log10(step) - 1e-9) : 0;
	if (scale->is_logarithmic)
		snprintf(out, sizeof(format_text), "%.4g %s", ns / UNITS[unit].ns, UNITS[unit].name);
	else
		snprintf(
			out, sizeof(format_text), "%.*f %s", digits, ns / UNITS[unit].ns, UNITS[unit].name);
}

/* ---- moments ---- */

#define SECOND 1e3
#define MINUTE (60 * SECOND)
#define HOUR (60 * MINUTE)
#define DAY (24 * HOUR)
#define MONTH (30 * DAY)
#define YEAR (365 * DAY)

/* Distances between ticks. Ticks with a step of days or less are at multiples of the step since
 * 1970. Steps of weeks are counted from the first Monday of 1970. Steps of months and years follow
 * the calendar. */
static const struct moment_step {
	double ms;
	int months;
	double offset;
} STEPS[] = {
	{ SECOND, 0, 0 },
	{ 5 * SECOND, 0, 0 },
	{ 15 * SECOND, 0, 0 },
	{ 30 * SECOND, 0, 0 },
	{ MINUTE, 0, 0 },
	{ 5 * MINUTE, 0, 0 },
	{ 15 * MINUTE, 0, 0 },
	{ 30 * MINUTE, 0, 0 },
	{ HOUR, 0, 0 },
	{ 3 * HOUR, 0, 0 },
	{ 6 * HOUR, 0, 0 },
	{ 12 * HOUR, 0, 0 },
	{ DAY, 0, 0 },
	{ 2 * DAY, 0, 0 },
	{ 3 * DAY, 0, 0 },
	{ 7 * DAY, 0, 4 * DAY },
	{ 14 * DAY, 0, 4 * DAY },
	{ MONTH, 1, 0 },
	{ 3 * MONTH, 3, 0 },
	{ 6 * MONTH, 6, 0 },
	{ YEAR, 12, 0 },
	{ 2 * YEAR, 24, 0 },
	{ 5 * YEAR, 60, 0 },
	{ 10 * YEAR, 120, 0 },
	{ 50 * YEAR, 600, 0 },
};

static struct tm utc_of(double ms)
{
	time_t seconds = (time_t)floor(ms / 1000);
	struct tm utc;
	gmtime_r(&seconds, &utc);
	return utc;
}

/* The first tick at or after `ms`. */
static double tick_from(const struct moment_step *step, double ms)
{
	if (!step->months)
		return ceil((ms - step->offset) / step->ms) * step->ms + step->offset;
	struct tm utc = utc_of(ms);
	int month = (utc.tm_year * 12 + utc.tm_mon) / step->months * step->months;
	for (;; month += step->months) {
		struct tm first = { .tm_year = month / 12, .tm_mon = month % 12, .tm_mday = 1 };
		double at = (double)timegm(&first) * 1000;
		if (at >= ms)
			return at;
	}
}

struct chart_scale chart_scale_moments(double first_ms, double last_ms)
{
	enum { most_steps = 5 };
	struct chart_scale scale = { .low = first_ms, .high = last_ms };
	if (last_ms - first_ms
		< SECOND) /* a single moment, which may be now: show the hour before it */
		scale.low -= HOUR;
	const struct moment_step *step = STEPS;
	while (step < STEPS + COUNT(STEPS) - 1 && step->ms * most_steps < scale.high - scale.low)
		step++;
	scale.step = step->ms;
	for (double at = tick_from(step, scale.low);
		 at <= scale.high && scale.tick_count < chart_most_ticks; at = tick_from(step, at + 1))
		scale.ticks[scale.tick_count++] = at;
	return scale;
}

void chart_moment_label(format_text out, const struct chart_scale *scale, double ms)
{
	struct tm utc = utc_of(ms);
	bool midnight = !utc.tm_hour && !utc.tm_min && !utc.tm_sec;
	format_text text;
	strftime(text, sizeof text,
		scale->step >= YEAR                  ? "%Y"
			: scale->step >= MONTH           ? "%b %Y"
			: scale->step >= DAY || midnight ? "%e %b"
			: scale->step >= MINUTE          ? "%H:%M"
											 : "%H:%M:%S",
		&utc);
	strcpy(out, text + (text[0] == ' ')); /* "%e" pads with a space */
}

double chart_percent(const struct chart_scale *scale, double value)
{
	double part = scale->is_logarithmic ? log(value / scale->low) / log(scale->high / scale->low)
										: (value - scale->low) / (scale->high - scale->low);
	return 100 * fmin(fmax(part, 0), 1);
}
