#include "cgi/http/request_rate.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include <cmocka.h>

enum { most = 5 };

/* Takes `count` requests of one visitor, and starts again with another visitor if a minute ends
 * meanwhile. *first gets the result of the first request; returns that of the last. */
static struct request_rate take_within_a_minute(
	const char *prefix, int count, struct request_rate *first)
{
	static int round;
	struct request_rate last;
	char whom[64];
	do {
		round++;
		for (int i = 0; i < count; i++) {
			snprintf(whom, sizeof whom, "%s %d", prefix, round);
			request_rate_take(most, whom, i ? &last : first);
		}
	} while (last.renewed_in_s > first->renewed_in_s);
	return last;
}

static void each_request_uses_one_until_none_is_left(void **state)
{
	(void)state;
	struct request_rate first, last = take_within_a_minute("token", most, &first);
	assert_int_equal(first.most, most);
	assert_int_equal(first.left, most - 1);
	assert_int_equal(last.left, 0);
	assert_false(last.is_used_up);
	assert_in_range(last.renewed_in_s, 1, 60);
	last = take_within_a_minute("token", most + 1, &first);
	assert_int_equal(last.left, 0);
	assert_true(last.is_used_up);
}

static void visitors_have_separate_limits(void **state)
{
	(void)state;
	struct request_rate mine, theirs;
	take_within_a_minute("mine", most + 1, &mine);
	request_rate_take(most, "theirs", &theirs);
	assert_int_equal(theirs.left, most - 1);
}

static void without_a_limit_nothing_is_counted(void **state)
{
	(void)state;
	struct request_rate allowance;
	for (int i = 0; i < 3 * most; i++)
		request_rate_take(0, "anyone", &allowance);
	assert_int_equal(allowance.most, 0);
	assert_false(allowance.is_used_up);
}

/* In a flood of visitors with one request each, frequent visitors must not be forgotten. */
static void frequent_visitors_are_remembered_in_a_flood(void **state)
{
	(void)state;
	enum { flood = 100000 };
	struct request_rate first, other, last;
	char whom[64];
	do {
		for (int i = 0; i < 3; i++)
			request_rate_take(most, "often", i ? &last : &first);
		for (int i = 0; i < flood; i++) {
			snprintf(whom, sizeof whom, "address %d", i);
			request_rate_take(most, whom, &other);
		}
		request_rate_take(most, "often", &last);
	} while (last.renewed_in_s > first.renewed_in_s);
	assert_int_equal(first.left - last.left, 3);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(each_request_uses_one_until_none_is_left),
		cmocka_unit_test(visitors_have_separate_limits),
		cmocka_unit_test(without_a_limit_nothing_is_counted),
		cmocka_unit_test(frequent_visitors_are_remembered_in_a_flood),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
