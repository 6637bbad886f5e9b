#include "lib/base/scope.h"
#include "worker/run/engine/result_lines.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

static const char *const SPECS[] = { "size: 128; seed: 5", "size: 256; seed: 6" };

static int open_tests(void **state)
{
	static struct results results;
	results_open(&results, arena_new(), RESULT_TESTS, SPECS, COUNT(SPECS));
	*state = &results;
	return 0;
}

static int open_benchmarks(void **state)
{
	static struct results results;
	results_open(&results, arena_new(), RESULT_BENCHMARKS, SPECS, COUNT(SPECS));
	*state = &results;
	return 0;
}

static int close_results(void **state)
{
	struct results *results = *state;
	results_close(results);
	arena_free(results->arena);
	return 0;
}

static bool add_text(struct results *results, const char *text)
{
	return results_add(results, text, strlen(text));
}

static void a_complete_test_run_passes(void **state)
{
	struct results *results = *state;
	assert_true(add_text(results,
		"test-count: 2\ntest.0.spec: size: 128; seed: 5\ntest.0.status: pass\ntest.1.status: "
		"pass\ncheck: pass\n"));
	results_finish(results);
	assert_int_equal(results->finished, 2);
	assert_string_equal(results->check, "pass");
	assert_true(results_complete(results));
	assert_int_equal(results->verdict, VERDICT_NONE);
}

static void lines_may_come_in_any_pieces(void **state)
{
	static const char all[] = "test-count: 2\ntest.0.status: pass\n\ntest.1.status: "
							  "fail\ntest.1.error: a\\nb\ncheck: fail";
	struct results *results = *state;
	for (const char *at = all; *at; at++)
		assert_true(results_add(results, at, 1));
	assert_null(results->check);
	results_finish(results);
	assert_string_equal(results->check, "fail");
	assert_string_equal(results->cases[1].values[RESULT_ERROR], "a\nb");
	assert_true(results_failed(&results->cases[1]));
	assert_false(results_complete(results));
}

static void a_case_counts_as_finished_once(void **state)
{
	struct results *results = *state;
	add_text(results, "benchmark.0.runs: 3\n");
	assert_int_equal(results->finished, 0);
	add_text(results, "benchmark.0.mean: 12.5\n");
	assert_int_equal(results->finished, 1);
	add_text(results, "benchmark.0.std: 0.5\nbenchmark.0.status: pass\nbenchmark.0.mean: 12.5\n");
	assert_int_equal(results->finished, 1);
	assert_true(results_number(&results->cases[0], RESULT_MEAN) == 12.5);
	assert_true(isnan(results_number(&results->cases[0], RESULT_BEST)));
}

static void every_wrong_line_is_a_violation(void **state)
{
	static const char *const wrong[] = {
		"hello",
		"hello: world",
		":",
		": pass",
		"check",
		"check: maybe",
		"check: PASS",
		"test-count: 3",
		"test-count: -2",
		"test-count: 2.0",
		"test.2.status: pass",
		"test.-1.status: pass",
		"test.0x0.status: pass",
		"test.0.status: passed",
		"test.0.: pass",
		"test..status: pass",
		"test.0: pass",
		"test.0.spec: size: 128; seed: 6",
		"benchmark.0.mean: 5",
		"benchmark-count: 2",
		"test.0.a b: 1",
		"test.0000000000000000000000000000000.status: pass",
		"Test.0.status: pass",
		"test.0.mean: -1",
		"test.0.runs: 0",
	};
	struct arena *arena = ((struct results *)*state)->arena;
	for (size_t i = 0; i < COUNT(wrong); i++) {
		struct results results;
		results_open(&results, arena, RESULT_TESTS, SPECS, COUNT(SPECS));
		if (add_text(&results, wrong[i]) && add_text(&results, "\n"))
			fail_msg("\"%s\" was taken", wrong[i]);
		assert_int_equal(results.verdict, VERDICT_PROTOCOL_VIOLATION);
		assert_true(results.reason[0] != '\0');
		assert_false(add_text(&results, "test-count: 2\n"));
		results_close(&results);
	}
}

