/* Shared by the files of the statistics. */
#ifndef PODIUM_ISOLATED_STATISTICS_INSIDE_H
#define PODIUM_ISOLATED_STATISTICS_INSIDE_H

#include "statistics.h"

/* ---- scratch memory ---- */

/* Memory for so many numbers. The caller frees it, usually by cleanup_scratch. */
double *isolated_scratch(size_t count);
void isolated_free_scratch(double **scratch);

#define cleanup_scratch __attribute__((cleanup(isolated_free_scratch)))

static inline struct isolated_values values_at(const double *at, size_t count)
{
	return (struct isolated_values){ .at = at, .count = count };
}

/* The median; sorts the values. */
double isolated_median_in_place(double *values, size_t count);

/* ---- what a rule allows ---- */

/* After how many blocks the last look is. */
size_t isolated_last_look(const struct isolated_looks *looks);

/* The confidence level of the interval at a look before the last. */
static const double isolated_early_level = 0.99;

/* The standard deviation of what a process adds to a time, from job to job: no number of blocks
 * shows it. */
double isolated_process_error(double time_ns, const struct isolated_rule *rule);

/* How noise counts in a time, so that it does not help in a tie: if half of the interval is larger
 * than allowed, the upper end is the time, with the half that is allowed. */
struct isolated_noise {
	bool is_wide;
	double extra_ns, half_ns; /* added to the mean; half of the interval then */
};

struct isolated_noise isolated_charge_noise(
	double mean_ns, double half_ns, const struct isolated_rule *rule);

#endif
