/* The 95 % confidence interval of a measured time. Pages, files and terminals show it, and
 * lib/ranking/ranking.h decides ties by it. All values are in ns; NAN: unknown. */
#ifndef PODIUM_LIB_BASE_INTERVAL_H
#define PODIUM_LIB_BASE_INTERVAL_H

#include <math.h>
#include <stdbool.h>

/* The half-width of an interval, in errors. A stored err_ns is already so large that this factor
 * gives the interval by Student's t. */
static const double interval_standard_errors = 1.96;

static inline double interval_half_ns(double err_ns)
{
	return interval_standard_errors * err_ns;
}

/* The values are NAN if the interval is not known. half_ns is the figure after "±". No time is
 * below zero, so low_ns is at least 0. */
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

/* Whether the interval of a ratio of two times has bounds that say anything. After too few blocks
 * it reaches from 0 to many times the ratio. */
static inline bool interval_bounds_ratio(double ratio, double low, double high)
{
	const double most_times = 10;
	return isfinite(low) && isfinite(high) && low > 0 && high <= most_times * ratio;
}

/* What people read instead of an interval that is not known. The number is isolated_least_blocks
 * (harness/isolated/statistics.h), which this folder may not include. */
static const char interval_unknown[] = "at least 4 blocks needed";

#endif
