/* Two submissions side by side: which cases are paired, and how two times are compared in words. */
#include "cgi/page/submission_diff.h"
#include "lib/base/scope.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

enum { a_id = 5, b_id = 7 };

#define CASE(id, spec_text, ns) \
	{ \
		.submission_id = (id), .gpu = "H200", .verdict = "passed", .spec = (spec_text), \
		.score_ns = NAN, .score_err_ns = NAN, .mean_ns = (ns), .err_ns = 1 \
	}

static void assert_words(
	double a_ns, double a_err_ns, double b_ns, double b_err_ns, const char *expected)
{
	cleanup_arena struct arena *arena = arena_new();
	struct submission_diff_times times = { a_ns, a_err_ns, b_ns, b_err_ns };
	assert_string_equal(submission_diff_words(arena, &times), expected);
}

static void a_difference_is_shown_unless_it_is_noise_or_a_time_is_missing(void **state)
{
	(void)state;
	assert_words(1000, 1, 969, 1, "3.1 % faster");
	assert_words(1000, 1, 1400, 1, "40 % slower");
	assert_words(1000, 10, 1027, 10, "within noise");
	assert_words(1000, 10, 1028, 10, "2.8 % slower");
	assert_words(1000, NAN, 1000, NAN, "within noise");
	assert_words(1000, NAN, 990, 1, "1.0 % faster, ± unknown");
	assert_words(10, 20, 1000, 1, "100× slower, ± unknown");
	assert_words(NAN, NAN, 990, 1, "");
	assert_words(0, 0, 990, 1, "");
}

static void assert_outcome(const struct submission_diff_gpu *gpu,
	const struct submission_diff_view *view, const char *headline, const char *ranks)
{
	cleanup_arena struct arena *arena = arena_new();
	struct submission_diff_outcome outcome = submission_diff_outcome(arena, view, gpu);
	assert_string_equal(outcome.headline, headline);
	assert_string_equal(outcome.ranks, ranks);
}

static void the_consequence_is_a_sentence_with_the_ranks(void **state)
{
	(void)state;
	struct submission_diff_side a = { .id = 1, .user = "ada" }, b = { .id = 2, .user = "bob" };
	const struct submission_diff_view view = { .a = &a, .b = &b };
	struct submission_diff_gpu gpu = { .score = { 1000, 1, 969, 1 },
		.a_rank = { .place = 3, .is_tie = 1 },
		.b_rank = { .place = 2 } };
	assert_outcome(
		&gpu, &view, "bob (2) is 3.1 % faster than ada (1).", "bob has rank 2, ada has rank =3.");
	gpu.a_rank.place = 0;
	assert_outcome(
		&gpu, &view, "bob (2) is 3.1 % faster than ada (1).", "bob has rank 2, ada is not ranked.");
	b.user = "ada";
	assert_outcome(&gpu, &view, "2 is 3.1 % faster than 1.", "2 has rank 2, 1 is not ranked.");
	b.user = "bob";
	gpu.b_rank.place = 0;
	gpu.score = (struct submission_diff_times){ 10, 0.01, 1000, 0.01 };
	assert_outcome(&gpu, &view, "bob (2) is 100× slower than ada (1).", "");
	gpu.score = (struct submission_diff_times){ 1000, NAN, 900, 1 };
	assert_outcome(&gpu, &view, "bob (2) is 10.0 % faster than ada (1), but ± is unknown.", "");
	gpu.score = (struct submission_diff_times){ 1000, 10, NAN, NAN };
	assert_outcome(&gpu, &view, "bob (2) has no score to compare with.", "");
	gpu.score = (struct submission_diff_times){ NAN, NAN, NAN, NAN };
	assert_outcome(&gpu, &view, "There are no scores to compare.", "");
	/* Two that tie have two ranks, which needs a reason. */
	gpu.score = (struct submission_diff_times){ 1000, 10, 1001, 10 };
	gpu.a_rank = (struct submission_diff_rank){ .place = 1 };
	gpu.b_rank = (struct submission_diff_rank){ 2, 0, "slower", "ada" };
	assert_outcome(&gpu, &view, "ada (1) and bob (2) are within noise.",
		"bob has rank 2, ada has rank 1. Yet bob has the lower rank. "
		"Behind ada: slower head to head.");
	b.version_number = 2;
	assert_outcome(
		&gpu, &view, "ada (1) and bob (2) are within noise.", "bob has rank 2, ada has rank 1.");
}

