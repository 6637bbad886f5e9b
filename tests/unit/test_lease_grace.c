/* Expired leases may be reclaimed only after the database has answered for a whole lease. */
#include "lib/job/lease_grace.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

enum { lease_ms = 30000, second = 1000, day = 24 * 3600 * 1000 };

/* Notes an answer of the database once a second, from the time `here` to just before `end`. The
 * database's clock is `ahead` of the local clock. All times are in ms. */
static void answers(struct lease_grace *contact, int64_t here, int64_t end, int64_t ahead)
{
	for (; here < end; here += second)
		lease_grace_note(contact, here, here + ahead, lease_ms);
}

static void leases_count_from_the_first_answer(void **state)
{
	(void)state;
	struct lease_grace contact = { 0 };
	assert_false(lease_grace_is_over(&contact, lease_ms));
	answers(&contact, 500 * second, 530 * second, day);
	assert_false(lease_grace_is_over(&contact, lease_ms));
	answers(&contact, 530 * second, 531 * second, day);
	assert_true(lease_grace_is_over(&contact, lease_ms));
}

static void an_outage_restarts_the_count(void **state)
{
	(void)state;
	struct lease_grace contact = { 0 };
	answers(&contact, 0, 100 * second, day);
	answers(&contact, 114 * second, 115 * second, day); /* the silence was shorter than the lease */
	assert_true(lease_grace_is_over(&contact, lease_ms));
	answers(&contact, 174 * second, 204 * second, day);
	assert_false(lease_grace_is_over(&contact, lease_ms));
	answers(&contact, 204 * second, 205 * second, day);
	assert_true(lease_grace_is_over(&contact, lease_ms));
}

static void a_change_of_the_database_s_clock_restarts_the_count(void **state)
{
	(void)state;
	for (int64_t jump = -day; jump <= day; jump += 2 * day) {
		struct lease_grace contact = { 0 };
		answers(&contact, 0, 100 * second, 0);
		answers(&contact, 100 * second, 101 * second, jump);
		assert_false(lease_grace_is_over(&contact, lease_ms));
		answers(&contact, 101 * second, 131 * second, jump);
		assert_true(lease_grace_is_over(&contact, lease_ms));
	}
}

static void a_lease_is_renewed_several_times_before_it_expires(void **state)
{
	(void)state;
	assert_int_equal(lease_grace_pause_ms(lease_ms), 1000);
	assert_int_equal(lease_grace_pause_ms(600 * second), 1000);
	assert_int_equal(lease_grace_pause_ms(1000), 250);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(leases_count_from_the_first_answer),
		cmocka_unit_test(an_outage_restarts_the_count),
		cmocka_unit_test(a_change_of_the_database_s_clock_restarts_the_count),
		cmocka_unit_test(a_lease_is_renewed_several_times_before_it_expires),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
