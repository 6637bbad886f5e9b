/* Comparisons of two submissions. */
#include "harness/isolated/statistics.h"

#include "tests/unit/call_blocks.h"

enum { pairs = 12 };

/* Fills `at` with `first` and `second` in turns. */
static struct isolated_values by_turns(double *at, size_t count, double first, double second)
{
	for (size_t i = 0; i < count; i++)
		at[i] = i % 2 ? second : first;
	return (struct isolated_values){ at, count };
}

static void a_comparison_in_turns_is_the_center_of_logarithms(void **state)
{
	(void)state;
	const struct isolated_comparison found =
		isolated_in_turns(VALUES(90e3, 40e3, 20e3), VALUES(100e3, 50e3, 30e3), CPU);
	const double at[] = { log(90.0 / 100), log(40.0 / 50), log(20.0 / 30) };
	const struct isolated_values logs = { at, COUNT(at) };
	assert_is(log(found.ratio), isolated_center(logs));
	assert_is(found.err, isolated_standard_error(logs));
	assert_is(log(found.high / found.ratio), isolated_half_width(logs, 0.95));
	assert_is(log(found.ratio / found.low), isolated_half_width(logs, 0.95));
	assert_is(found.rival_ns, 57.5e3);
	assert_false(found.is_apart);
}

static void a_comparison_of_separate_runs_is_the_ratio_of_centers(void **state)
{
	(void)state;
	const struct isolated_values ours = VALUES(91.7e3, 92e3, 92.3e3),
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

/* Every second block of the rival is slow: 94 and 106 us. If noise did not count as time, the rival
 * would tie with a submission of 96 us. */
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

/* Checks a comparison in which one side slows the other down in turns. The ratio in turns then
 * contradicts the ratio of the sides alone. */
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
	/* The difference is clear, but two processes with one submission may differ as much. In long
	 * calls the processes' difference matters less. */
	assert_false(is_decided(12, 15e3, 15.4e3, 15e3, 15e3));
	assert_true(is_decided(12, 15.2e5, 15.4e5, 15e5, 15e5));
	assert_false(is_decided(10, 90e3, 91e3, 100e3, 100e3)); /* no check at 10 pairs */
	assert_true(is_decided(38, 90e3, 110e3, 100e3, 100e3)); /* the last check */
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_comparison_in_turns_is_the_center_of_logarithms),
		cmocka_unit_test(a_comparison_of_separate_runs_is_the_ratio_of_centers),
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
