/* When a case ends, and its figures. */
#include "harness/isolated/statistics.h"

#include "tests/unit/call_blocks.h"

static void a_case_ends_at_fixed_looks_when_its_time_is_known(void **state)
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
	/* At the last look, after 76 blocks, a case ends if its interval is narrow enough for ties. */
	for (size_t count = 1; count <= 76; count++)
		assert_int_equal(
			isolated_is_enough((struct isolated_values){ loose, count }, CUDA), count == 76);
	assert_true(isolated_is_enough((struct isolated_values){ loose, 4 }, CPU));
	/* If it is still too wide then, the case gets 76 more blocks. */
	for (size_t i = 0; i < COUNT(loose); i++)
		loose[i] = i % 2 ? 130e3 : 100e3;
	for (size_t count = 76; count <= COUNT(loose); count++)
		assert_int_equal(
			isolated_is_enough((struct isolated_values){ loose, count }, CUDA), count == 152);
}

static void a_calibration_ends_when_the_difference_is_known(void **state)
{
	(void)state;
	double calm[40], usual[40], rough[40];
	for (size_t i = 0; i < COUNT(calm); i++) {
		const double distance = 1.9 * ((double)(i * 7 % 11) / 10 - 0.5); /* deviation about 0.6 */
		calm[i] = 900 + 100 * distance;
		usual[i] = 900 + 400 * distance;
		rough[i] = 900 + 900 * distance;
	}
	size_t ends[3] = { 0 };
	const double *const all[] = { calm, usual, rough };
	for (size_t row = 0; row < COUNT(all); row++)
		while (!isolated_is_calibrated((struct isolated_values){ all[row], ends[row] }, CUDA))
			ends[row]++;
	assert_int_equal(ends[0], CUDA->least_calibrations);
	assert_in_range(ends[1], 16, 36);
	assert_int_equal(ends[2], CUDA->most_calibrations);
}

static void a_case_with_long_calls_gets_fewer(void **state)
{
	(void)state;
	struct isolated_rule rule = isolated_rule_for(CUDA, 0.024);
	assert_memory_equal(&rule, CUDA, sizeof rule);
	rule = isolated_rule_for(CUDA, 0.025);
	assert_int_equal(rule.calls * rule.looks.blocks[0], 20);
	/* Long calls alone never make a case too short to rank. */
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
	assert_is(summary.mean_ns, 100e3);
	assert_is(summary.best_ns, 97e3);
	assert_is(summary.worst_ns, 102e3);
	assert_is(summary.median_ns, 100e3);
	assert_is(
		summary.std_ns, isolated_deviation((struct isolated_values){ samples, COUNT(samples) }));
	assert_is(1.96 * summary.err_ns, isolated_half_width(values, 0.95));
	assert_is(summary.high_ns - summary.mean_ns, isolated_half_width(values, 0.95));
	assert_is(summary.mean_ns - summary.low_ns, isolated_half_width(values, 0.95));
	assert_is(summary.constant_ns, 10e3);
	assert_is(summary.own_ns, 98e3);
	assert_true(summary.overrun_ns == 0 && summary.disturbance_ns == 0);
	assert_int_equal(summary.runs, 20);
	assert_int_equal(summary.blocks, 4);
}

static void overrun_and_disturbance_are_centers_of_the_blocks(void **state)
{
	(void)state;
	struct made calm, disturbed;
	make(&calm, 5, 200e3, 150e3);
	control(&calm, 3, 150e3, 150e3);
	disturbed = calm;
	disturbed.block.quiet.call_ns = 110e3;
	fill(&disturbed.block.heads, disturbed.heads, 5, 170e3);
	fill(&disturbed.block.null_heads, disturbed.null_heads, 5, 70e3);
	const struct isolated_block blocks[] = { disturbed.block, disturbed.block, disturbed.block,
		calm.block };
	double samples[5 * COUNT(blocks)];
	const struct isolated_summary summary = isolated_summarize(
		(struct isolated_blocks){ blocks, COUNT(blocks) }, VALUES(1), CUDA, samples);
	assert_is(summary.overrun_ns, 100e3);
	assert_is(summary.disturbance_ns, 40e3);
}

static void with_too_few_blocks_the_interval_is_unknown(void **state)
{
	(void)state;
	struct made made;
	make(&made, 5, 100e3, 10e3);
	made.calls[0].elapsed_ns = 98e3;
	made.calls[1].elapsed_ns = 102e3;
	for (size_t blocks = 1; blocks <= isolated_least_blocks; blocks++) {
		const struct isolated_summary summary = summary_of(&made, blocks, CPU);
		const bool is_unknown = blocks < isolated_least_blocks;
		assert_int_equal(isnan(summary.err_ns) != 0, is_unknown);
		assert_int_equal(isnan(summary.low_ns) != 0, is_unknown);
		assert_int_equal(isnan(summary.high_ns) != 0, is_unknown);
		assert_is(summary.mean_ns, 88.8e3); /* a tenth of the calls take less than 98.8 us */
		assert_true(summary.surcharge_ns == 0 && summary.std_ns > 1e3 && isnan(summary.own_ns));
	}
}

static void variation_between_processes_widens_the_interval(void **state)
{
	(void)state;
	struct made made;
	make(&made, 5, 100e3, 10e3);
	const struct isolated_summary summary = summary_of(&made, 4, CUDA);
	assert_is(summary.err_ns, hypot(200, 0.0008 * summary.mean_ns));
	assert_is(summary.high_ns - summary.mean_ns, 1.96 * summary.err_ns);
	make(&made, 5, 10e3, 10e3);
	assert_near(summary_of(&made, 4, CUDA).low_ns, EMPTY - 1.96 * 200, 0.01);
	make(&made, 5, 9e3, 10e3);
	assert_true(summary_of(&made, 4, CUDA).low_ns == 1);
}

