/* How the times of several processes become one, and how much of the CPUs others use. */
#include "worker/run/engine/engine.h"
#include "worker/run/engine/other_load.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

static void the_middle_time_counts_whatever_two_of_five_took(void **state)
{
	(void)state;
	double half, times[] = { 9000, 100, 104, 7000, 102 };
	assert_float_equal(repetition_middle(times, 5, &half), 104, 0);
	assert_true(half > 1000); /* the spread shows in the interval */
	double even[] = { 104, 100, 101, 102 };
	assert_float_equal(repetition_middle(even, 4, &half), 101.5, 0);
}

/* Half is t * c * s / sqrt(n): 4.303 * 1.160 * 2 / sqrt(3). */
static void the_interval_is_students(void **state)
{
	(void)state;
	double half, times[] = { 98, 100, 102 };
	assert_float_equal(repetition_middle(times, 3, &half), 100, 0);
	assert_float_equal(half, 5.764, 0.001);
	double equal[] = { 7, 7 };
	assert_float_equal(repetition_middle(equal, 2, &half), 7, 0);
	assert_float_equal(half, 0, 0);
	assert_float_equal(repetition_middle(equal, 1, &half), 7, 0);
	assert_true(isnan(half));
}

/* A normal value, from the sum of twelve uniform ones. */
static double draw(uint64_t *random)
{
	double sum = -6;
	for (int i = 0; i < 12; i++) {
		*random = *random * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
		sum += (double)(*random >> 11) / (double)(UINT64_C(1) << 53);
	}
	return sum;
}

static void the_interval_has_the_truth_in_95_of_100_cases(void **state)
{
	(void)state;
	enum { rounds = 20000 };
	uint64_t random = 1;
	for (size_t count = 2; count <= repetition_most_runs; count++) {
		int hits = 0;
		for (int round = 0; round < rounds; round++) {
			double half, times[repetition_most_runs];
			for (size_t i = 0; i < count; i++)
				times[i] = 100 + draw(&random);
			hits += fabs(repetition_middle(times, count, &half) - 100) <= half;
		}
		assert_in_range(hits, rounds * 0.945, rounds * 0.97);
	}
}

static void ticks_without_idle_ones_are_read_from_proc(void **state)
{
	(void)state;
	double ticks;
	assert_true(load_read("cpu  10 20 30 4000 500 6 7 8 9 0\ncpu0 1 1 1 1 1 1 1 1 1 1\n", &ticks));
	assert_float_equal(ticks, 10 + 20 + 30 + 6 + 7 + 8, 0);
	assert_false(load_read("cpu  10 20 30\n", &ticks));
	assert_false(load_read("", &ticks));
}

static void the_jobs_own_time_is_no_other_load(void **state)
{
	(void)state;
	const struct load before = { .all_s = 100, .own_s = 5, .at_ms = 1000 },
					  after = { .all_s = 108, .own_s = 7, .at_ms = 5000 },
					  own_only = { .all_s = 102, .own_s = 7.1, .at_ms = 5000 },
					  unknown = { .all_s = NAN, .own_s = 7, .at_ms = 5000 };
	assert_float_equal(load_of_others(&before, &after), 1.5, 1e-9);
	assert_float_equal(load_of_others(&before, &own_only), 0, 0);
	assert_float_equal(load_of_others(&before, &unknown), 0, 0);
	assert_float_equal(load_of_others(&before, &before), 0, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_middle_time_counts_whatever_two_of_five_took),
		cmocka_unit_test(the_interval_is_students),
		cmocka_unit_test(the_interval_has_the_truth_in_95_of_100_cases),
		cmocka_unit_test(ticks_without_idle_ones_are_read_from_proc),
		cmocka_unit_test(the_jobs_own_time_is_no_other_load),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
