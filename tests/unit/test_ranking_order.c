#include "lib/base/scope.h"
#include "lib/ranking/ranking.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#define ENTRY(submission, score, err) \
	{ \
		.user_id = 100 + (submission), .submission_id = (submission), .file_id = (submission), \
		.score_ns = (score), .score_err_ns = (err) \
	}

struct expected {
	int64_t submission_id, place;
};

static void assert_order(
	struct ranking_entry *entries, const struct expected *expected, size_t count)
{
	ranking_order(entries, count, NULL, 0);
	for (size_t i = 0; i < count; i++) {
		assert_int_equal(entries[i].submission_id, expected[i].submission_id);
		assert_int_equal(entries[i].place, expected[i].place);
		assert_int_equal(entries[i].position, i + 1);
		assert_int_equal(entries[i].user_id, 100 + entries[i].submission_id);
	}
}

static void the_fastest_comes_first(void **state)
{
	(void)state;
	struct ranking_entry entries[] = { ENTRY(1, 300, 1), ENTRY(2, 100, 1), ENTRY(3, 200, 1) };
	assert_order(entries, (struct expected[]){ { 2, 1 }, { 3, 2 }, { 1, 3 } }, COUNT(entries));
}

static void empty_and_single_rankings_work(void **state)
{
	(void)state;
	struct ranking_entry entries[] = { ENTRY(7, 5, NAN) };
	ranking_order(NULL, 0, NULL, 0);
	assert_order(entries, (struct expected[]){ { 7, 1 } }, 1);
}

static void within_noise_the_place_is_shared_in_order_of_time(void **state)
{
	(void)state;
	/* 1.96 * sqrt(3^2 + 4^2) = 9.8 */
	struct ranking_entry entries[] = { ENTRY(9, 100, 3), ENTRY(4, 109.8, 4), ENTRY(2, 109.81, 4),
		ENTRY(8, 500, 1) };
	assert_order(
		entries, (struct expected[]){ { 9, 1 }, { 4, 1 }, { 2, 3 }, { 8, 4 } }, COUNT(entries));
}

static void ties_are_with_the_fastest_of_a_group_so_they_do_not_chain(void **state)
{
	(void)state;
	/* Each score is within noise of its neighbor (1.96 * sqrt(2) = 2.77), but 104 is not within
	 * noise of 100. */
	struct ranking_entry entries[] = { ENTRY(3, 100, 1), ENTRY(2, 102, 1), ENTRY(1, 104, 1),
		ENTRY(4, 106, 1) };
	assert_order(
		entries, (struct expected[]){ { 3, 1 }, { 2, 1 }, { 1, 3 }, { 4, 3 } }, COUNT(entries));
}

static void a_noisy_entry_does_not_tie_past_a_clearly_slower_one(void **state)
{
	(void)state;
	struct ranking_entry entries[] = { ENTRY(3, 100, 1), ENTRY(1, 110, 1), ENTRY(2, 111, 50) };
	assert_order(entries, (struct expected[]){ { 3, 1 }, { 1, 2 }, { 2, 2 } }, COUNT(entries));
}

static void without_an_error_only_equal_scores_tie(void **state)
{
	(void)state;
	struct ranking_entry entries[] = { ENTRY(5, 100, 1), ENTRY(4, 100, NAN), ENTRY(3, 100.5, 90),
		ENTRY(2, 101, NAN) };
	assert_order(
		entries, (struct expected[]){ { 4, 1 }, { 5, 1 }, { 3, 3 }, { 2, 4 } }, COUNT(entries));
}

static void an_error_of_zero_ties_equal_scores(void **state)
{
	(void)state;
	struct ranking_entry entries[] = { ENTRY(2, 1, 0), ENTRY(1, 1, 0),
		ENTRY(3, nextafter(1, 2), 0) };
	assert_order(entries, (struct expected[]){ { 1, 1 }, { 2, 1 }, { 3, 3 } }, COUNT(entries));
}

static void the_order_of_the_entries_does_not_matter(void **state)
{
	(void)state;
	enum { count = 60 };
	struct ranking_entry first[count], again[count];
	srandom(1);
	for (int i = 0; i < count; i++)
		first[i] = again[i] = (struct ranking_entry)ENTRY(
			i + 1, 100 + random() % 20, random() % 3 ? (double)(random() % 3) : NAN);
	ranking_order(first, count, NULL, 0);
	for (int round = 0; round < 50; round++) {
		for (size_t i = count - 1; i > 0; i--) {
			size_t other = (size_t)random() % (i + 1);
			struct ranking_entry kept = again[i];
			again[i] = again[other];
			again[other] = kept;
		}
		ranking_order(again, count, NULL, 0);
		for (size_t i = 0; i < count; i++) {
			assert_int_equal(again[i].submission_id, first[i].submission_id);
			assert_int_equal(again[i].place, first[i].place);
		}
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_fastest_comes_first),
		cmocka_unit_test(empty_and_single_rankings_work),
		cmocka_unit_test(within_noise_the_place_is_shared_in_order_of_time),
		cmocka_unit_test(ties_are_with_the_fastest_of_a_group_so_they_do_not_chain),
		cmocka_unit_test(a_noisy_entry_does_not_tie_past_a_clearly_slower_one),
		cmocka_unit_test(without_an_error_only_equal_scores_tie),
		cmocka_unit_test(an_error_of_zero_ties_equal_scores),
		cmocka_unit_test(the_order_of_the_entries_does_not_matter),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
