/* The texts about a comparison on the pages, and which comparisons an entry of a ranking shows. */
#include "cgi/page/ranking_notes.h"
#include "lib/base/scope.h"
#include "lib/database/database.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

static void assert_words(double low, double ratio, double high, const char *expected)
{
	cleanup_arena struct arena *arena = arena_new();
	struct head_to_head_row row = { .ratio = ratio, .ratio_low = low, .ratio_high = high };
	assert_string_equal(head_to_head_words(arena, &row), expected);
}

static void an_interval_that_contains_1_is_a_tie(void **state)
{
	(void)state;
	assert_words(0.994, 0.998, 1.003, "0.998 (0.994 to 1.003): a tie");
	assert_words(1, 1, 1, "1.000 (1.000 to 1.000): a tie");
	assert_words(0.98, 0.99, 1, "0.990 (0.980 to 1.000): a tie");
	assert_words(0.99999, 1, 1.00001, "1.000 (1.000 to 1.000): a tie");
}

static void the_faster_side_and_its_lead_are_named(void **state)
{
	(void)state;
	assert_words(0.985, 0.988, 0.991, "0.988 (0.985 to 0.991): 1.2 % faster");
	assert_words(1.009, 1.012, 1.015, "1.012 (1.009 to 1.015): 1.2 % slower");
	assert_words(0.5, 0.75, 0.8, "0.750 (0.500 to 0.800): 25 % faster");
	assert_words(1.1, 1.25, 1.3, "1.250 (1.100 to 1.300): 25 % slower");
	assert_words(9.4, 9.5, 9.6, "9.500 (9.400 to 9.600): 9.50× slower");
	assert_words(40, 41, 42, "41.000 (40.000 to 42.000): 41.0× slower");
	assert_words(1655740, 1655741, 1655742,
		"1655741.000 (1655740.000 to 1655742.000): 1.66 million× slower");
}

static void assert_sentence(
	const struct head_to_head_row *row, const char *worker, const char *expected)
{
	cleanup_arena struct arena *arena = arena_new();
	assert_string_equal(head_to_head_sentence(arena, row, "dora", worker, "timing 1/2"), expected);
}

static void a_sentence_says_what_a_comparison_means(void **state)
{
	(void)state;
	struct head_to_head_row row = {
		.rival = "ada", .state = "done", .ratio = 0.988, .ratio_low = 0.985, .ratio_high = 0.991
	};
	assert_sentence(&row, "here", "dora is 1.2 % faster than ada.");
	row.ratio_high = 1;
	assert_sentence(&row, "here", "dora and ada tie.");
	row.ratio_low = row.ratio_high = NAN;
	assert_sentence(&row, "here", "dora and ada tie.");
	row.ratio = 41, row.ratio_low = 40, row.ratio_high = 42;
	assert_sentence(&row, "here", "dora is 41.0× slower than ada.");
	row.ratio = NAN, row.loser = -1;
	assert_sentence(&row, "here", "ada failed in this run and lost.");
	row.loser = 0;
	assert_sentence(&row, "here", "The comparison has no result.");
	row.state = "running";
	assert_sentence(&row, "here", "Running on here: timing 1/2.");
	assert_sentence(&row, NULL, "Running: timing 1/2.");
	row.state = "queued";
	assert_sentence(&row, NULL, "Waiting in the queue.");
}

static void no_decided_interval_is_rounded_to_1(void **state)
{
	(void)state;
	assert_words(0.9990, 0.9992, 0.9996, "0.9992 (0.9990 to 0.9996): 0.080 % faster");
	assert_words(1.00001, 1.0002, 1.0004, "1.00020 (1.00001 to 1.00040): 0.020 % slower");
	assert_words(0.9999990, 0.9999992, 0.9999994,
		"0.999999 (0.999999 to 0.999999): less than 0.001 % faster");
}

