/* The 95 % confidence interval of a measured time. Pages, files and terminals show it, and
 * lib/ranking/ranking.h decides ties by it. All values are in ns; NAN: unknown. */
#ifndef PODIUM_LIB_BASE_INTERVAL_H
#define PODIUM_LIB_BASE_INTERVAL_H

#include <math.h>
#include <stdbool.h>

/* An interval reaches this many errors to both sides of the time. With few blocks Student's t is
 * larger than 1.96; err_ns was enlarged before it was stored, so that this factor gives the right
 * interval all the same. */
static const double interval_standard_errors = 1.96;

static inline double interval_half_ns(double err_ns)
{
	return interval_standard_errors * err_ns;
}

/* An interval whose is_known is false has only NAN. half_ns is the figure after "±". A time is
 * never below zero, so low_ns is at least 0. */
struct interval {
	bool is_known;
	double low_ns, half_ns, high_ns;
};

/* err_ns is NAN if there were too few blocks to estimate it. */
static inline struct interval interval_of(double time_ns, double err_ns)
{
	double half_ns = interval_half_ns(err_ns);
	if (!isfinite(time_ns) || !isfinite(half_ns) || half_ns < 0)
		return (struct interval){ false, NAN, NAN, NAN };
	return (struct interval){ true, fmax(0, time_ns - half_ns), half_ns, time_ns + half_ns };
}

/* Whether the interval of a ratio of two times is narrow enough to be of use. After too few blocks
 * it reaches from 0 to many times the ratio. */
static inline bool interval_bounds_ratio(double ratio, double low, double high)
{
	const double most_times = 10;
	return isfinite(low) && isfinite(high) && low > 0 && high <= most_times * ratio;
}

/* Shown instead of an unknown interval. The number 4 is isolated_least_blocks
 * (harness/isolated/statistics.h), which this folder may not include. */
static const char interval_unknown[] = "at least 4 blocks needed";

#endif