static void cases_with_the_same_arguments_are_paired(void **state)
{
	(void)state;
	cleanup_arena struct arena *arena = arena_new();
	const struct submission_diff_row rows[] = {
		CASE(a_id, "size: 1", 10),
		CASE(a_id, "size: 2", 20),
		CASE(a_id, "size: 1", 30),
		CASE(b_id, "size: 1", 11),
		CASE(b_id, "size: 3", 33),
		CASE(b_id, "size: 1", 31),
	};
	static const struct {
		const char *spec;
		double a_ns, b_ns;
	} expected[] = {
		{ "size: 1", 10, 11 },
		{ "size: 2", 20, 0 },
		{ "size: 1", 30, 31 },
		{ "size: 3", 0, 33 },
	};
	struct submission_diff_gpu *gpus;
	assert_int_equal(submission_diff_join(arena, a_id, b_id, rows, COUNT(rows), &gpus), 1);
	assert_int_equal(gpus->case_count, COUNT(expected));
	for (size_t i = 0; i < COUNT(expected); i++) {
		const struct submission_diff_times *times = &gpus->cases[i].times;
		assert_string_equal(gpus->cases[i].spec, expected[i].spec);
		assert_true(expected[i].a_ns ? times->a_ns == expected[i].a_ns : isnan(times->a_ns));
		assert_true(expected[i].b_ns ? times->b_ns == expected[i].b_ns : isnan(times->b_ns));
	}
	assert_false(gpus->has_scores);
	assert_false(gpus->has_environments);
}

static void devices_are_compared_separately_and_hidden_times_are_not(void **state)
{
	(void)state;
	cleanup_arena struct arena *arena = arena_new();
	struct submission_diff_row rows[] = { CASE(a_id, "size: 1", 10), CASE(b_id, "size: 1", 11),
		CASE(b_id, "size: 1", 12) };
	struct submission_diff_gpu *gpus;
	rows[0].gpu = "A100";
	rows[0].score_ns = 10;
	rows[2].hidden = rows[1].hidden = 1;
	rows[1].score_ns = 11;
	assert_int_equal(submission_diff_join(arena, a_id, b_id, rows, COUNT(rows), &gpus), 2);
	assert_string_equal(gpus[0].gpu, "A100");
	assert_true(gpus[0].has_scores);
	assert_null(gpus[0].b_verdict);
	assert_string_equal(gpus[1].gpu, "H200");
	assert_string_equal(gpus[1].b_verdict, "passed");
	assert_int_equal(gpus[1].case_count, 0);
	assert_false(gpus[1].has_scores);
}

static void differences_of_the_environments_are_shown(void **state)
{
	(void)state;
	cleanup_arena struct arena *arena = arena_new();
	struct submission_diff_row rows[] = { CASE(a_id, "size: 1", 10), CASE(b_id, "size: 1", 11) };
	struct submission_diff_gpu *gpus;
	rows[0].environment = "{\"driver\": \"1\", \"torch\": \"2\", \"python\": \"3\"}";
	rows[1].environment = "{\"driver\": \"1\", \"torch\": \"3\", \"triton\": \"4\"}";
	submission_diff_join(arena, a_id, b_id, rows, COUNT(rows), &gpus);
	assert_true(gpus->has_environments);
	assert_int_equal(gpus->fact_count, 3);
	bool found = false;
	for (size_t i = 0; i < gpus->fact_count; i++) {
		const struct submission_diff_fact *fact = &gpus->facts[i];
		found =
			found || (fact->a && fact->b && strcmp(fact->a, "2") == 0 && strcmp(fact->b, "3") == 0);
		assert_true(!fact->a || !fact->b || strcmp(fact->a, fact->b) != 0);
	}
	assert_true(found);
}

static void a_submission_can_be_compared_with_itself(void **state)
{
	(void)state;
	cleanup_arena struct arena *arena = arena_new();
	const struct submission_diff_row rows[] = { CASE(a_id, "size: 1", 10),
		CASE(a_id, "size: 1", 20) };
	struct submission_diff_gpu *gpus;
	assert_int_equal(submission_diff_join(arena, a_id, a_id, rows, COUNT(rows), &gpus), 1);
	assert_int_equal(gpus->case_count, 2);
	for (size_t i = 0; i < 2; i++)
		assert_true(gpus->cases[i].times.a_ns == gpus->cases[i].times.b_ns);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_difference_is_shown_unless_it_is_noise_or_a_time_is_missing),
		cmocka_unit_test(the_consequence_is_a_sentence_with_the_ranks),
		cmocka_unit_test(cases_with_the_same_arguments_are_paired),
		cmocka_unit_test(devices_are_compared_separately_and_hidden_times_are_not),
		cmocka_unit_test(differences_of_the_environments_are_shown),
		cmocka_unit_test(a_submission_can_be_compared_with_itself),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
