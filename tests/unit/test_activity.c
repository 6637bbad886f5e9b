/* The calendar of a profile: days become squares of four shades, and are added up to weeks. */
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

static void the_last_day_is_today_and_weeks_start_on_mondays(void **state)
{
	(void)state;
	const int64_t moments[] = { monday, monday + 5 * hour, monday + 7 * day - 1 };
	for (size_t i = 0; i < COUNT(moments); i++) {
		struct activity activity = activity_make(NULL, 0, moments[i]);
		assert_int_equal(activity_week_ms(&activity, last), monday);
		assert_int_equal(activity_week_ms(&activity, 0), monday - last * 7 * day);
		assert_int_equal(activity.day_count, last * 7 + (i == 2 ? 7 : 1));
	}
	struct activity before = activity_make(NULL, 0, monday - 1);
	assert_int_equal(activity_week_ms(&before, last), monday - 7 * day);
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
	assert_int_equal(activity_of_week(&activity, last), 3);
	assert_int_equal(activity_of_week(&activity, last - 1), 5);
	assert_int_equal(activity_of_week(&activity, 0), 4);
	assert_int_equal(activity.submissions, 12);
	assert_int_equal(activity.active_days, 4);
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

static void assert_path(const struct activity *activity, int level, const char *expected)
{
	cleanup_arena struct arena *arena = arena_new();
	assert_string_equal(activity_path(arena, activity, level), expected);
}

static void a_day_has_the_shade_of_its_share_of_the_most(void **state)
{
	(void)state;
	/* The first four days of the first week, and today, Tuesday of the last one. */
	const int64_t first = monday - last * 7 * day;
	const struct activity_day days[] = { { first, 1 }, { first + day, 25 }, { first + 2 * day, 26 },
		{ first + 3 * day, 75 }, { monday + day, 100 } };
	struct activity activity = activity_make(days, COUNT(days), monday + day);
	assert_path(&activity, 1, "M29 19h8M29 29h8");
	assert_path(&activity, 2, "M29 39h8");
	assert_path(&activity, 3, "M29 49h8");
	assert_path(&activity, 4, "M549 29h8");
	assert_path(
		&activity, 0, "M29 19h530M29 29h530M29 39h520M29 49h520M29 59h520M29 69h520M29 79h520");
	struct activity none = activity_make(NULL, 0, monday);
	assert_path(&none, 1, "");
}

static void a_month_is_named_where_it_begins(void **state)
{
	(void)state;
	struct activity activity = activity_make(NULL, 0, monday);
	/* 1 December 2024 was a Sunday, 1 March 2025 a Saturday. */
	assert_string_equal(activity_month(&activity, 0), "Dec");
	assert_null(activity_month(&activity, 1));
	assert_string_equal(activity_month(&activity, 13), "Mar");
	size_t named = 0;
	for (size_t i = 0; i < activity_weeks; i++)
		named += activity_month(&activity, i) != NULL;
	assert_int_equal(named, 12);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_last_day_is_today_and_weeks_start_on_mondays),
		cmocka_unit_test(the_days_of_a_week_are_added),
		cmocka_unit_test(days_outside_the_period_are_ignored),
		cmocka_unit_test(a_day_has_the_shade_of_its_share_of_the_most),
		cmocka_unit_test(a_month_is_named_where_it_begins),
	};
	return cmocka_run_group_tests_name("activity", tests, NULL, NULL);
}
