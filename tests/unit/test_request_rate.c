#include "cgi/http/request_rate.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include <cmocka.h>

enum { most = 5 };

/* Takes one for each of `count`, over and over until no minute has ended meanwhile; what was taken
 * last. */
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

static void each_request_takes_one_until_none_is_left(void **state)
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

static void nobody_takes_anothers(void **state)
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

/* A flood of others, each of whom asks once, is forgotten before somebody who asks often. */
static void who_asks_often_is_remembered_in_a_flood(void **state)
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
		cmocka_unit_test(each_request_takes_one_until_none_is_left),
		cmocka_unit_test(nobody_takes_anothers),
		cmocka_unit_test(without_a_limit_nothing_is_counted),
		cmocka_unit_test(who_asks_often_is_remembered_in_a_flood),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
