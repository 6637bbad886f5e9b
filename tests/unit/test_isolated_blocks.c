/* What the calls of a block are charged, and what disturbs them. */
#include "harness/isolated/statistics.h"

#include "tests/unit/call_blocks.h"

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
	/* On the CPU, a block is charged the tenth percentile of its calls minus the shortest call of
	 * the null contestant. */
	double samples[COUNT(calls)];
	assert_is(value_of(&made, CPU), 90.4e3);
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
	made.bells[2] = 50e3;              /* the shortest call without work counts */
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
	/* A loaded submission can make the null contestant noisy. Therefore only the noise from before
	 * the load counts (`quiet`). */
	made.block.quiet.touch.spread_ns = 1e3;
	assert_is(overrun_of(&made), 40e3);
}

/* A submission that works on the GPU during all calls of all blocks, including those of the null
 * contestant. The figures from before the load (`quiet`) show it. */
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
	/* The judge's work for an output is excused: poisoning its place (`copy_ns`) and copying it
	 * (`take_ns`). */
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
	/* Everything takes longer for the submission and for the null contestant. The machine is slow,
	 * so the submission is not charged. */
	for (size_t i = 0; i < 13; i++) {
		slow.calls[i].head_ns = slow.null[i].head_ns = 130e3;
		slow.calls[i].take_ns = slow.null[i].take_ns = 200e3;
		slow.calls[i].rest_ns = slow.null[i].rest_ns = 170e3;
		slow.calls[i].probed_ns = slow.null[i].probed_ns = 11e3;
	}
	struct isolated_limits limits = isolated_limits_of((struct isolated_blocks){ blocks, 2 }, CUDA);
	assert_true(isolated_overrun(&slow.block, CUDA, &limits) == 0);
	/* No machine is this slow. The submission is charged the excess over a slow machine. */
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
	/* If outputs are copied, the null contestant may take longer by the time of the copy. */
	made.block.quiet.copy_ns = 36e3;
	assert_true(isolated_disturbance(&made.block, CUDA) == 0);
	assert_is(value_of(&made, CUDA), 10e3 + EMPTY);
}

/* Disturbs 5 of 13 calls. Four are enough to move the center, but not the median. Therefore every
 * check of the null contestant must use the center, as the constant does. */
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

/* Disturbances of up to 0.25 % of a call do not count: 50 us of a call of 20 ms. Half of the
 * interval may be four times as much. */
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
	/* The eight delayed calls of four such blocks are enough. */
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
	/* A delay of the calls after the submission's own moves the constant by half of the delay. The
	 * whole delay is charged, so the submission loses. */
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

/* A submission may delay the null contestant by any time, before or after its own calls. It must
 * not gain more than 2 us, which no number of calls shows. */
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
	/* A delay of 4 us before its own calls, and of 10 us after them. */
	struct made made;
	make(&made, 13, call, alone + 4e3);
	calm(&made, alone);
	control(&made, 3, alone, alone + 4e3);
	delay_after(&made, 7, 6e3);
	assert_true(isolated_disturbance(&made.block, CUDA) > 0);
	assert_is(summary_of(&made, 6, CUDA).mean_ns, honest);
}

/* A submission can use up the time limit in its warm-up calls. The few timed calls that are left
 * cannot show whether it slows the null contestant down a little. */
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
	/* A submission can also disturb most blocks so much that they cannot show a small disturbance
	 * of the others. */
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

int main(void)
{
	const struct CMUnitTest tests[] = {
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
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