static void an_interval_without_bounds_is_not_shown(void **state)
{
	(void)state;
	assert_words(0, 1.2, INFINITY, "1.200 (at least 4 blocks needed): a tie");
	assert_words(0, 0.7, 895627, "0.700 (at least 4 blocks needed): a tie");
	assert_words(0.0999, 1, 10.01, "1.000 (at least 4 blocks needed): a tie");
	assert_words(NAN, 1.2, NAN, "1.200 (at least 4 blocks needed): a tie");
	assert_words(0.1, 1, 10, "1.000 (0.100 to 10.000): a tie");
	/* The ranking still uses such an interval if it does not contain 1. */
	assert_words(0.0005, 0.01, 0.2, "0.010 (at least 4 blocks needed): 100× faster");
	cleanup_arena struct arena *arena = arena_new();
	assert_string_equal(head_to_head_interval(arena, 0.998, 0.994, 1.003), "0.9940 to 1.0030");
	assert_string_equal(head_to_head_interval(arena, 1, 0, 895627), "at least 4 blocks needed");
}

static void assert_effect(const struct head_to_head_row *row, const char *expected)
{
	cleanup_arena struct arena *arena = arena_new();
	assert_string_equal(head_to_head_effect(arena, row, "ada"), expected);
}

static void a_result_that_the_ranks_do_not_show_says_why(void **state)
{
	(void)state;
	struct head_to_head_row row = { .rival = "bob",
		.ratio = 1,
		.ratio_low = 0.99,
		.ratio_high = 1.01,
		.place = 1,
		.rival_place = 1,
		.score_ns = 1000,
		.score_err_ns = 1,
		.rival_score_ns = 1005,
		.rival_score_err_ns = 1 };
	assert_effect(&row, "");
	row.rival_place = 3;
	row.lower_reason = ranking_reason_chain;
	row.lower_other = "ada";
	assert_effect(
		&row, " Yet bob has the lower rank. Ties with ada, but not with the fastest of that rank.");
	row.place = 4;
	row.lower_reason = ranking_reason_slower;
	row.lower_other = "cyd";
	assert_effect(&row, " Yet ada has the lower rank. Behind cyd: slower head to head.");
	row.ratio_high = 0.995; /* ada was faster and has the lower rank */
	row.lower_reason = ranking_reason_circle;
	assert_effect(
		&row, " Yet ada has the lower rank. Slower than cyd head to head, in a circle of results.");
	row.place = 2;
	assert_effect(&row, "");
	row.loser = 1;
	assert_effect(
		&row, " Yet bob has the lower rank. Slower than cyd head to head, in a circle of results.");
	row.rival_score_ns = 1011;
	assert_effect(
		&row, " This comparison no longer counts, because their times are no longer close.");
	row.rival_place = SQL_NULL_INTEGER;
	assert_effect(
		&row, " This comparison no longer counts, because one of the two is not its user’s best.");
}

static void each_reason_has_a_sentence(void **state)
{
	(void)state;
	cleanup_arena struct arena *arena = arena_new();
	assert_null(ranking_reason_words(arena, NULL, NULL));
	assert_string_equal(ranking_reason_words(arena, ranking_reason_failed, "ada"),
		"Behind ada: failed head to head.");
	assert_string_equal(
		ranking_reason_words(arena, ranking_reason_tie, "ada"), "Tied with ada head to head.");
	assert_string_equal(ranking_reason_words(arena, ranking_reason_tie, NULL),
		"Tied with another submission head to head.");
}

static void an_entry_has_the_comparisons_that_it_requested(void **state)
{
	(void)state;
	struct head_to_head_row rows[] = { { .id = 4, .job_id = 12 }, { .id = 7, .job_id = 12 },
		{ .id = 5, .job_id = 13 } };
	const struct ranking_notes notes = { .comparisons = rows, .comparison_count = 3 };
	size_t count;
	assert_ptr_equal(comparisons_of_job(&notes, 12, &count), &rows[0]);
	assert_int_equal(count, 2);
	assert_ptr_equal(comparisons_of_job(&notes, 13, &count), &rows[2]);
	assert_int_equal(count, 1);
	assert_null(comparisons_of_job(&notes, 14, &count));
	assert_int_equal(count, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(an_interval_that_contains_1_is_a_tie),
		cmocka_unit_test(the_faster_side_and_its_lead_are_named),
		cmocka_unit_test(a_sentence_says_what_a_comparison_means),
		cmocka_unit_test(no_decided_interval_is_rounded_to_1),
		cmocka_unit_test(an_interval_without_bounds_is_not_shown),
		cmocka_unit_test(a_result_that_the_ranks_do_not_show_says_why),
		cmocka_unit_test(each_reason_has_a_sentence),
		cmocka_unit_test(an_entry_has_the_comparisons_that_it_requested),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