static void numbers_are_plain_decimals(void **state)
{
	static const struct {
		const char *value;
		bool good;
	} numbers[] = {
		{ "1", true },
		{ "1.5", true },
		{ "1e3", true },
		{ "1.5e-07", true },
		{ ".5", true },
		{ "1000000.000000", true },
		{ "0", false },
		{ "-1", false },
		{ "+1", false },
		{ "nan", false },
		{ "-nan", false },
		{ "inf", false },
		{ "1e400", false },
		{ "0x1p3", false },
		{ "1 2", false },
		{ "", false },
		{ "1.2.3", false },
		{ "e", false },
		{ "5-3", false },
	};
	struct arena *arena = ((struct results *)*state)->arena;
	for (size_t i = 0; i < COUNT(numbers); i++) {
		struct results results;
		results_open(&results, arena, RESULT_BENCHMARKS, SPECS, COUNT(SPECS));
		add_text(&results, "benchmark.0.mean: ");
		add_text(&results, numbers[i].value);
		if (add_text(&results, "\n") != numbers[i].good)
			fail_msg("\"%s\" was judged wrongly", numbers[i].value);
		results_close(&results);
	}
}

static void text_continues_until_the_next_known_key(void **state)
{
	struct results *results = *state;
	assert_true(
		add_text(results, "test.0.error: first\n  second: line\n\nthird\ntest.1.status: pass\n"));
	assert_string_equal(results->cases[0].values[RESULT_ERROR], "first\n  second: line\nthird");
	assert_false(add_text(results, "fourth\n"));
}

static void long_text_is_cut_at_a_character(void **state)
{
	struct results *results = *state;
	add_text(results, "test.0.error: x");
	for (int i = 0; i < result_most_text_bytes; i++)
		add_text(results, "µ");
	add_text(results, "\n");
	results_finish(results);
	assert_int_equal(strlen(results->cases[0].values[RESULT_ERROR]), result_most_text_bytes - 1);
	assert_int_equal(results->verdict, VERDICT_NONE);
}

static void many_lines_of_text_stay_small(void **state)
{
	struct results *results = *state;
	add_text(results, "test.0.error: x\n");
	for (int i = 0; i < 1000 * 1000; i++)
		assert_true(add_text(results, "y\n"));
	results_finish(results);
	assert_true(strlen(results->cases[0].values[RESULT_ERROR]) <= result_most_text_bytes);
}

static void too_much_is_an_output_limit(void **state)
{
	static char block[64 * 1024];
	struct results *results = *state;
	memset(block, 'x', sizeof block);
	bool good = true;
	for (int i = 0; good && i <= result_most_line_bytes / (int)sizeof block; i++)
		good = results_add(results, block, sizeof block);
	assert_false(good);
	assert_int_equal(results->verdict, VERDICT_OUTPUT_LIMIT);
}

static void claimed_time_must_fit_into_the_stage(void **state)
{
	struct results *results = *state;
	add_text(results,
		"benchmark.0.runs: 1000\nbenchmark.0.mean: 1000000\nbenchmark.1.runs: "
		"1000\nbenchmark.1.mean: 2000000\n");
	assert_true(results_plausible(results, 3000));
	assert_true(results_plausible(results, 2800));
	assert_false(results_plausible(results, 2700));
	assert_int_equal(results->verdict, VERDICT_PROTOCOL_VIOLATION);
}

static void only_the_last_benchmark_may_have_been_timed(void **state)
{
	struct results *results = *state;
	assert_true(add_text(results,
		"benchmark-count: 1\nbenchmark.0.spec: size: 256; seed: 6\nbenchmark.0.runs: "
		"3\nbenchmark.0.mean: 12.5\ncheck: pass\n"));
	results_finish(results);
	assert_true(results_complete(results));
	assert_int_equal(results->count, 1);
	assert_string_equal(results->specs[0], SPECS[1]);
	assert_true(results_number(&results->cases[0], RESULT_MEAN) == 12.5);
	assert_false(add_text(results, "benchmark-count: 2\n"));
}

static void a_lower_count_after_a_result_is_refused(void **state)
{
	struct results *results = *state;
	assert_true(add_text(results, "benchmark.0.runs: 3\nbenchmark.0.mean: 12.5\n"));
	assert_false(add_text(results, "benchmark-count: 1\n"));
	assert_int_equal(results->verdict, VERDICT_PROTOCOL_VIOLATION);
}

