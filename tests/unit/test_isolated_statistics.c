/* The statistics of the isolated engine: estimates, the charge of a block, the end of a case, and
 * comparisons. Times are in ns. */
#include "harness/isolated/statistics.h"

#include "lib/base/scope.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#define VALUES(...) \
	((struct isolated_values){ (const double[]){ __VA_ARGS__ }, \
		sizeof((const double[]){ __VA_ARGS__ }) / sizeof(double) })

static const struct isolated_rule *const CUDA = &isolated_cuda_rule,
										 *const CPU = &isolated_cpu_rule;
/* The empty kernel's own time in ns. It does not belong to the constant, so every call is charged
 * for it. */
static const double EMPTY = 600;

static void assert_near(double value, double expected, double tolerance)
{
	if (!(fabs(value - expected) <= tolerance))
		fail_msg("%.17g is not within %g of %.17g", value, tolerance, expected);
}

static void assert_is(double value, double expected)
{
	assert_near(value, expected, 1e-9 * fabs(expected));
}

/* Returns normal noise (Box-Muller) from a linear congruential generator with the state `seed`. */
static double gauss(uint64_t *seed)
{
	double uniform[2];
	for (size_t i = 0; i < COUNT(uniform); i++) {
		*seed = *seed * 6364136223846793005u + 1442695040888963407u;
		uniform[i] = ((double)(*seed >> 11) + 0.5) / 9007199254740992.0;
	}
	return sqrt(-2 * log(uniform[0])) * cos(2 * acos(-1) * uniform[1]);
}

/* ---- blocks for the tests ---- */

enum { most_calls = 25, most_blocks = 12 };

/* A block and the memory for its values. */
struct made {
	struct isolated_timing calls[most_calls], null[most_calls];
	double heads[most_calls], null_heads[most_calls], bells[3], controls[5];
	struct isolated_block block;
};

static void fill(struct isolated_values *values, double *at, size_t count, double value)
{
	for (size_t i = 0; i < count; i++)
		at[i] = value;
	*values = (struct isolated_values){ at, count };
}

/* Makes a block whose calls all take `call_ns`. The calls of its null contestant, which runs an
 * empty kernel, all take `null_ns`. */
static void make(struct made *made, size_t count, double call_ns, double null_ns)
{
	const struct isolated_timing usual = {
		.touch_ns = 150e3, .take_ns = 30e3, .head_ns = 70e3, .rest_ns = 60e3, .probed_ns = 6e3
	};
	memset(made, 0, sizeof *made);
	for (size_t i = 0; i < count; i++) {
		made->calls[i] = made->null[i] = usual;
		made->calls[i].elapsed_ns = call_ns;
		made->null[i].elapsed_ns = null_ns;
	}
	made->block.calls = (struct isolated_timings){ made->calls, count };
	made->block.null = (struct isolated_timings){ made->null, count };
	made->block.quiet = isolated_quiet_of(made->block.null);
	made->block.quiet.call_ns = NAN;
}

/* Adds control times: empty kernels took `quiet_ns` before the submission was loaded, and take
 * `control_ns` in the block. */
static void control(struct made *made, size_t count, double quiet_ns, double control_ns)
{
	made->block.quiet.empty_ns = quiet_ns;
	fill(&made->block.controls, made->controls, count, control_ns);
}

/* Notes that calls of the null contestant took `call_ns` before the submission was loaded. */
static void calm(struct made *made, double call_ns)
{
	made->block.quiet.empty_ns = 150e3;
	made->block.quiet.call_ns = call_ns;
}

/* From its call number `first` on, the null contestant is called after the submission and takes
 * `over_ns` longer. */
static void delay_after(struct made *made, size_t first, double over_ns)
{
	for (size_t i = first; i < made->block.null.count; i++) {
		made->null[i].is_after = true;
		made->null[i].elapsed_ns += over_ns;
	}
}

/* Returns what the block is charged in a case of as many blocks as the judge needs. */
static double value_of(const struct made *made, const struct isolated_rule *rule)
{
	struct isolated_block blocks[isolated_least_blocks];
	double values[isolated_least_blocks];
	for (size_t i = 0; i < isolated_least_blocks; i++)
		blocks[i] = made->block;
	isolated_values_of((struct isolated_blocks){ blocks, isolated_least_blocks }, rule, values);
	return values[0];
}

static struct isolated_values null_times(const struct made *made, double *at)
{
	for (size_t i = 0; i < made->block.null.count; i++)
		at[i] = made->null[i].elapsed_ns;
	return (struct isolated_values){ at, made->block.null.count };
}

static double constant_of(const struct made *made)
{
	const struct isolated_limits limits = { INFINITY, INFINITY, INFINITY, INFINITY };
	return isolated_constant(&made->block, CUDA, &limits);
}

static double overrun_of(const struct made *made)
{
	const struct isolated_limits limits =
		isolated_limits_of((struct isolated_blocks){ &made->block, 1 }, CUDA);
	return isolated_overrun(&made->block, CUDA, &limits);
}

/* Returns the figures of a case with `count` blocks like this one. */
static struct isolated_summary summary_of(
	const struct made *made, size_t count, const struct isolated_rule *rule)
{
	struct isolated_block blocks[most_blocks];
	double samples[most_blocks * most_calls];
	for (size_t i = 0; i < count; i++)
		blocks[i] = made->block;
	return isolated_summarize((struct isolated_blocks){ blocks, count },
		(struct isolated_values){ NULL, 0 }, rule, samples);
}

/* ---- estimates ---- */

static void mean_median_and_minimum_of_values(void **state)
{
	(void)state;
	assert_is(isolated_mean(VALUES(1, 2, 6)), 3);
	assert_is(isolated_median(VALUES(9, 1, 2)), 2);
	assert_is(isolated_median(VALUES(9, 1, 2, 4)), 3);
	assert_is(isolated_least(VALUES(9, 1, 2)), 1);
	assert_true(isnan(isolated_median((struct isolated_values){ NULL, 0 })));
	assert_true(isnan(isolated_mean((struct isolated_values){ NULL, 0 })));
}

static void a_mean_does_not_depend_on_the_order(void **state)
{
	(void)state;
	assert_true(isolated_mean(VALUES(1e16, 1, 1, -1e16)) == 0.5);
	assert_true(isolated_mean(VALUES(1, 1e16, -1e16, 1)) == 0.5);
}

static void the_center_is_the_hodges_lehmann_estimate(void **state)
{
	(void)state;
	assert_is(isolated_center(VALUES(7)), 7);
	assert_is(isolated_center(VALUES(1, 2)), 1.5);
	assert_is(isolated_center(VALUES(1, 2, 9)), 3.5); /* the median of 1, 1.5, 2, 5, 5.5, 9 */
}

