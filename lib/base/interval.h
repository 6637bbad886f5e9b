/* The 95 % confidence interval of a measured time. Pages, files and terminals show it, and
 * lib/ranking/ranking.h decides ties by it. All values are in ns; NAN: unknown. */
#ifndef PODIUM_LIB_BASE_INTERVAL_H
#define PODIUM_LIB_BASE_INTERVAL_H

#include <math.h>

/* The half-width of a normal distribution's 95 % interval, in standard errors. */
static const double interval_standard_errors = 1.96;

static inline double interval_half_ns(double err_ns)
{
	return interval_standard_errors * err_ns;
}

/* The half-width of one case's interval. The isolated engine stores an interval from low_ns to
 * high_ns, which is wider because a case has only few timed blocks of calls. Cases without such an
 * interval (NAN) use the standard error. */
static inline double interval_half_of_case_ns(double err_ns, double low_ns, double high_ns)
{
	double half_ns = (high_ns - low_ns) / 2;
	return isfinite(half_ns) ? half_ns : interval_half_ns(err_ns);
}

#endif