/* The figures of a case with these blocks of 13 calls. Writes the blocks into `blocks`. */
static struct isolated_summary summary_of_all(
	const struct made made[most_blocks], struct isolated_block blocks[most_blocks])
{
	double samples[13 * most_blocks];
	for (size_t i = 0; i < most_blocks; i++)
		blocks[i] = made[i].block;
	return isolated_summarize((struct isolated_blocks){ blocks, most_blocks },
		(struct isolated_values){ NULL, 0 }, CUDA, samples);
}

static void slow_blocks_do_not_move_a_case(void **state)
{
	(void)state;
	struct made made[most_blocks];
	for (size_t i = 0; i < most_blocks; i++)
		make(&made[i], 13, i % 5 ? 180e3 : 500e3, 150e3);
	struct isolated_block blocks[most_blocks];
	const struct isolated_summary summary = summary_of_all(made, blocks);
	assert_is(summary.mean_ns, summary_of(&made[1], 6, CUDA).mean_ns);
	assert_true(summary.surcharge_ns == 0);
}

/* Without a limit on the error, a noisy case would tie with a case of the same time without noise.
 */
static void with_a_wide_interval_its_upper_end_counts(void **state)
{
	(void)state;
	struct made made[most_blocks];
	struct isolated_block blocks[most_blocks];
	double values[most_blocks];
	for (size_t i = 0; i < most_blocks; i++)
		make(&made[i], 13, i % 2 ? 220e3 : 180e3, 150e3);
	const struct isolated_summary summary = summary_of_all(made, blocks);
	const struct isolated_blocks all = { blocks, most_blocks };
	isolated_values_of(all, CUDA, values);
	const struct isolated_values of_blocks = { values, most_blocks };
	const double time = isolated_center(of_blocks), half = isolated_half_width(of_blocks, 0.95),
				 allowed = 400 + 0.01 * time;
	assert_true(half > 5 * allowed);
	assert_near(summary.mean_ns, time + half, 2);
	assert_near(summary.surcharge_ns, half, 2);
	assert_is(summary.err_ns, hypot(allowed / 1.96, hypot(200, 0.0008 * time)));
	/* The interval that decides ties therefore begins above the blocks' center. */
	assert_true(summary.low_ns > time);
	assert_is(summary.low_ns, summary.mean_ns - 1.96 * summary.err_ns);
	assert_is(summary.high_ns, summary.mean_ns + 1.96 * summary.err_ns);
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

/* Jobs with the same file differ by the process error, and blocks by noise. The judge looks several
 * times whether the interval is narrow enough. */
static void the_interval_covers_the_time_as_often_as_it_claims(void **state)
{
	(void)state;
	enum { jobs = 600, least_calls = isolated_least_calls, last_look = 76 };
	static const double noises_ns[] = { 100, 500, 1200 };
	uint64_t seed = 24;
	for (size_t n = 0; n < COUNT(noises_ns); n++) {
		int covered = 0;
		for (int job = 0; job < jobs; job++) {
			struct made made[last_look];
			struct isolated_block blocks[last_look];
			double samples[least_calls * last_look], values[last_look];
			const double truth = 40e3 + EMPTY, process_ns = 200 * gauss(&seed);
			struct isolated_blocks all = { blocks, 0 };
			do {
				const double noise_ns = noises_ns[n] * gauss(&seed);
				make(&made[all.count], least_calls, 190e3 + process_ns + noise_ns, 150e3);
				blocks[all.count] = made[all.count].block;
				all.count++;
				if (isolated_is_look(&CUDA->looks, all.count))
					isolated_values_of(all, CUDA, values);
			} while (all.count < last_look
				&& !isolated_is_enough((struct isolated_values){ values, all.count }, CUDA));
			const struct isolated_summary summary =
				isolated_summarize(all, (struct isolated_values){ NULL, 0 }, CUDA, samples);
			assert_true(summary.surcharge_ns == 0);
			covered += summary.low_ns <= truth && truth <= summary.high_ns;
		}
		const double share = (double)covered / jobs;
		if (share < 0.93 || share > 0.98)
			fail_msg("noise of %g ns: %.3f", noises_ns[n], share);
		printf("# noise of %g ns: %.3f\n", noises_ns[n], share);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_case_ends_at_fixed_looks_when_its_time_is_known),
		cmocka_unit_test(a_calibration_ends_when_the_difference_is_known),
		cmocka_unit_test(a_case_with_long_calls_gets_fewer),
		cmocka_unit_test(for_a_short_case_an_error_of_400_ns_is_small_enough),
		cmocka_unit_test(early_looks_require_more_confidence),
		cmocka_unit_test(the_figures_of_a_case_come_from_its_blocks),
		cmocka_unit_test(overrun_and_disturbance_are_centers_of_the_blocks),
		cmocka_unit_test(with_too_few_blocks_the_interval_is_unknown),
		cmocka_unit_test(variation_between_processes_widens_the_interval),
		cmocka_unit_test(slow_blocks_do_not_move_a_case),
		cmocka_unit_test(with_a_wide_interval_its_upper_end_counts),
		cmocka_unit_test(the_interval_covers_the_time_as_often_as_it_claims),
		cmocka_unit_test(samples_are_thinned_evenly),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
