/* Estimates: means, medians, centers, errors and intervals. */
#include "harness/isolated/statistics.h"

#include "tests/unit/call_blocks.h"

static void median_and_minimum_of_values(void **state)
{
	(void)state;
	assert_is(isolated_median(VALUES(9, 1, 2)), 2);
	assert_is(isolated_median(VALUES(9, 1, 2, 4)), 3);
	assert_is(isolated_least(VALUES(9, 1, 2)), 1);
	assert_true(isnan(isolated_median((struct isolated_values){ NULL, 0 })));
}

static void the_tenth_percentile_lies_between_two_values(void **state)
{
	(void)state;
	assert_is(isolated_tenth(VALUES(7)), 7);
	assert_is(isolated_tenth(VALUES(30, 10, 20)), 12);
	assert_is(isolated_tenth(VALUES(11, 10, 9, 8, 7, 6, 5, 4, 3, 2, 1)), 2);
	assert_true(isnan(isolated_tenth((struct isolated_values){ NULL, 0 })));
}

static void the_center_is_the_hodges_lehmann_estimate(void **state)
{
	(void)state;
	assert_is(isolated_center(VALUES(7)), 7);
	assert_is(isolated_center(VALUES(1, 2)), 1.5);
	assert_is(isolated_center(VALUES(1, 2, 9)), 3.5); /* the median of 1, 1.5, 2, 5, 5.5, 9 */
}

/* isolated_median of the means, written out. */
static double center_by_all_means(struct isolated_values values)
{
	static double means[64 * 65 / 2];
	size_t count = 0;
	for (size_t i = 0; i < values.count; i++)
		for (size_t k = i; k < values.count; k++)
			means[count++] = (values.at[i] + values.at[k]) / 2;
	return isolated_median((struct isolated_values){ means, count });
}

static void the_center_is_exact(void **state)
{
	(void)state;
	double values[64];
	uint64_t seed = 52;
	for (size_t count = 1; count <= 64; count++)
		for (int unit = 1; unit <= 1000000; unit *= 1000) {
			/* With the largest unit most values are equal, and some are negative. */
			for (size_t k = 0; k < count; k++)
				values[k] = unit * floor(gauss(&seed) * 1000000 / unit);
			const struct isolated_values all = { values, count };
			assert_is(isolated_center(all), center_by_all_means(all));
		}
	assert_true(isnan(isolated_center((struct isolated_values){ NULL, 0 })));
}

/* A job with many shapes has thousands of calls. All means of their times would take 7 GB. */
static void the_center_of_many_values_needs_little_memory(void **state)
{
	(void)state;
	enum { count = 40001 };
	static double values[count];
	for (size_t k = 0; k < count; k++)
		values[k] = (double)(k * 7 % count);
	assert_is(isolated_center((struct isolated_values){ values, count }), count / 2);
}

static void the_center_varies_less_than_the_median(void **state)
{
	(void)state;
	enum { rounds = 400, count = 25 };
	double centers[rounds], medians[rounds], noise[count];
	uint64_t seed = 5236;
	for (size_t i = 0; i < rounds; i++) {
		for (size_t k = 0; k < count; k++)
			noise[k] = gauss(&seed);
		const struct isolated_values values = { noise, count };
		centers[i] = isolated_center(values);
		medians[i] = isolated_median(values);
	}
	const double center = isolated_deviation((struct isolated_values){ centers, rounds });
	assert_true(center < 1.1 / sqrt(count)); /* the deviation of the mean is 1 / sqrt(count) */
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

static void the_deviation_is_of_a_sample(void **state)
{
	(void)state;
	assert_is(isolated_deviation(VALUES(1, 2, 3, 4, 5)), sqrt(2.5));
	assert_is(isolated_deviation(VALUES(1, 2, 6)), sqrt(7));
	assert_is(isolated_deviation(VALUES(1, 3)), sqrt(2));
	assert_true(isolated_deviation(VALUES(7)) == 0);
}

static void a_quarter_of_the_values_cannot_move_the_interval(void **state)
{
	(void)state;
	enum { count = 76 };
	double values[count];
	uint64_t seed = 3;
	for (size_t i = 0; i < count; i++)
		values[i] = 100 + gauss(&seed);
	const struct isolated_values all = { values, count };
	const double center = isolated_center(all), error = isolated_standard_error(all);
	assert_near(error, 1 / sqrt(count), 0.2 / sqrt(count));
	for (size_t i = 0; i < count / 4; i++)
		values[i] = 1e6;
	assert_near(isolated_center(all), center, 1);
	assert_true(isolated_standard_error(all) < 4 * error);
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
		held += fabs(isolated_center(values) - 100) <= isolated_half_width(values, 0.95);
	}
	assert_near((double)held / rounds, 0.95, 0.02);
	assert_near(isolated_half_width(VALUES(1, 2, 3, 4, 5), 0.95), 2.7764 * 1.45 / 2, 1e-4);
	assert_near(isolated_half_width(VALUES(1, 3), 0.95), 12.706 * 1.45, 5e-4);
	assert_true(isinf(isolated_half_width(VALUES(1), 0.95)));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(median_and_minimum_of_values),
		cmocka_unit_test(the_tenth_percentile_lies_between_two_values),
		cmocka_unit_test(the_center_is_the_hodges_lehmann_estimate),
		cmocka_unit_test(the_center_is_exact),
		cmocka_unit_test(the_center_of_many_values_needs_little_memory),
		cmocka_unit_test(the_center_varies_less_than_the_median),
		cmocka_unit_test(a_quarter_of_the_values_does_not_move_the_center),
		cmocka_unit_test(the_deviation_is_of_a_sample),
		cmocka_unit_test(a_quarter_of_the_values_cannot_move_the_interval),
		cmocka_unit_test(quantiles_are_of_student_s_distribution),
		cmocka_unit_test(an_interval_contains_the_truth_as_often_as_it_claims),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
