/* How far off a measured time may be: its 95 % interval, as pages, files and terminals show it and
 * as ties are decided by it (lib/ranking.h). All in ns; NAN: not known. */
#ifndef PODIUM_LIB_INTERVAL_H
#define PODIUM_LIB_INTERVAL_H

#include <math.h>

/* Of a normal distribution: so many standard errors to either side. */
static const double interval_standard_errors = 1.96;

static inline double interval_half_ns(double err_ns)
{
	return interval_standard_errors * err_ns;
}

/* Of a case: half of the interval that the isolated engine has taken from its blocks, which knows
 * that they are few; where it stored none, that of the standard error. */
static inline double interval_half_of_case_ns(double err_ns, double low_ns, double high_ns)
{
	double half_ns = (high_ns - low_ns) / 2;
	return isfinite(half_ns) ? half_ns : interval_half_ns(err_ns);
}

#endif