static void the_center_varies_less_than_the_median(void **state)
{
	(void)state;
	enum { rounds = 400, count = 25 };
	double means[rounds], centers[rounds], medians[rounds], noise[count];
	uint64_t seed = 5236;
	for (size_t i = 0; i < rounds; i++) {
		for (size_t k = 0; k < count; k++)
			noise[k] = gauss(&seed);
		const struct isolated_values values = { noise, count };
		means[i] = isolated_mean(values);
		centers[i] = isolated_center(values);
		medians[i] = isolated_median(values);
	}
	const double center = isolated_deviation((struct isolated_values){ centers, rounds });
	assert_true(center < 1.1 * isolated_deviation((struct isolated_values){ means, rounds }));
	assert_true(center < 0.9 * isolated_deviation((struct isolated_values){ medians, rounds }));
}

static void a_quarter_of_the_values_does_not_move_the_center(void **state)
{
	(void)state;
	double values[25] = { 0 };
	for (size_t i = 19; i < COUNT(values); i++)
		values[i] = 1e9;
	assert_true(isolated_center((struct isolated_values){ values, COUNT(values) }) == 0);
}

static void deviation_and_standard_error_are_of_a_sample(void **state)
{
	(void)state;
	assert_is(isolated_deviation(VALUES(1, 2, 3, 4, 5)), sqrt(2.5));
	assert_is(isolated_standard_error(VALUES(1, 2, 3, 4, 5)), sqrt(0.5));
	assert_is(isolated_deviation(VALUES(1, 2, 6)), sqrt(7));
	assert_is(isolated_deviation(VALUES(1, 3)), sqrt(2));
	assert_true(isolated_deviation(VALUES(7)) == 0);
}

/* Abramowitz and Stegun, table 26.10. */
static void quantiles_are_of_student_s_distribution(void **state)
{
	(void)state;
	static const struct {
		double level;
		size_t freedom;
		double t;
	} table[] = { { 0.95, 1, 12.706 }, { 0.95, 2, 4.303 }, { 0.99, 3, 5.841 }, { 0.95, 7, 2.365 },
		{ 0.99, 30, 2.750 }, { 0.95, 60, 2.000 }, { 0.95, 120, 1.980 } };
	for (size_t i = 0; i < COUNT(table); i++)
		assert_near(isolated_t_quantile(table[i].level, table[i].freedom), table[i].t, 5e-4);
}

static void an_interval_contains_the_truth_as_often_as_it_claims(void **state)
{
	(void)state;
	enum { rounds = 2000, count = 8 };
	uint64_t seed = 2;
	int held = 0;
	for (int i = 0; i < rounds; i++) {
		double noise[count];
		for (size_t k = 0; k < count; k++)
			noise[k] = 100 + 3 * gauss(&seed);
		const struct isolated_values values = { noise, count };
		held += fabs(isolated_mean(values) - 100) <= isolated_half_width(values, 0.95);
	}
	assert_near((double)held / rounds, 0.95, 0.02);
	assert_near(isolated_half_width(VALUES(1, 2, 3, 4, 5), 0.95), 2.7764 * sqrt(0.5), 1e-4);
	assert_near(isolated_half_width(VALUES(1, 3), 0.95), 12.706, 5e-4);
	assert_true(isinf(isolated_half_width(VALUES(1), 0.95)));
}

/* ---- the charge of a block ---- */

static void a_block_is_charged_the_center_of_its_calls_minus_the_constant(void **state)
{
	(void)state;
	static const double calls[] = { 100e3, 101e3, 103e3, 101e3, 900e3 };
	struct made made;
	make(&made, COUNT(calls), 0, 11e3);
	for (size_t i = 0; i < COUNT(calls); i++)
		made.calls[i].elapsed_ns = calls[i];
	made.null[0].elapsed_ns = 10e3;
	made.null[1].elapsed_ns = 12e3;
	assert_is(value_of(&made, CUDA), 91e3 + EMPTY);
	assert_is(constant_of(&made), 11e3 - EMPTY);
	const struct isolated_limits limits = { 9e3, INFINITY, INFINITY, INFINITY };
	assert_is(isolated_constant(&made.block, CUDA, &limits), 9e3);
	made.block.null.count = 1;
	assert_is(value_of(&made, CUDA), 92e3 + EMPTY);
	/* On the CPU, a block is charged the median of its calls minus the shortest call of the null
	 * contestant. */
	double samples[COUNT(calls)];
	assert_is(value_of(&made, CPU), 91e3);
	const struct isolated_limits none = { INFINITY, INFINITY, INFINITY, INFINITY };
	isolated_samples(&made.block, CPU, &none, samples);
	for (size_t i = 0; i < COUNT(calls); i++)
		assert_is(samples[i], calls[i] - 10e3);
}

static void no_call_is_charged_less_than_a_nanosecond(void **state)
{
	(void)state;
	struct made made;
	make(&made, 3, 9e3, 10e3);
	assert_is(value_of(&made, CPU), 1);
}

static void the_difference_between_two_processes_belongs_to_the_constant(void **state)
{
	(void)state;
	struct made made;
	make(&made, 3, 100e3, 10e3);
	made.block.delta_ns = 1e3;
	assert_is(constant_of(&made), 11e3 - EMPTY);
	assert_is(value_of(&made, CUDA), 89e3 + EMPTY);
}

static void a_submission_that_does_not_use_the_gpu_is_charged_all_but_the_bell(void **state)
{
	(void)state;
	struct made made;
	make(&made, 25, 40e3, 170e3);
	fill(&made.block.bells, made.bells, 3, 5e3);
	assert_is(value_of(&made, CUDA), 1);
	for (size_t i = 0; i < 25; i++)
		made.calls[i].touch_ns = 40e3; /* for the null contestant, touch_ns is 150 us */
	made.bells[2] = 50e3;              /* the shortest bell counts */
	assert_is(value_of(&made, CUDA), 35e3);
	made.block.bells.count = 0;
	assert_is(value_of(&made, CUDA), 1);
}

static void a_changing_constant_is_noticed(void **state)
{
	(void)state;
	static const struct {
		double before, after;
		bool has_moved;
	} cases[] = { { 10e3, 10.4e3, false }, { 10e3, 10.6e3, true }, { 100e3, 102e3, false },
		{ 100e3, 104e3, true } };
	struct made made;
	for (size_t i = 0; i < COUNT(cases); i++) {
		make(&made, 8, 1, cases[i].before);
		for (size_t k = 4; k < 8; k++)
			made.null[k].elapsed_ns = cases[i].after;
		assert_int_equal(isolated_constant_moved(&made.block, CUDA), cases[i].has_moved);
	}
	made.block.null.count = 3;
	assert_false(isolated_constant_moved(&made.block, CUDA));
}

/* ---- work before and after the calls ---- */

static void leftover_work_is_charged_beyond_noise(void **state)
{
	(void)state;
	struct made made;
	make(&made, 25, 200e3, 150e3);
	fill(&made.block.heads, made.heads, 25, 75e3);
	fill(&made.block.null_heads, made.null_heads, 25, 70e3);
	assert_is(value_of(&made, CUDA), 50e3 + EMPTY);
	fill(&made.block.heads, made.heads, 25, 170e3);
	assert_is(overrun_of(&made), 100e3);
	assert_is(value_of(&made, CUDA), 150e3 + EMPTY);
	assert_is(value_of(&made, CPU), 50e3);
}

