/* Shared by the files of the statistics. */
#ifndef PODIUM_ISOLATED_STATISTICS_INSIDE_H
#define PODIUM_ISOLATED_STATISTICS_INSIDE_H

#include "statistics.h"

/* ---- scratch memory ---- */

/* Memory for `count` numbers. The caller frees it, usually by cleanup_scratch. */
double *isolated_scratch(size_t count);
void isolated_free_scratch(double **scratch);

#define cleanup_scratch __attribute__((cleanup(isolated_free_scratch)))

static inline struct isolated_values values_at(const double *at, size_t count)
{
	return (struct isolated_values){ .at = at, .count = count };
}

/* The center of the values, and the center of their distances from it. */
struct isolated_usual isolated_usual_of(struct isolated_values values);

/* The median; sorts the values. */
double isolated_median_in_place(double *values, size_t count);

/* ---- what a rule allows ---- */

/* The number of blocks at the last look. */
size_t isolated_last_look(const struct isolated_looks *looks);

/* The confidence level of the interval at a look before the last. */
static const double isolated_early_level = 0.99;

/* err_ns is half of the 95 % interval divided by this number, which is right for a normal
 * distribution. So everyone who multiplies an error by 1.96 gets exactly that half, although
 * Student's t is larger. */
static const double isolated_errors_in_half = 1.96;

/* The standard deviation of the process error: each process makes all its times a little longer or
 * shorter. More blocks in one job cannot show this error. */
double isolated_process_error(double time_ns, const struct isolated_rule *rule);

/* If half of the interval is larger than the rule allows, the upper end of the interval counts as
 * the time, and the allowed half as its half. So noise does not help a submission to a tie. */
struct isolated_noise {
	bool is_wide;
	double extra_ns, half_ns; /* what to add to the time; half of the resulting interval */
};

struct isolated_noise isolated_charge_noise(
	double time_ns, double half_ns, const struct isolated_rule *rule);

#endif
