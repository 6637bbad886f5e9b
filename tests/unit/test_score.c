#include "lib/base/scope.h"
#include "lib/task/task.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

static const double MEANS[] = { 100, 400, 1600 }, ERRS[] = { 1, 4, 16 };

static void assert_near(double value, double expected)
{
	if (!(fabs(value - expected) <= 1e-12 * fabs(expected)))
		fail_msg("expected %.17g, got %.17g", expected, value);
}

static void each_rule_gives_its_score_and_error(void **state)
{
	(void)state;
	static const struct {
		enum task_ranking_by rule;
		double score, err;
	} cases[] = {
		{ RANKING_BY_LAST, 1600, 16 },
		{ RANKING_BY_MEAN, 700, 5.507570547286102 },  /* sqrt(1 + 16 + 256) / 3 */
		{ RANKING_BY_GEOM, 400, 2.3094010767585034 }, /* 400 * sqrt(3 * 0.01^2) / 3 */
	};
	for (size_t i = 0; i < COUNT(cases); i++) {
		double score, err;
		assert_int_equal(
			task_score(cases[i].rule, MEANS, ERRS, COUNT(MEANS), &score, &err, NULL), 0);
		assert_near(score, cases[i].score);
		assert_near(err, cases[i].err);
	}
}

static void a_thousand_tiny_times_do_not_underflow(void **state)
{
	(void)state;
	double means[1000], score, err;
	for (size_t i = 0; i < COUNT(means); i++)
		means[i] = 1e-9;
	assert_int_equal(task_score(RANKING_BY_GEOM, means, NULL, COUNT(means), &score, &err, NULL), 0);
	assert_true(score == 1e-9);
	assert_true(isnan(err));
	for (size_t i = 0; i < COUNT(means); i++)
		means[i] = i % 2 ? 1e300 : 1e-300;
	assert_int_equal(task_score(RANKING_BY_GEOM, means, NULL, COUNT(means), &score, &err, NULL), 0);
	assert_true(fabs(score - 1) < 1e-9);
	for (size_t i = 0; i < COUNT(means); i++)
		means[i] = 1e308;
	assert_int_equal(task_score(RANKING_BY_MEAN, means, NULL, COUNT(means), &score, &err, NULL), 0);
	assert_true(isfinite(score));
}

static void an_unknown_error_of_one_case_makes_the_total_unknown(void **state)
{
	(void)state;
	const double errs[] = { 1, NAN, 1 };
	double score, err;
	assert_int_equal(task_score(RANKING_BY_GEOM, MEANS, errs, COUNT(MEANS), &score, &err, NULL), 0);
	assert_true(isnan(err));
	assert_int_equal(task_score(RANKING_BY_MEAN, MEANS, errs, COUNT(MEANS), &score, &err, NULL), 0);
	assert_true(isnan(err));
	assert_int_equal(task_score(RANKING_BY_LAST, MEANS, errs, COUNT(MEANS), &score, &err, NULL), 0);
	assert_true(err == 1);
}

static void a_wide_interval_counts_with_its_upper_end(void **state)
{
	(void)state;
	/* 1 % of 100 us and 0.4 us are 1.4 us: the half-width 1.96 * err may not exceed that. */
	static const struct {
		double mean, err, counted, counted_err;
	} cases[] = {
		{ 100e3, 1400 / 1.96 - 1e-6, 100e3, 1400 / 1.96 - 1e-6 },
		{ 100e3, 1400 / 1.96 + 1e-6, 101400, 1400 / 1.96 },
		{ 100e3, 10e3, 119600, 1400 / 1.96 },
		{ 1000, 200, 1000, 200 },
		{ 1000, 0, 1000, 0 },
	};
	for (size_t i = 0; i < COUNT(cases); i++) {
		double mean = cases[i].mean, err = cases[i].err, extra = task_charge_noise(&mean, &err);
		assert_true(fabs(mean - cases[i].counted) < 1e-3);
		assert_true(fabs(err - cases[i].counted_err) < 1e-3);
		assert_true(fabs(extra - (mean - cases[i].mean)) < 1e-3);
	}
	double mean = 5, err = NAN;
	assert_true(task_charge_noise(&mean, &err) == 0 && mean == 5 && isnan(err));
}

static void invalid_times_are_refused(void **state)
{
	(void)state;
	static const double bad[] = { 0, -1, NAN, INFINITY, -INFINITY };
	static const enum task_ranking_by rules[] = { RANKING_BY_LAST, RANKING_BY_MEAN,
		RANKING_BY_GEOM };
	double score, err;
	struct error error;
	for (size_t i = 0; i < COUNT(bad) * COUNT(rules); i++) {
		const double means[] = { 5, bad[i / COUNT(rules)], 5 };
		assert_int_equal(
			task_score(rules[i % COUNT(rules)], means, ERRS, COUNT(means), &score, &err, &error),
			ERROR_INPUT);
		assert_non_null(strstr(error.text, "benchmark 2 is"));
	}
	assert_int_equal(task_score(RANKING_BY_LAST, NULL, NULL, 0, &score, &err, &error), ERROR_INPUT);
}

static bool near(double a, double b)
{
	return fabs(a - b) < 1e-9 * fabs(b);
}

static void a_comparison_weighs_the_cases_as_the_score_does(void **state)
{
	(void)state;
	/* The entry is twice as fast in a case of 10 ns and equally fast in a case of 90 ns. Their
	 * intervals reach 1 % and 3 %; the second one reaches farther down than up. */
	const struct task_ratio cases[] = {
		{ .ratio = 0.5, .low = 0.5 / 1.01, .high = 0.5 * 1.01, .other_ns = 10 },
		{ .ratio = 1, .low = 1 / 1.03, .high = 1.02, .other_ns = 90 },
	};
	struct task_ratio last = task_ratio(RANKING_BY_LAST, cases, 2),
					  mean = task_ratio(RANKING_BY_MEAN, cases, 2),
					  geom = task_ratio(RANKING_BY_GEOM, cases, 2);
	assert_true(near(last.ratio, 1) && near(last.low, 1 / 1.03) && near(last.high, 1.02));
	assert_true(near(mean.ratio, 0.95) && near(geom.ratio, sqrt(0.5)));
	assert_true(near(log(mean.high / mean.ratio), hypot(log(1.01) * 5 / 95, log(1.03) * 90 / 95)));
	assert_true(near(log(geom.high / geom.ratio), hypot(log(1.01), log(1.03)) / 2));
	assert_true(near(geom.ratio / geom.low, geom.high / geom.ratio));
	/* A single case keeps its own interval. */
	assert_true(near(task_ratio(RANKING_BY_GEOM, cases, 1).high, cases[0].high));
	assert_true(near(task_ratio(RANKING_BY_MEAN, cases, 1).low, cases[0].low));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(each_rule_gives_its_score_and_error),
		cmocka_unit_test(a_thousand_tiny_times_do_not_underflow),
		cmocka_unit_test(an_unknown_error_of_one_case_makes_the_total_unknown),
		cmocka_unit_test(a_wide_interval_counts_with_its_upper_end),
		cmocka_unit_test(invalid_times_are_refused),
		cmocka_unit_test(a_comparison_weighs_the_cases_as_the_score_does),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