static void work_of_up_to_15_percent_of_the_judge_s_own_is_noise(void **state)
{
	(void)state;
	struct made made;
	make(&made, 25, 200e3, 150e3);
	for (size_t i = 0; i < 25; i++)
		made.calls[i].head_ns = made.null[i].head_ns = 1000e3;
	fill(&made.block.heads, made.heads, 25, 1140e3);
	fill(&made.block.null_heads, made.null_heads, 25, 1000e3);
	assert_true(overrun_of(&made) == 0);
	fill(&made.block.heads, made.heads, 25, 1160e3);
	assert_is(overrun_of(&made), 160e3);
	made.heads[0] = made.null_heads[0] = 1e9;
	assert_is(overrun_of(&made), 160e3);
	made.block.heads.count = 0;
	assert_true(overrun_of(&made) == 0);
}

static void noise_of_the_null_contestant_excuses_five_times_its_spread(void **state)
{
	(void)state;
	struct made made;
	make(&made, 25, 200e3, 150e3);
	for (size_t i = 0; i < 25; i++) {
		made.calls[i].take_ns = 70e3;
		made.null[i].take_ns = 10e3 + (double)(i % 3) * 20e3;
	}
	made.block.quiet.touch.spread_ns = 20e3;
	assert_true(overrun_of(&made) == 0);
	/* A submission can make the null contestant noisy once it is loaded. Only the noise from before
	 * that (quiet) therefore counts. */
	made.block.quiet.touch.spread_ns = 1e3;
	assert_is(overrun_of(&made), 40e3);
}

/* A submission that works on the GPU during all calls, also the null contestant's, in all blocks.
 */
static void steady_work_beside_all_calls_is_charged_beyond_the_quiet_figures(void **state)
{
	(void)state;
	struct made made;
	make(&made, 13, 200e3, 150e3);
	calm(&made, 150e3);
	made.block.quiet.probed_ns = 6e3;
	for (size_t i = 0; i < 13; i++) {
		made.calls[i].head_ns = made.null[i].head_ns = 200e3;
		made.calls[i].touch_ns = made.null[i].touch_ns = 500e3;
		made.calls[i].probed_ns = made.null[i].probed_ns = 90e3;
	}
	const struct isolated_limits limits =
		isolated_limits_of((struct isolated_blocks){ &made.block, 1 }, CUDA);
	/* Twice the figures from before the submission was loaded are excused. */
	const double head = 200e3 - 140e3, take = 500e3 + 30e3 - 300e3, probes = 90e3 - 12e3;
	assert_is(isolated_overrun(&made.block, CUDA, &limits), head + take + probes);
	made.block.quiet.probed_ns = 0;
	assert_is(isolated_overrun(&made.block, CUDA, &limits), head + take);
	/* What the output adds is excused: poisoning what the contestant copies, and copying all. */
	made.block.quiet.copy_ns = INFINITY;
	assert_is(isolated_overrun(&made.block, CUDA, &limits), take);
	made.block.quiet.take_ns = 160e3;
	assert_true(isolated_overrun(&made.block, CUDA, &limits) == 0);
}

static void a_block_may_differ_from_the_best_only_by_the_pace_of_the_machine(void **state)
{
	(void)state;
	struct made slow, best;
	make(&slow, 13, 200e3, 150e3);
	best = slow;
	best.block.calls.at = best.block.null.at = best.null;
	const struct isolated_block blocks[] = { slow.block, best.block };
	/* Everything takes longer for the submission and for the null: the machine is slow, so the
	 * submission is not charged. */
	for (size_t i = 0; i < 13; i++) {
		slow.calls[i].head_ns = slow.null[i].head_ns = 130e3;
		slow.calls[i].take_ns = slow.null[i].take_ns = 200e3;
		slow.calls[i].rest_ns = slow.null[i].rest_ns = 170e3;
		slow.calls[i].probed_ns = slow.null[i].probed_ns = 11e3;
	}
	struct isolated_limits limits = isolated_limits_of((struct isolated_blocks){ blocks, 2 }, CUDA);
	assert_true(isolated_overrun(&slow.block, CUDA, &limits) == 0);
	/* No machine is that slow, so the submission is charged for what exceeds a slow machine. */
	for (size_t i = 0; i < 13; i++)
		slow.calls[i].head_ns = slow.null[i].head_ns = slow.calls[i].take_ns =
			slow.null[i].take_ns = slow.calls[i].rest_ns = slow.null[i].rest_ns = 500e3;
	limits = isolated_limits_of((struct isolated_blocks){ blocks, 2 }, CUDA);
	assert_is(isolated_overrun(&slow.block, CUDA, &limits),
		(500e3 - 2 * 70e3) + (650e3 - 2 * 180e3) + (500e3 - 3 * 60e3));
}

/* ---- probes ---- */

static void probes_that_come_late_are_charged(void **state)
{
	(void)state;
	struct made made;
	make(&made, 13, 200e3, 150e3);
	for (size_t i = 0; i < 13; i++)
		made.calls[i].probed_ns = 8.9e3;
	assert_true(overrun_of(&made) == 0);
	for (size_t i = 0; i < 13; i++)
		made.calls[i].probed_ns = i < 3 ? 900e3 : 8.9e3; /* a few calls may be late by chance */
	assert_true(overrun_of(&made) == 0);
	for (size_t i = 0; i < 13; i++)
		made.calls[i].probed_ns = 306e3;
	assert_is(overrun_of(&made), 300e3);
	assert_is(value_of(&made, CUDA), 350e3 + EMPTY);
	assert_is(value_of(&made, CPU), 50e3);
}

static void probes_that_come_late_in_most_blocks_are_a_violation(void **state)
{
	(void)state;
	struct made late, honest;
	make(&honest, 13, 200e3, 150e3);
	make(&late, 13, 200e3, 150e3);
	for (size_t i = 0; i < 13; i++)
		late.calls[i].probed_ns = 306e3;
	const struct isolated_block blocks[] = { late.block, honest.block, late.block };
	assert_true(isolated_delays_probes((struct isolated_blocks){ blocks, 3 }, CUDA));
	assert_false(isolated_delays_probes((struct isolated_blocks){ blocks, 2 }, CUDA));
	assert_false(isolated_delays_probes((struct isolated_blocks){ blocks, 3 }, CPU));
}

