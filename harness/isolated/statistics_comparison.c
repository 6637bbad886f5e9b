/* How much longer one submission takes than another. */
#include "statistics_inside.h"

#include <math.h>
#include <stdlib.h>

/* Half of the 95 % interval that the process error adds to a comparison, as a logarithm. More
 * blocks cannot show this error. */
static double unseen_difference(double rival_ns, const struct isolated_rule *rule)
{
	return 2 * isolated_process_error(rival_ns, rule) / rival_ns;
}

/* `log_ratio`: the logarithm of the ratio; `half`: half of its interval; `err`: its standard error.
 */
static struct isolated_comparison compare_by(
	double log_ratio, double half, double err, double rival_ns)
{
	/* With one block a side the interval is unknown. Assume a factor of 2. */
	half = isfinite(half) ? half : log(2);
	return (struct isolated_comparison){
		.ratio = exp(log_ratio),
		.low = exp(log_ratio - half),
		.high = exp(log_ratio + half),
		.err = err,
		.rival_ns = rival_ns,
	};
}

/* Returns the logarithm of each pair's ratio, in scratch memory that the caller frees. */
static double *logs_of(struct isolated_values ours, struct isolated_values theirs)
{
	double *logs = isolated_scratch(ours.count);
	for (size_t i = 0; i < ours.count; i++)
		logs[i] = log(ours.at[i] / theirs.at[i]);
	return logs;
}

struct isolated_comparison isolated_in_turns(
	struct isolated_values ours, struct isolated_values theirs, const struct isolated_rule *rule)
{
	cleanup_scratch double *log_ratios = logs_of(ours, theirs);
	const struct isolated_values logs = values_at(log_ratios, ours.count);
	const double rival_ns = isolated_center(theirs);
	return compare_by(isolated_center(logs),
		hypot(isolated_half_width(logs, 0.95), unseen_difference(rival_ns, rule)),
		isolated_standard_error(logs), rival_ns);
}

struct side_time {
	double time_ns, half_ns; /* half of its interval; INFINITY: unknown */
};

static struct side_time time_of_side(
	struct isolated_values values, const struct isolated_rule *rule)
{
	const double time_ns = isolated_center(values);
	const struct isolated_noise noise =
		isolated_charge_noise(time_ns, isolated_half_width(values, 0.95), rule);
	return (struct side_time){ time_ns + noise.extra_ns, noise.half_ns };
}

struct isolated_comparison isolated_apart(
	struct isolated_values ours, struct isolated_values theirs, const struct isolated_rule *rule)
{
	const struct side_time our = time_of_side(ours, rule), their = time_of_side(theirs, rule);
	const double process = unseen_difference(their.time_ns, rule);
	struct isolated_comparison apart = compare_by(log(our.time_ns / their.time_ns),
		hypot(hypot(our.half_ns / our.time_ns, their.half_ns / their.time_ns), process),
		hypot(isolated_standard_error(ours) / our.time_ns,
			isolated_standard_error(theirs) / their.time_ns),
		their.time_ns);
	apart.is_apart = true;
	return apart;
}

/* Half of the interval, as a logarithm. */
static double half_of(struct isolated_comparison one)
{
	return log(one.high / one.low) / 2;
}

struct isolated_comparison isolated_compared(
	struct isolated_comparison in_turns, struct isolated_comparison apart)
{
	const double drift = 0.01; /* of a machine within a run, as a logarithm */
	const double turns_half = half_of(in_turns), apart_half = half_of(apart);
	if (!isolated_agree(in_turns, apart) || turns_half > fmax(drift, apart_half)) {
		const double half = hypot(apart_half, drift);
		apart.low = apart.ratio * exp(-half);
		apart.high = apart.ratio * exp(half);
		return apart;
	}
	const bool is_apart_nearer = fabs(log(apart.ratio)) < fabs(log(in_turns.ratio));
	struct isolated_comparison found = is_apart_nearer ? apart : in_turns;
	found.low = fmin(in_turns.low, apart.low);
	found.high = fmax(in_turns.high, apart.high);
	return found;
}

bool isolated_agree(struct isolated_comparison one, struct isolated_comparison other)
{
	return one.low <= other.high && other.low <= one.high;
}

bool isolated_is_decided(
	struct isolated_values ours, struct isolated_values theirs, const struct isolated_rule *rule)
{
	const double equal_within = 0.0025; /* as a logarithm */
	if (ours.count >= isolated_last_look(&rule->pair_looks))
		return true;
	if (!isolated_is_look(&rule->pair_looks, ours.count))
		return false;
	cleanup_scratch double *log_ratios = logs_of(ours, theirs);
	const struct isolated_values logs = values_at(log_ratios, ours.count);
	const double half = isolated_half_width(logs, isolated_early_level);
	return half <= equal_within
		|| fabs(isolated_center(logs))
		> hypot(half, unseen_difference(isolated_center(theirs), rule));
}