static void a_compiler_s_error_lines_stay_in_their_text(void **state)
{
	struct results *results = *state;
	assert_true(add_text(results,
		"error: no kernel\nerror: unknown op\ntest.0.status: fail\ntest.0.error: a\nerror: "
		"b\nerror: c\ncheck: fail\n"));
	results_finish(results);
	assert_string_equal(results->error, "no kernel\nerror: unknown op");
	assert_string_equal(results->cases[0].values[RESULT_ERROR], "a\nerror: b\nerror: c");
}

static void a_benchmark_stage_takes_only_a_failed_test(void **state)
{
	struct results *results = *state;
	assert_true(add_text(results, "test-count: 1\ntest.0.status: fail\ntest.0.error: differs\n"));
	assert_true(results_failed(&results->other));
	assert_int_equal(results->finished, 0);
	add_text(results,
		"benchmark-count: 2\nbenchmark.0.runs: 3\nbenchmark.0.mean: 1\nbenchmark.1.runs: "
		"3\nbenchmark.1.mean: 1\n");
	assert_false(results_complete(results));
	struct results other;
	results_open(&other, results->arena, RESULT_BENCHMARKS, SPECS, COUNT(SPECS));
	assert_false(add_text(&other, "test.0.status: pass\n"));
	results_close(&other);
}

/* ---- lines of a judge ---- */

static const char JUDGED[] = "benchmark.0.median: 10.5\nbenchmark.0.low: 0\nbenchmark.0.high: "
							 "11\nbenchmark.0.constant: 5100\n"
							 "benchmark.0.own: 9\nbenchmark.0.gap: 0.5\nbenchmark.0.blocks: "
							 "4\nbenchmark.0.repeated: 0\nbenchmark.0.samples: AACAPwAAAEA=\n"
							 "benchmark.0.device: {\"sm_clock_mhz\": [1200, 1980], \"slowed_by\": "
							 "[\"power cap\"]}\nbenchmark.0.rival: 21\nbenchmark.0.ratio: 0.5\n"
							 "benchmark.0.ratio_low: 0.49\nbenchmark.0.ratio_high: "
							 "0.51\nbenchmark.0.ratio_err: 0.005\nnonce: 0badcafe\n";

static void a_judge_reports_how_it_measured(void **state)
{
	struct results *results = *state;
	results->is_judge = true;
	assert_true(add_text(results, JUDGED));
	assert_true(results_number(&results->cases[0], RESULT_CONSTANT) == 5100);
	assert_true(results_number(&results->cases[0], RESULT_RATIO_HIGH) == 0.51);
	assert_string_equal(results->cases[0].values[RESULT_SAMPLES], "AACAPwAAAEA=");
	assert_string_equal(results->nonce, "0badcafe");
}

static void a_judge_s_values_are_checked(void **state)
{
	/* The wrong samples: not base64, not a whole number of floats, empty, NaN, and below 0. */
	static const char *const wrong[] = {
		"median: 0",
		"low: -1",
		"high: inf",
		"constant: x",
		"own: 0",
		"gap: -0.5",
		"blocks: 0",
		"repeated: 1.5",
		"samples: ?",
		"samples: AACA",
		"samples:",
		"samples: AADAfw==",
		"samples: AACAvw==",
		"rival: 0",
		"ratio: nan",
		"ratio_err: -1",
		"device: []",
		"device: {",
		"device: {\"power_w\": 5}",
		"device: {\"power_w\": [1, \"2\"]}",
		"device: {\"power_w\": [1]}",
		"device: {\"slowed_by\": [1]}",
	};
	struct results *given = *state;
	for (size_t i = 0; i < COUNT(wrong); i++) {
		struct results results;
		char line[200];
		results_open(&results, given->arena, RESULT_BENCHMARKS, SPECS, COUNT(SPECS));
		results.is_judge = true;
		snprintf(line, sizeof line, "benchmark.0.%s\n", wrong[i]);
		assert_false(add_text(&results, line));
		assert_int_equal(results.verdict, VERDICT_PROTOCOL_VIOLATION);
		results_close(&results);
	}
}