static void work_before_during_and_after_the_copy_adds_up(void **state)
{
	(void)state;
	struct made made;
	make(&made, 13, 100e3, 10e3);
	assert_true(overrun_of(&made) == 0);
	for (size_t i = 0; i < 13; i++)
		made.calls[i].rest_ns += 500e3;
	assert_is(overrun_of(&made), 500e3);
	for (size_t i = 0; i < 13; i++)
		made.calls[i].take_ns += 300e3;
	assert_is(overrun_of(&made), 800e3);
	for (size_t i = 0; i < 13; i++)
		made.calls[i].head_ns = 2700e3;
	assert_is(overrun_of(&made), 800e3 + 2630e3);
	/* The same work shows in the calls' head_ns and in the block's heads, but is charged once. */
	fill(&made.block.heads, made.heads, 13, 170e3);
	fill(&made.block.null_heads, made.null_heads, 13, 70e3);
	assert_is(overrun_of(&made), 800e3 + 2630e3);
	assert_is(value_of(&made, CUDA), 90e3 + EMPTY + 3430e3);
}

/* ---- submissions that disturb the null contestant ---- */

static void no_block_subtracts_more_than_the_null_took_alone(void **state)
{
	(void)state;
	struct made made;
	make(&made, 13, 200e3, 154e3);
	calm(&made, 150e3);
	assert_true(isolated_disturbance(&made.block, CUDA) == 0);
	assert_is(value_of(&made, CUDA), 46e3 + EMPTY);
	make(&made, 13, 200e3, 190e3);
	calm(&made, 150e3);
	assert_is(isolated_disturbance(&made.block, CUDA), 40e3);
	assert_is(value_of(&made, CUDA), 50e3 + EMPTY);
	/* The null may take longer by the time that copying an output takes. */
	made.block.quiet.copy_ns = 36e3;
	assert_true(isolated_disturbance(&made.block, CUDA) == 0);
	assert_is(value_of(&made, CUDA), 10e3 + EMPTY);
}

/* Disturbs 5 of 13 calls; four are already enough to move the center. Every guard must use the same
 * center. */
static void disturbing_every_third_call_of_the_null_gains_nothing(void **state)
{
	(void)state;
	struct made made;
	double times[most_calls];
	make(&made, 13, 180e3, 150e3);
	calm(&made, 150e3);
	for (size_t i = 0; i < 13; i += 3)
		made.null[i].elapsed_ns += 150e3;
	assert_true(isolated_center(null_times(&made, times)) > 180e3);
	assert_true(isolated_disturbance(&made.block, CUDA) > 0);
	assert_true(isolated_is_uneven(&made.block, CUDA));
	assert_is(value_of(&made, CUDA), 30e3 + EMPTY);
}

static void a_block_whose_calls_take_two_different_times_is_uneven(void **state)
{
	(void)state;
	struct made made;
	make(&made, 13, 200e3, 150e3);
	assert_false(isolated_is_uneven(&made.block, CUDA));
	for (size_t i = 0; i < 5; i++)
		made.calls[i].elapsed_ns = 400e3;
	assert_true(isolated_is_uneven(&made.block, CUDA));
	assert_false(isolated_is_uneven(&made.block, CPU));
}

/* Of a call of 20 ms, 50 us are a quarter of what its interval may be. */
static void what_is_little_beside_the_calls_is_not_worth_measuring_again(void **state)
{
	(void)state;
	struct made brief, lengthy;
	make(&brief, 13, 200e3, 150e3);
	for (size_t i = 0; i < 6; i++)
		brief.null[i].elapsed_ns += 40e3;
	lengthy = brief;
	lengthy.block.calls.at = lengthy.calls;
	lengthy.block.null.at = lengthy.null;
	for (size_t i = 0; i < 13; i++)
		lengthy.calls[i].elapsed_ns = 20e6;
	assert_is(isolated_negligible((struct isolated_blocks){ &lengthy.block, 1 }, CUDA), 50e3);
	assert_true(isolated_constant_moved(&brief.block, CUDA));
	assert_false(isolated_constant_moved(&lengthy.block, CUDA));
	assert_true(isolated_is_uneven(&brief.block, CUDA));
	assert_false(isolated_is_uneven(&lengthy.block, CUDA));
	/* The shortest calls decide, so one slow block excuses nothing in the others. */
	const struct isolated_block blocks[] = { lengthy.block, brief.block };
	assert_is(isolated_negligible((struct isolated_blocks){ blocks, 2 }, CUDA), 500);
	assert_true(isolated_negligible((struct isolated_blocks){ blocks, 2 }, CPU) == 0);
}

static void blocks_are_measured_again_in_proportion_to_those_that_count(void **state)
{
	(void)state;
	assert_true(isolated_may_repeat(5, 0));
	assert_false(isolated_may_repeat(6, 3));
	assert_true(isolated_may_repeat(6, 4));
	assert_false(isolated_may_repeat(25, 76));
	assert_false(isolated_are_spoiled(1, 4));
	assert_true(isolated_are_spoiled(2, 7));
}

static void a_case_that_takes_long_ends_with_the_fewest_blocks(void **state)
{
	(void)state;
	const size_t fewest = CUDA->looks.blocks[0];
	assert_false(isolated_is_long_enough(fewest, CUDA->enough_s - 1, CUDA));
	assert_false(isolated_is_long_enough(fewest - 1, CUDA->enough_s, CUDA));
	assert_true(isolated_is_long_enough(fewest, CUDA->enough_s, CUDA));
}

static void disturbing_the_null_only_after_its_own_calls_gains_nothing(void **state)
{
	(void)state;
	struct made made;
	make(&made, 25, 200e3, 190e3);
	control(&made, 5, 150e3, 150e3);
	delay_after(&made, 12, 9e3);
	assert_is(isolated_order_over(&made.block), 9e3);
	assert_is(isolated_disturbance(&made.block, CUDA), 9e3);
	assert_is(value_of(&made, CUDA), 10e3 + EMPTY);
	make(&made, 5, 200e3, 190e3);
	control(&made, 5, 150e3, 150e3);
	delay_after(&made, 3, 9e3); /* two delayed calls are too few to show a disturbance */
	assert_true(isolated_disturbance(&made.block, CUDA) == 0);
	/* In four such blocks they are enough. */
	assert_is(summary_of(&made, 4, CUDA).disturbance_ns, 9e3);
}

static void a_disturbance_below_the_noise_of_a_block_shows_in_four(void **state)
{
	(void)state;
	struct made made;
	make(&made, 25, 200e3, 190e3);
	control(&made, 3, 150e3, 152.5e3);
	assert_is(summary_of(&made, 4, CUDA).disturbance_ns, 2500);
	assert_is(summary_of(&made, 4, CUDA).mean_ns, 10e3 + EMPTY + 2500);
	assert_is(summary_of(&made, 4, CUDA).constant_ns, 190e3 - EMPTY - 2500);
	assert_true(summary_of(&made, 3, CUDA).disturbance_ns == 0);
	control(&made, 5, 150e3, 151.5e3);
	assert_true(summary_of(&made, 8, CUDA).disturbance_ns == 0);
	/* Such a delay moves the constant by only half of the delay, but the whole delay is charged, so
	 * that the submission loses. */
	control(&made, 5, 150e3, 150e3);
	delay_after(&made, 12, 4e3);
	assert_true(isolated_disturbance(&made.block, CUDA) == 0);
	assert_is(summary_of(&made, 4, CUDA).disturbance_ns, 4e3);
	assert_is(summary_of(&made, 4, CUDA).mean_ns, 12e3 + EMPTY);
}

