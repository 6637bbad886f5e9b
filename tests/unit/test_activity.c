/* The activity chart of a profile: days are added up to weeks, and weeks become bars. */
#include "cgi/page/activity.h"
#include "lib/base/scope.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

static const int64_t hour = 60 * 60 * INT64_C(1000), day = 24 * 60 * 60 * INT64_C(1000);
static const int64_t monday = INT64_C(1763942400000); /* 2025-11-24 00:00 UTC */
enum { last = activity_weeks - 1 };

static void the_last_week_contains_now_and_weeks_start_on_mondays(void **state)
{
	(void)state;
	const int64_t moments[] = { monday, monday + 5 * hour, monday + 7 * day - 1 };
	for (size_t i = 0; i < COUNT(moments); i++) {
		struct activity activity = activity_make(NULL, 0, moments[i]);
		assert_int_equal(activity.weeks[last].monday_ms, monday);
		assert_int_equal(activity.weeks[0].monday_ms, monday - last * 7 * day);
	}
	assert_int_equal(activity_make(NULL, 0, monday - 1).weeks[last].monday_ms, monday - 7 * day);
}

static void the_days_of_a_week_are_added(void **state)
{
	(void)state;
	const struct activity_day days[] = {
		{ monday - 1 * day, 5 },
		{ monday, 1 },
		{ monday + 2 * day, 2 },
		{ monday - last * 7 * day, 4 },
	};
	struct activity activity = activity_make(days, COUNT(days), monday + 3 * day);
	assert_int_equal(activity.weeks[last].submissions, 3);
	assert_int_equal(activity.weeks[last - 1].submissions, 5);
	assert_int_equal(activity.weeks[0].submissions, 4);
	assert_int_equal(activity.submissions, 12);
	assert_int_equal(activity.most, 5);
}

static void days_outside_the_period_are_ignored(void **state)
{
	(void)state;
	const struct activity_day days[] = { { monday - last * 7 * day - day, 7 }, { monday + day, 7 },
		{ monday + 9 * day, 7 } };
	struct activity activity = activity_make(days, COUNT(days), monday + hour);
	assert_int_equal(activity.submissions, 0);
	assert_int_equal(activity.most, 0);
}

static void bars_are_proportional_and_a_single_submission_is_visible(void **state)
{
	(void)state;
	const struct activity_day days[] = { { monday, 1000 }, { monday - 7 * day, 500 },
		{ monday - 14 * day, 1 } };
	struct activity activity = activity_make(days, COUNT(days), monday);
	assert_int_equal(activity.weeks[last].height, activity_height);
	assert_int_equal(activity.weeks[last - 1].height, activity_height / 2);
	assert_int_equal(activity.weeks[last - 2].height, 1);
	assert_int_equal(activity.weeks[last - 3].height, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_last_week_contains_now_and_weeks_start_on_mondays),
		cmocka_unit_test(the_days_of_a_week_are_added),
		cmocka_unit_test(days_outside_the_period_are_ignored),
		cmocka_unit_test(bars_are_proportional_and_a_single_submission_is_visible),
	};
	return cmocka_run_group_tests_name("activity", tests, NULL, NULL);
}