static void a_judge_s_values_are_ignored_from_a_harness(void **state)
{
	struct results *results = *state;
	assert_true(add_text(results,
		"benchmark.0.median: some\nbenchmark.0.samples: many\nbenchmark.0.device: this one\n"));
	assert_null(results->cases[0].values[RESULT_MEDIAN]);
	assert_null(results->cases[0].values[RESULT_SAMPLES]);
	assert_false(add_text(results, "nonce: 0badcafe\n"));
}

static void only_a_judge_warns(void **state)
{
	struct results *results = *state;
	results->is_judge = true;
	assert_true(add_text(results, "warning: Benchmark 2\\nwill fail.\nbenchmark-count: 2\n"));
	assert_string_equal(results->warning, "Benchmark 2\nwill fail.");
	results->is_judge = false;
	assert_false(add_text(results, "warning: again\n"));
}

/* Adds the text twice: in one piece, and byte by byte. */
static void lines_after_the_check_belong_to_the_next_results(void **state)
{
	static const char lines[] =
		"test-count: 2\ntest.0.status: pass\ntest.1.status: pass\ncheck: pass\n"
		"benchmark-count: 2\nnonce: 0badcafe\nbenchmark.0.runs: 3\nbenchmark.0.mean: 5\ncheck: "
		"fail\nerror: late";
	struct results *given = *state;
	for (size_t piece = 1; piece < sizeof lines; piece += sizeof lines - 2) {
		struct results tests, benchmarks;
		results_open(&tests, given->arena, RESULT_TESTS, SPECS, COUNT(SPECS));
		results_open(&benchmarks, given->arena, RESULT_BENCHMARKS, SPECS, COUNT(SPECS));
		benchmarks.is_judge = tests.is_judge = true;
		tests.next = &benchmarks;
		for (size_t at = 0; at < sizeof lines - 1; at += piece)
			assert_true(results_add(
				&tests, lines + at, piece < sizeof lines - 1 - at ? piece : sizeof lines - 1 - at));
		results_finish(&benchmarks);
		assert_true(results_complete(&tests));
		assert_string_equal(tests.check, "pass");
		assert_null(tests.error);
		assert_string_equal(benchmarks.check, "fail");
		assert_string_equal(benchmarks.nonce, "0badcafe");
		assert_string_equal(benchmarks.error, "late");
		assert_int_equal(benchmarks.finished, 1);
		results_close(&tests);
		results_close(&benchmarks);
	}
}

int main(void)
{
#define TEST_WITH(open, test) cmocka_unit_test_setup_teardown(test, open, close_results)
	const struct CMUnitTest tests[] = {
		TEST_WITH(open_tests, a_complete_test_run_passes),
		TEST_WITH(open_tests, lines_may_come_in_any_pieces),
		TEST_WITH(open_benchmarks, a_case_counts_as_finished_once),
		TEST_WITH(open_tests, every_wrong_line_is_a_violation),
		TEST_WITH(open_tests, numbers_are_plain_decimals),
		TEST_WITH(open_tests, text_continues_until_the_next_known_key),
		TEST_WITH(open_tests, long_text_is_cut_at_a_character),
		TEST_WITH(open_tests, many_lines_of_text_stay_small),
		TEST_WITH(open_tests, too_much_is_an_output_limit),
		TEST_WITH(open_benchmarks, claimed_time_must_fit_into_the_stage),
		TEST_WITH(open_benchmarks, only_the_last_benchmark_may_have_been_timed),
		TEST_WITH(open_benchmarks, a_lower_count_after_a_result_is_refused),
		TEST_WITH(open_tests, a_compiler_s_error_lines_stay_in_their_text),
		TEST_WITH(open_benchmarks, a_benchmark_stage_takes_only_a_failed_test),
		TEST_WITH(open_benchmarks, a_judge_reports_how_it_measured),
		TEST_WITH(open_benchmarks, a_judge_s_values_are_checked),
		TEST_WITH(open_benchmarks, a_judge_s_values_are_ignored_from_a_harness),
		TEST_WITH(open_benchmarks, only_a_judge_warns),
		TEST_WITH(open_tests, lines_after_the_check_belong_to_the_next_results),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