static void a_disturbed_block_says_nothing_about_the_steady_disturbance(void **state)
{
	(void)state;
	struct made quiet, disturbed;
	make(&quiet, 25, 200e3, 190e3);
	calm(&quiet, 190e3);
	control(&quiet, 3, 150e3, 152.5e3);
	disturbed = quiet;
	disturbed.block.quiet.call_ns = 150e3;
	control(&disturbed, 3, 150e3, 190e3);
	const struct isolated_block blocks[] = { quiet.block, quiet.block, quiet.block, disturbed.block,
		quiet.block };
	assert_true(isolated_steady_disturbance((struct isolated_blocks){ blocks, 4 }, CUDA) == 0);
	assert_is(isolated_steady_disturbance((struct isolated_blocks){ blocks, 5 }, CUDA), 2500);
	/* The center of all twelve controls counts, and three of them do not move it. */
	struct made last = quiet;
	control(&last, 3, 150e3, 900e3);
	const struct isolated_block spoiled[] = { quiet.block, quiet.block, quiet.block, last.block };
	assert_is(isolated_steady_disturbance((struct isolated_blocks){ spoiled, 4 }, CUDA), 2500);
}

/* Whether a submission delays the null contestant a little or much, and before or after its own
 * calls, it must not gain more than what no number of calls shows. */
static void no_steady_delay_of_the_null_gains_more_than_its_noise(void **state)
{
	(void)state;
	const double call = 200e3, alone = 150e3, honest = call - alone + EMPTY;
	for (double delay = 0; delay < 20e3; delay += 500) {
		struct made made;
		make(&made, 13, call, alone + delay);
		calm(&made, alone);
		control(&made, 3, alone, alone + delay);
		const double gain = honest - summary_of(&made, 6, CUDA).mean_ns;
		if (gain > CUDA->steady_disturbance_ns)
			fail_msg("a delay of %g ns gains %g ns", delay, gain);
	}
	/* 4 us before its own calls, and more after them. */
	struct made made;
	make(&made, 13, call, alone + 4e3);
	calm(&made, alone);
	control(&made, 3, alone, alone + 4e3);
	delay_after(&made, 7, 6e3);
	assert_true(isolated_disturbance(&made.block, CUDA) > 0);
	assert_is(summary_of(&made, 6, CUDA).mean_ns, honest);
}

/* A submission can use up the time limit in calls that do not count, so that few calls are left,
 * which cannot show a small disturbance. */
static void too_few_blocks_subtract_no_more_than_the_null_took_alone(void **state)
{
	(void)state;
	struct made made;
	make(&made, 3, 200e3, 154e3);
	calm(&made, 150e3);
	control(&made, 3, 150e3, 150e3);
	for (size_t count = 1; count < isolated_least_blocks; count++)
		assert_is(summary_of(&made, count, CUDA).mean_ns, 50e3 + EMPTY);
	assert_is(summary_of(&made, isolated_least_blocks, CUDA).mean_ns, 46e3 + EMPTY);
	made.block.quiet.copy_ns = 1e3; /* if the null contestant copies an output */
	assert_is(summary_of(&made, 1, CUDA).mean_ns, 49e3 + EMPTY);
	/* It can also disturb most blocks so much that they show nothing. */
	make(&made, 13, 200e3, 154e3);
	calm(&made, 150e3);
	struct made spoiled = made;
	spoiled.block.null.at = spoiled.null;
	delay_after(&spoiled, 7, 9e3);
	const struct isolated_block blocks[] = { made.block, made.block, made.block, spoiled.block,
		spoiled.block, spoiled.block };
	double values[COUNT(blocks)];
	isolated_values_of((struct isolated_blocks){ blocks, COUNT(blocks) }, CUDA, values);
	assert_is(values[0], 50e3 + EMPTY);
}

static void no_block_subtracts_more_than_the_smallest_constant(void **state)
{
	(void)state;
	struct made calm, disturbed;
	const double noise = 0.03 * 150e3;
	make(&calm, 25, 180e3, 150e3);
	control(&calm, 3, 150e3, 150e3);
	make(&disturbed, 25, 180e3, 190e3);
	control(&disturbed, 3, 150e3, 150e3);
	const struct isolated_block blocks[] = { disturbed.block, calm.block };
	double values[2];
	assert_is(value_of(&disturbed, CUDA), 1);
	assert_is(isolated_limits_of((struct isolated_blocks){ blocks, 2 }, CUDA).constant_ns,
		150e3 - EMPTY + noise);
	isolated_values_of((struct isolated_blocks){ blocks, 2 }, CUDA, values);
	assert_is(values[0], 30e3 + EMPTY - noise);
	assert_is(values[1], 30e3 + EMPTY);
	/* On the CPU there is no such bound, because the CPU may be busy. */
	assert_true(isinf(isolated_limits_of((struct isolated_blocks){ blocks, 2 }, CPU).constant_ns));
}

/* ---- a case ---- */

static void a_case_ends_at_fixed_looks_when_its_mean_is_known(void **state)
{
	(void)state;
	double steady[12], loose[152];
	for (size_t i = 0; i < COUNT(steady); i++)
		steady[i] = 100e3 + ((double)(i % 3) - 1) * 100;
	for (size_t i = 0; i < COUNT(loose); i++)
		loose[i] = i % 4 == 1 ? 108e3 : i % 4 == 2 ? 92e3 : 100e3;
	for (size_t count = 1; count <= COUNT(steady); count++)
		assert_int_equal(isolated_is_enough((struct isolated_values){ steady, count }, CUDA),
			count >= 6 && count != 9 && count != 11);
	/* At the last look, a case ends if its interval is narrow enough for a tie. */
	for (size_t count = 1; count <= 76; count++)
		assert_int_equal(
			isolated_is_enough((struct isolated_values){ loose, count }, CUDA), count == 76);
	assert_true(isolated_is_enough((struct isolated_values){ loose, 4 }, CPU));
	/* Otherwise the case gets as many blocks again. */
	for (size_t i = 0; i < COUNT(loose); i++)
		loose[i] = i % 26 == 3 ? 500e3 : 100e3;
	for (size_t count = 76; count <= COUNT(loose); count++)
		assert_int_equal(
			isolated_is_enough((struct isolated_values){ loose, count }, CUDA), count == 152);
}

