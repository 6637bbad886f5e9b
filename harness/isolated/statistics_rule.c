/* How a case is measured, when it ends, and how noise counts in its time. */
#include "statistics_inside.h"

#include <math.h>

const struct isolated_rule isolated_cuda_rule = {
	.calls = 13,
	.bells = 2,
	.controls = 3,
	.looks = { 12, { 6, 7, 8, 10, 12, 16, 20, 26, 34, 46, 60, 76 } },
	.pair_looks = { 6, { 12, 16, 20, 26, 32, 38 } },
	.enough_s = 20,
	.most_s = 60,
	.most_pairs_s = 60,
	.least_warm_calls = 8,
	.most_warm_calls = 100,
	.warm_s = 0.05,
	.least_calibrations = 12,
	.most_calibrations = 40,
	.calibration_ns = 50,
	.open_before_ns = 20e3,
	.wait_ns = 50e6,
	.empty_ns = 600,
	.process_ns = 200,
	.process_share = 0.0008,
	.overrun_ns = 20e3,
	.overrun_share = 0.15,
	.probe_ns = 3000,
	.ready_ns = 20e6,
	.disturbance_ns = 3000,
	.steady_disturbance_ns = 2000,
	.moved_ns = 500,
	.moved_share = 0.03,
	.half_ns = 400,
	.half_share = 0.01,
	.null_estimate = isolated_center,
	.block_estimate = isolated_center,
};

const struct isolated_rule isolated_cpu_rule = {
	.calls = 10,
	.looks = { 1, { 4 } },
	.pair_looks = { 2, { 2, 4 } },
	.enough_s = 0.5,
	.most_s = 0.5,
	.most_pairs_s = 2,
	.least_warm_calls = 1,
	.most_warm_calls = 1,
	.overrun_ns = INFINITY,
	.probe_ns = INFINITY,
	.ready_ns = INFINITY,
	.disturbance_ns = INFINITY,
	.steady_disturbance_ns = INFINITY,
	.moved_ns = 5000,
	.moved_share = 0.5,
	.half_ns = INFINITY,
	.null_estimate = isolated_least,
	.block_estimate = isolated_tenth,
};

struct isolated_rule isolated_rule_for(const struct isolated_rule *rule, double call_s)
{
	const double long_s = 0.025; /* 6 blocks of 13 calls, the fewest, then take 2 s */
	struct isolated_rule made = *rule;
	if (!rule->most_calibrations || call_s < long_s)
		return made;
	made.calls = 5;
	made.least_warm_calls = 2;
	made.looks = (struct isolated_looks){ 11, { 4, 5, 6, 8, 10, 12, 16, 20, 26, 34, 46 } };
	made.pair_looks = (struct isolated_looks){ 6, { 6, 8, 12, 16, 20, 26 } };
	return made;
}

/* ---- when a calibration ends ---- */

bool isolated_is_calibrated(struct isolated_values deltas, const struct isolated_rule *rule)
{
	if (deltas.count < rule->least_calibrations)
		return false;
	/* Half of a 68 % interval is the standard error. */
	return deltas.count >= rule->most_calibrations
		|| isolated_half_width(deltas, 0.68) <= rule->calibration_ns;
}

/* ---- when a case ends ---- */

size_t isolated_last_look(const struct isolated_looks *looks)
{
	return looks->blocks[looks->count - 1];
}

/* After the last look of the table there is one more, at twice its number of blocks. */
bool isolated_is_look(const struct isolated_looks *looks, size_t blocks)
{
	for (size_t i = 0; i < looks->count; i++)
		if (looks->blocks[i] == blocks)
			return true;
	return blocks >= 2 * isolated_last_look(looks);
}

/* Half of the interval that a case may have with this time. */
static double most_half(double time_ns, const struct isolated_rule *rule)
{
	return rule->half_ns + rule->half_share * time_ns;
}

bool isolated_is_enough(struct isolated_values values, const struct isolated_rule *rule)
{
	/* Below 40 us an interval of 1 % would be narrower than is useful: the constant is off by 0.1
	 * to 0.2 us from job to job, and more blocks cannot show that. */
	const double short_ns = 40e3, allowed_ns = 400, allowed_share = 0.01;
	if (!isolated_is_look(&rule->looks, values.count))
		return false;
	const double time_ns = isolated_center(values);
	if (values.count >= isolated_last_look(&rule->looks))
		return values.count >= 2 * isolated_last_look(&rule->looks)
			|| isolated_half_width(values, 0.95) <= most_half(time_ns, rule);
	const double allowed = time_ns < short_ns ? allowed_ns : allowed_share * time_ns;
	return isolated_half_width(values, isolated_early_level) <= allowed;
}

bool isolated_may_repeat(size_t repeated, size_t blocks)
{
	return repeated < isolated_most_repeats + blocks / 4;
}

bool isolated_are_spoiled(size_t disturbed, size_t blocks)
{
	return 4 * disturbed > blocks;
}

bool isolated_is_long_enough(size_t blocks, double took_s, const struct isolated_rule *rule)
{
	return took_s >= rule->enough_s && blocks >= rule->looks.blocks[0];
}

/* ---- noise ---- */

double isolated_process_error(double time_ns, const struct isolated_rule *rule)
{
	return hypot(rule->process_ns, rule->process_share * time_ns);
}

struct isolated_noise isolated_charge_noise(
	double time_ns, double half_ns, const struct isolated_rule *rule)
{
	const double most = most_half(time_ns, rule);
	const bool is_wide = isfinite(half_ns) && half_ns > most;
	return (struct isolated_noise){ is_wide, is_wide ? half_ns : 0, is_wide ? most : half_ns };
}
