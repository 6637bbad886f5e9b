#include "cgi/server/database_health.h"
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include <cmocka.h>

enum { calls = 40 }; /* of 50 ms each, until a silent database counts as away */

static bool after(struct database_silence *silence, int count, bool awaits, uint64_t more)
{
	bool is_silent = false;
	for (int i = 0; i < count; i++)
		is_silent = database_is_silent(silence, awaits, silence->answers + more);
	return is_silent;
}

static void a_ping_without_an_answer_for_two_seconds_is_silence(void **state)
{
	(void)state;
	struct database_silence silence = { 0 };
	assert_false(after(&silence, calls - 1, true, 0));
	assert_true(after(&silence, 1, true, 0));
	assert_false(after(&silence, 1, false, 0));
	assert_false(after(&silence, calls - 1, true, 0));
}

static void a_late_ping_is_no_silence_while_other_statements_are_answered(void **state)
{
	(void)state;
	struct database_silence silence = { 0 };
	assert_false(after(&silence, 10 * calls, true, 1));
	assert_false(after(&silence, calls - 1, true, 0));
	assert_false(after(&silence, 1, true, 1));
	assert_false(after(&silence, calls - 1, true, 0));
	assert_true(after(&silence, 1, true, 0));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_ping_without_an_answer_for_two_seconds_is_silence),
		cmocka_unit_test(a_late_ping_is_no_silence_while_other_statements_are_answered),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