static void a_case_with_long_calls_gets_fewer(void **state)
{
	(void)state;
	struct isolated_rule rule = isolated_rule_for(CUDA, 0.024);
	assert_memory_equal(&rule, CUDA, sizeof rule);
	rule = isolated_rule_for(CUDA, 0.025);
	assert_int_equal(rule.calls * rule.looks.blocks[0], 20);
	/* There are enough calls that a remark about the time limit means something. */
	assert_true(rule.looks.blocks[0] >= isolated_least_blocks);
	assert_true(rule.calls >= rule.controls && rule.calls >= isolated_least_calls);
	rule = isolated_rule_for(CPU, 10);
	assert_memory_equal(&rule, CPU, sizeof rule);
}

static void for_a_short_case_an_error_of_400_ns_is_small_enough(void **state)
{
	(void)state;
	assert_true(isolated_is_enough(VALUES(5e3, 5.2e3, 4.8e3, 5e3, 5.2e3, 4.8e3), CUDA));
	assert_false(isolated_is_enough(VALUES(5e3, 5.9e3, 4.1e3, 5e3, 5.9e3, 4.1e3), CUDA));
}

static void early_looks_require_more_confidence(void **state)
{
	(void)state;
	const struct isolated_values values = VALUES(100e3, 101e3, 99e3, 100.8e3, 99.2e3, 100e3);
	const double allowed = 0.01 * 100e3;
	assert_true(isolated_half_width(values, 0.95) < allowed);
	assert_true(isolated_half_width(values, 0.99) > allowed);
	assert_false(isolated_is_enough(values, CUDA));
}

static void the_figures_of_a_case_come_from_its_blocks(void **state)
{
	(void)state;
	static const double calls[] = { 110e3, 112e3, 107e3, 113e3 },
						null[] = { 10e3, 10e3, 10e3, 13e3 },
						charged[] = { 100e3, 102e3, 97e3, 100e3 };
	struct made made[COUNT(calls)];
	struct isolated_block blocks[COUNT(calls)];
	double samples[5 * COUNT(calls)];
	for (size_t i = 0; i < COUNT(calls); i++) {
		make(&made[i], 5, calls[i], null[i]);
		blocks[i] = made[i].block;
	}
	const struct isolated_summary summary = isolated_summarize(
		(struct isolated_blocks){ blocks, COUNT(blocks) }, VALUES(99e3, 98e3, 90e3), CPU, samples);
	const struct isolated_values values = { charged, COUNT(charged) };
	for (size_t i = 0; i < COUNT(samples); i++)
		assert_is(samples[i], charged[i / 5]);
	assert_is(summary.mean_ns, 99.75e3);
	assert_is(summary.best_ns, 97e3);
	assert_is(summary.worst_ns, 102e3);
	assert_is(summary.median_ns, 100e3);
	assert_is(
		summary.std_ns, isolated_deviation((struct isolated_values){ samples, COUNT(samples) }));
	assert_is(summary.err_ns, isolated_standard_error(values));
	assert_is(summary.high_ns - summary.mean_ns, isolated_half_width(values, 0.95));
	assert_is(summary.mean_ns - summary.low_ns, isolated_half_width(values, 0.95));
	assert_is(summary.constant_ns, 10e3);
	assert_is(summary.own_ns, 98e3);
	assert_true(summary.overrun_ns == 0 && summary.disturbance_ns == 0);
	assert_int_equal(summary.runs, 20);
	assert_int_equal(summary.blocks, 4);
}

static void overrun_and_disturbance_are_means_over_the_blocks(void **state)
{
	(void)state;
	struct made calm, disturbed;
	make(&calm, 5, 200e3, 150e3);
	control(&calm, 3, 150e3, 150e3);
	disturbed = calm;
	disturbed.block.quiet.call_ns = 110e3;
	fill(&disturbed.block.heads, disturbed.heads, 5, 170e3);
	fill(&disturbed.block.null_heads, disturbed.null_heads, 5, 70e3);
	const struct isolated_block blocks[] = { calm.block, calm.block, calm.block, disturbed.block };
	double samples[5 * COUNT(blocks)];
	const struct isolated_summary summary = isolated_summarize(
		(struct isolated_blocks){ blocks, COUNT(blocks) }, VALUES(1), CUDA, samples);
	assert_is(summary.overrun_ns, 100e3 / 4);
	assert_is(summary.disturbance_ns, 40e3 / 4);
}

static void a_single_block_is_as_uncertain_as_its_calls(void **state)
{
	(void)state;
	struct made made;
	make(&made, 5, 100e3, 10e3);
	made.calls[0].elapsed_ns = 98e3;
	made.calls[1].elapsed_ns = 102e3;
	const struct isolated_summary summary = summary_of(&made, 1, CPU);
	assert_is(summary.err_ns, sqrt(2e6 / 5));
	assert_near(summary.high_ns - summary.mean_ns, 2.7764 * summary.err_ns, 0.1);
	assert_true(isnan(summary.own_ns));
	made.block.calls.count = 1; /* a single call does not show any uncertainty */
	assert_is(summary_of(&made, 1, CPU).high_ns, summary_of(&made, 1, CPU).mean_ns);
}

static void variation_between_processes_widens_the_interval(void **state)
{
	(void)state;
	struct made made;
	make(&made, 5, 100e3, 10e3);
	const struct isolated_summary summary = summary_of(&made, 4, CUDA);
	assert_is(summary.err_ns, hypot(200, 0.0008 * summary.mean_ns));
	assert_is(summary.high_ns - summary.mean_ns, 2 * summary.err_ns);
	make(&made, 5, 10e3, 10e3);
	assert_near(summary_of(&made, 4, CUDA).low_ns, EMPTY - 2 * 200, 0.01);
	make(&made, 5, 9e3, 10e3);
	assert_true(summary_of(&made, 4, CUDA).low_ns == 1);
}

/* Two slow blocks raise the error as much as the mean. Without a limit of the error, the case would
 * tie with a case without slow blocks. */
static void with_a_wide_interval_its_upper_end_counts(void **state)
{
	(void)state;
	struct made made[most_blocks];
	struct isolated_block blocks[most_blocks];
	double samples[13 * most_blocks], values[most_blocks];
	for (size_t i = 0; i < most_blocks; i++) {
		make(&made[i], 13, i < 2 ? 500e3 : 180e3, 150e3);
		blocks[i] = made[i].block;
	}
	const struct isolated_blocks all = { blocks, most_blocks };
	const struct isolated_summary summary =
		isolated_summarize(all, (struct isolated_values){ NULL, 0 }, CUDA, samples);
	isolated_values_of(all, CUDA, values);
	const struct isolated_values of_blocks = { values, most_blocks };
	const double mean = isolated_mean(of_blocks), half = isolated_half_width(of_blocks, 0.95),
				 allowed = 400 + 0.01 * mean;
	assert_true(half > 50 * allowed);
	assert_near(summary.mean_ns, mean + half, 2);
	assert_near(summary.surcharge_ns, half, 2);
	assert_is(summary.err_ns, hypot(allowed / 2, hypot(200, 0.0008 * mean)));
	/* The interval that decides ties therefore begins above the blocks' mean. */
	assert_true(summary.mean_ns - 2 * summary.err_ns > mean);
	assert_near(summary.low_ns, fmax(1, mean - half), 2);
	assert_true(summary_of(&made[3], 6, CUDA).surcharge_ns == 0);
}

