/* The figures of a case, from its blocks. */
#include "statistics_inside.h"

#include <math.h>
#include <stdlib.h>

static double value_of(const struct isolated_block *block, const struct isolated_rule *rule,
	const struct isolated_limits *limits)
{
	cleanup_scratch double *samples = isolated_scratch(block->calls.count);
	isolated_samples(block, rule, limits, samples);
	return rule->block_estimate(values_at(samples, block->calls.count));
}

void isolated_values_of(
	struct isolated_blocks blocks, const struct isolated_rule *rule, double *values)
{
	const struct isolated_limits limits = isolated_limits_of(blocks, rule);
	for (size_t i = 0; i < blocks.count; i++)
		values[i] = value_of(&blocks.at[i], rule, &limits);
}

/* What applies to all calls of a case: limits of the constant and of the judge's own work, and the
 * steady disturbance, which is added. */
struct corrections {
	struct isolated_limits limits;
	double steady_ns;
};

/* Writes the charge of every call of a case into `samples`. Returns how many calls there are. */
static size_t sample_all(struct isolated_blocks blocks, const struct isolated_rule *rule,
	const struct corrections *corrections, double *samples)
{
	size_t count = 0;
	for (size_t i = 0; i < blocks.count; i++) {
		isolated_samples(&blocks.at[i], rule, &corrections->limits, samples + count);
		count += blocks.at[i].calls.count;
	}
	for (size_t i = 0; i < count; i++)
		samples[i] += corrections->steady_ns;
	return count;
}

static void sum_up_corrections(struct isolated_blocks blocks, const struct isolated_rule *rule,
	const struct corrections *corrections, struct isolated_summary *summary)
{
	cleanup_scratch double *constants = isolated_scratch(blocks.count);
	cleanup_scratch double *overruns = isolated_scratch(blocks.count);
	cleanup_scratch double *disturbances = isolated_scratch(blocks.count);
	for (size_t i = 0; i < blocks.count; i++) {
		constants[i] = isolated_constant(&blocks.at[i], rule, &corrections->limits);
		overruns[i] = isolated_overrun(&blocks.at[i], rule, &corrections->limits);
		disturbances[i] = isolated_disturbance(&blocks.at[i], rule);
	}
	summary->constant_ns =
		fmax(1, isolated_median_in_place(constants, blocks.count) - corrections->steady_ns);
	summary->overrun_ns = isolated_center(values_at(overruns, blocks.count));
	summary->disturbance_ns =
		isolated_center(values_at(disturbances, blocks.count)) + corrections->steady_ns;
}

/* The interval comes from the values of the blocks. Too few blocks show none. */
static void sum_up_interval(struct isolated_values values, const struct isolated_rule *rule,
	struct isolated_summary *summary)
{
	const double time_ns = isolated_center(values),
				 half_ns =
					 values.count < isolated_least_blocks ? NAN : isolated_half_width(values, 0.95);
	const struct isolated_noise noise = isolated_charge_noise(time_ns, half_ns, rule);
	summary->surcharge_ns = noise.extra_ns;
	summary->mean_ns = time_ns + noise.extra_ns;
	summary->err_ns =
		hypot(noise.half_ns / isolated_errors_in_half, isolated_process_error(time_ns, rule));
	const double whole_ns = isolated_errors_in_half * summary->err_ns;
	summary->low_ns = isnan(whole_ns) ? NAN : fmax(1, summary->mean_ns - whole_ns);
	summary->high_ns = summary->mean_ns + whole_ns;
}

static void sum_up_time(struct isolated_values values, struct isolated_values samples,
	const struct isolated_rule *rule, struct isolated_summary *summary)
{
	sum_up_interval(values, rule, summary);
	summary->best_ns = isolated_least(values);
	summary->worst_ns = values.at[0];
	for (size_t i = 1; i < values.count; i++)
		summary->worst_ns = fmax(summary->worst_ns, values.at[i]);
	summary->median_ns = isolated_median(samples);
	summary->std_ns = isolated_deviation(samples);
}

struct isolated_summary isolated_summarize(struct isolated_blocks blocks,
	struct isolated_values own, const struct isolated_rule *rule, double *samples)
{
	const struct corrections corrections = { isolated_limits_of(blocks, rule),
		isolated_steady_disturbance(blocks, rule) };
	struct isolated_summary summary = {
		.own_ns = isolated_median(own),
		.runs = sample_all(blocks, rule, &corrections, samples),
		.blocks = blocks.count,
	};
	cleanup_scratch double *values = isolated_scratch(blocks.count);
	isolated_values_of(blocks, rule, values);
	for (size_t i = 0; i < blocks.count; i++)
		values[i] += corrections.steady_ns;
	sum_up_time(values_at(values, blocks.count), values_at(samples, summary.runs), rule, &summary);
	sum_up_corrections(blocks, rule, &corrections, &summary);
	return summary;
}

size_t isolated_thin(double *samples, size_t count, size_t most)
{
	if (count <= most)
		return count;
	for (size_t i = 0; i < most; i++)
		samples[i] = samples[i * count / most];
	return most;
}