static void samples_are_thinned_evenly(void **state)
{
	(void)state;
	double samples[10];
	for (size_t i = 0; i < COUNT(samples); i++)
		samples[i] = (double)i;
	assert_int_equal(isolated_thin(samples, COUNT(samples), COUNT(samples)), COUNT(samples));
	assert_int_equal(isolated_thin(samples, COUNT(samples), 4), 4);
	static const double kept[] = { 0, 2, 5, 7 };
	assert_memory_equal(samples, kept, sizeof kept);
}

/* ---- comparisons ---- */

enum { pairs = 12 };

/* Fills `at` with `first` and `second` in turns. */
static struct isolated_values by_turns(double *at, size_t count, double first, double second)
{
	for (size_t i = 0; i < count; i++)
		at[i] = i % 2 ? second : first;
	return (struct isolated_values){ at, count };
}

static void a_comparison_in_turns_averages_logarithms(void **state)
{
	(void)state;
	const struct isolated_comparison found =
		isolated_in_turns(VALUES(90e3, 40e3, 20e3), VALUES(100e3, 50e3, 30e3), CPU);
	const double at[] = { log(90.0 / 100), log(40.0 / 50), log(20.0 / 30) };
	const struct isolated_values logs = { at, COUNT(at) };
	assert_is(log(found.ratio), isolated_mean(logs));
	assert_is(found.err, isolated_standard_error(logs));
	assert_is(log(found.high / found.ratio), isolated_half_width(logs, 0.95));
	assert_is(log(found.ratio / found.low), isolated_half_width(logs, 0.95));
	assert_is(found.rival_ns, 60e3);
	assert_false(found.is_apart);
}

static void a_comparison_of_separate_runs_is_the_ratio_of_means(void **state)
{
	(void)state;
	const struct isolated_values ours = VALUES(91.8e3, 91.9e3, 92.3e3),
								 theirs = VALUES(100.95e3, 101.05e3);
	const struct isolated_comparison found = isolated_apart(ours, theirs, CUDA);
	const double our_half = isolated_half_width(ours, 0.95) / 92e3,
				 their_half = isolated_half_width(theirs, 0.95) / 101e3,
				 process = 2 * hypot(200, 0.0008 * 101e3) / 101e3;
	const double half = hypot(hypot(our_half, their_half), process);
	assert_is(found.ratio, 92.0 / 101);
	assert_is(log(found.high / found.ratio), half);
	assert_is(log(found.ratio / found.low), half);
	assert_is(found.err,
		hypot(isolated_standard_error(ours) / 92e3, isolated_standard_error(theirs) / 101e3));
	assert_is(found.rival_ns, 101e3);
	assert_true(found.is_apart);
}

/* Every second block of the incumbent is slow: 94 and 106 us. Without this rule it would tie with a
 * challenger of 96 us. */
static void noise_in_a_comparison_counts_as_time(void **state)
{
	(void)state;
	double our[pairs], their[pairs];
	const struct isolated_values ours = by_turns(our, pairs, 96e3, 96.1e3),
								 noisy = by_turns(their, pairs, 94e3, 106e3);
	const double half = isolated_half_width(noisy, 0.95);
	assert_true(half > CUDA->half_ns + CUDA->half_share * 100e3);
	const struct isolated_comparison found = isolated_apart(ours, noisy, CUDA);
	assert_is(found.rival_ns, 100e3 + half);
	assert_true(found.high < 1);
	assert_true(isolated_compared(isolated_in_turns(ours, noisy, CUDA), found).high < 1);
}

static void separate_runs_compare_like_alternating_ones(void **state)
{
	(void)state;
	double our[pairs], their[pairs];
	for (size_t i = 0; i < pairs; i++)
		our[i] = i % 3 == 0 ? 90e3 : i % 3 == 1 ? 91e3 : 90.5e3;
	const struct isolated_values ours = { our, pairs },
								 theirs = by_turns(their, pairs, 100e3, 100.2e3);
	const struct isolated_comparison in_turns = isolated_in_turns(ours, theirs, CUDA),
									 apart = isolated_apart(
										 ours, (struct isolated_values){ their, 8 }, CUDA);
	assert_near(apart.ratio / in_turns.ratio, 1, 2e-3);
	assert_near(apart.low / in_turns.low, 1, 2e-3);
	assert_near(apart.high / in_turns.high, 1, 2e-3);
	assert_near(apart.rival_ns / in_turns.rival_ns, 1, 2e-3);
	assert_true(apart.low < apart.ratio && apart.ratio < apart.high && apart.high < 1);
}

static void one_block_per_side_leaves_a_factor_of_two(void **state)
{
	(void)state;
	const struct isolated_comparison single = isolated_apart(VALUES(90e3), VALUES(100e3), CUDA);
	assert_is(single.high / single.ratio, 2);
	assert_is(single.ratio / single.low, 2);
}

static void two_processes_differ_by_more_than_their_blocks_show(void **state)
{
	(void)state;
	double our[16], their[16];
	struct isolated_values ours = by_turns(our, 16, 15.15e3, 15.16e3),
						   theirs = by_turns(their, 16, 15e3, 15e3);
	struct isolated_comparison same = isolated_in_turns(ours, theirs, CUDA);
	assert_true(same.low < 1 && 1 < same.high);
	same = isolated_apart(ours, theirs, CUDA);
	assert_true(same.low < 1 && 1 < same.high);
	assert_true(isolated_in_turns(ours, theirs, CPU).low > 1.01);
	ours = by_turns(our, 16, 15.15e5, 15.16e5);
	theirs = by_turns(their, 16, 15e5, 15e5);
	assert_true(isolated_in_turns(ours, theirs, CUDA).low > 1);
	assert_true(isolated_apart(ours, theirs, CUDA).low > 1);
}

/* One of entry and rival slows the other down while they run in turns, so that this comparison
 * contradicts the one of their separate runs. */
static void disturb(double our_in_turns_ns, double their_in_turns_ns)
{
	double our[pairs], their[pairs], our_alone[pairs], their_alone[pairs];
	const struct isolated_comparison
		in_turns = isolated_in_turns(by_turns(our, pairs, our_in_turns_ns, our_in_turns_ns + 100),
			by_turns(their, pairs, their_in_turns_ns, their_in_turns_ns + 100), CUDA),
		apart = isolated_apart(by_turns(our_alone, pairs, 100e3, 100.1e3),
			by_turns(their_alone, pairs, 99e3, 99.1e3), CUDA),
		found = isolated_compared(in_turns, apart);
	assert_true(in_turns.high < 0.2 || in_turns.low > 5);
	assert_true(found.is_apart);
	assert_is(found.ratio, apart.ratio);
	assert_is(found.err, apart.err);
	assert_is(found.rival_ns, apart.rival_ns);
	const double half = hypot(log(apart.high / apart.low) / 2, 0.01);
	assert_is(log(found.ratio / found.low), half);
	assert_is(log(found.high / found.ratio), half);
	assert_false(isolated_agree(in_turns, apart) || isolated_agree(apart, in_turns));
}

static void slowing_the_rival_down_gains_nothing(void **state)
{
	(void)state;
	disturb(100e3, 1200e3);
	disturb(1200e3, 99e3);
}

static void comparisons_that_agree_give_the_ratio_nearer_to_one(void **state)
{
	(void)state;
	double our[pairs], their[pairs], their_alone[pairs];
	const struct isolated_values ours = by_turns(our, pairs, 100e3, 100.1e3);
	const struct isolated_comparison in_turns = isolated_in_turns(
										 ours, by_turns(their, pairs, 120e3, 120.1e3), CUDA),
									 apart = isolated_apart(ours,
										 by_turns(their_alone, pairs, 120.3e3, 120.4e3), CUDA),
									 found = isolated_compared(in_turns, apart);
	assert_is(found.ratio, in_turns.ratio);
	assert_is(found.high, in_turns.high);
	assert_is(found.low, apart.low);
	assert_false(found.is_apart);
	assert_true(isolated_agree(in_turns, apart) && found.high < 0.9);
}

static bool is_decided(
	size_t count, double first, double second, double their_first, double their_second)
{
	double our[38], their[38];
	return isolated_is_decided(by_turns(our, count, first, second),
		by_turns(their, count, their_first, their_second), CUDA);
}

static void a_comparison_ends_when_the_ratio_is_clear(void **state)
{
	(void)state;
	assert_true(is_decided(12, 100e3, 100.1e3, 100.1e3, 100e3)); /* equal */
	assert_true(is_decided(12, 90e3, 91e3, 100e3, 100e3));       /* faster */
	assert_false(is_decided(12, 90e3, 110e3, 100e3, 100e3));
	/* The difference is clear, but may be one between the two processes. In a long call that
	 * difference matters less. */
	assert_false(is_decided(12, 15e3, 15.6e3, 15e3, 15e3));
	assert_true(is_decided(12, 15e5, 15.6e5, 15e5, 15e5));
	assert_false(is_decided(10, 90e3, 91e3, 100e3, 100e3)); /* 10 pairs: no look at this count */
	assert_true(is_decided(38, 90e3, 110e3, 100e3, 100e3)); /* the last look */
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(mean_median_and_minimum_of_values),
		cmocka_unit_test(a_mean_does_not_depend_on_the_order),
		cmocka_unit_test(the_center_is_the_hodges_lehmann_estimate),
		cmocka_unit_test(the_center_varies_less_than_the_median),
		cmocka_unit_test(a_quarter_of_the_values_does_not_move_the_center),
		cmocka_unit_test(deviation_and_standard_error_are_of_a_sample),
		cmocka_unit_test(quantiles_are_of_student_s_distribution),
		cmocka_unit_test(an_interval_contains_the_truth_as_often_as_it_claims),
		cmocka_unit_test(a_block_is_charged_the_center_of_its_calls_minus_the_constant),
		cmocka_unit_test(no_call_is_charged_less_than_a_nanosecond),
		cmocka_unit_test(the_difference_between_two_processes_belongs_to_the_constant),
		cmocka_unit_test(a_submission_that_does_not_use_the_gpu_is_charged_all_but_the_bell),
		cmocka_unit_test(a_changing_constant_is_noticed),
		cmocka_unit_test(leftover_work_is_charged_beyond_noise),
		cmocka_unit_test(work_of_up_to_15_percent_of_the_judge_s_own_is_noise),
		cmocka_unit_test(noise_of_the_null_contestant_excuses_five_times_its_spread),
		cmocka_unit_test(steady_work_beside_all_calls_is_charged_beyond_the_quiet_figures),
		cmocka_unit_test(a_block_may_differ_from_the_best_only_by_the_pace_of_the_machine),
		cmocka_unit_test(probes_that_come_late_are_charged),
		cmocka_unit_test(probes_that_come_late_in_most_blocks_are_a_violation),
		cmocka_unit_test(work_before_during_and_after_the_copy_adds_up),
		cmocka_unit_test(no_block_subtracts_more_than_the_null_took_alone),
		cmocka_unit_test(disturbing_every_third_call_of_the_null_gains_nothing),
		cmocka_unit_test(a_block_whose_calls_take_two_different_times_is_uneven),
		cmocka_unit_test(blocks_are_measured_again_in_proportion_to_those_that_count),
		cmocka_unit_test(a_case_that_takes_long_ends_with_the_fewest_blocks),
		cmocka_unit_test(what_is_little_beside_the_calls_is_not_worth_measuring_again),
		cmocka_unit_test(disturbing_the_null_only_after_its_own_calls_gains_nothing),
		cmocka_unit_test(a_disturbance_below_the_noise_of_a_block_shows_in_four),
		cmocka_unit_test(a_disturbed_block_says_nothing_about_the_steady_disturbance),
		cmocka_unit_test(no_steady_delay_of_the_null_gains_more_than_its_noise),
		cmocka_unit_test(too_few_blocks_subtract_no_more_than_the_null_took_alone),
		cmocka_unit_test(no_block_subtracts_more_than_the_smallest_constant),
		cmocka_unit_test(a_case_ends_at_fixed_looks_when_its_mean_is_known),
		cmocka_unit_test(a_case_with_long_calls_gets_fewer),
		cmocka_unit_test(for_a_short_case_an_error_of_400_ns_is_small_enough),
		cmocka_unit_test(early_looks_require_more_confidence),
		cmocka_unit_test(the_figures_of_a_case_come_from_its_blocks),
		cmocka_unit_test(overrun_and_disturbance_are_means_over_the_blocks),
		cmocka_unit_test(a_single_block_is_as_uncertain_as_its_calls),
		cmocka_unit_test(variation_between_processes_widens_the_interval),
		cmocka_unit_test(with_a_wide_interval_its_upper_end_counts),
		cmocka_unit_test(samples_are_thinned_evenly),
		cmocka_unit_test(a_comparison_in_turns_averages_logarithms),
		cmocka_unit_test(a_comparison_of_separate_runs_is_the_ratio_of_means),
		cmocka_unit_test(noise_in_a_comparison_counts_as_time),
		cmocka_unit_test(separate_runs_compare_like_alternating_ones),
		cmocka_unit_test(one_block_per_side_leaves_a_factor_of_two),
		cmocka_unit_test(two_processes_differ_by_more_than_their_blocks_show),
		cmocka_unit_test(slowing_the_rival_down_gains_nothing),
		cmocka_unit_test(comparisons_that_agree_give_the_ratio_nearer_to_one),
		cmocka_unit_test(a_comparison_ends_when_the_ratio_is_clear),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
