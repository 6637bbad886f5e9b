#include "lib/result/result.h"

#include "lib/base/scope.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

static void assert_text(const char *got, const char *expected)
{
	if (got && expected)
		assert_string_equal(got, expected);
	else
		assert_ptr_equal(got, expected);
}

static void a_case_line_is_split_into_arguments(void **state)
{
	(void)state;
	cleanup_arena struct arena *arena = arena_new();
	struct argument *arguments;
	assert_int_equal(
		result_arguments(arena, "m: 64; shape: [1, 2]; when: 12:30;odd ;; : x", &arguments), 5);
	static const struct argument expected[] = { { "m", "64" }, { "shape", "[1, 2]" },
		{ "when", "12:30" }, { "", "odd" }, { "", "x" } };
	for (size_t i = 0; i < COUNT(expected); i++) {
		assert_string_equal(arguments[i].name, expected[i].name);
		assert_string_equal(arguments[i].value, expected[i].value);
	}
	assert_int_equal(result_arguments(arena, "", &arguments), 0);
}

static const struct {
	const char *message;
	struct mismatch expected;
} MISMATCHES[] = {
	{ "5 of 1024 elements are wrong, the first at [3, 0]: expected 1.5, got nan (off by nan, "
	  "tolerance 0.001)\n[3, 1]: expected 2, got 1 (off by 1, tolerance 0.001)",
		{ "5 of 1024 elements are wrong", "[3, 0]", "1.5", "nan", "nan", "0.001", true } },
	{ "1 of 1 elements are wrong, the first at []: expected True, got False",
		{ "1 of 1 elements are wrong", "[]", "True", "False", NULL, NULL, false } },
	{ "mismatch found! Number of mismatched elements: 7\nERROR AT (0, 1): 1.5 2.25\nERROR AT (0, "
	  "2): 0 1",
		{ "7 elements are wrong", "(0, 1)", "2.25", "1.5", NULL, NULL, true } },
	{ "the shape is [2], expected [3]",
		{ "the shape is [2], expected [3]", NULL, NULL, NULL, NULL, NULL, false } },
	{ "custom_kernel raised ValueError: no\nTraceback ...",
		{ "custom_kernel raised ValueError: no", NULL, NULL, NULL, NULL, NULL, true } },
	{ "  \n first\n\n", { "first", NULL, NULL, NULL, NULL, NULL, false } },
	{ "", { "", NULL, NULL, NULL, NULL, NULL, false } },
	/* These messages only resemble a mismatch. */
	{ "ERROR AT (1", { "ERROR AT (1", NULL, NULL, NULL, NULL, NULL, false } },
	{ "ERROR AT (1): 5", { "ERROR AT (1): 5", NULL, NULL, NULL, NULL, NULL, false } },
	{ "a, the first at b: expected , got x",
		{ "a, the first at b: expected , got x", NULL, NULL, NULL, NULL, NULL, false } },
};

static void the_first_mismatch_is_read_from_the_message_of_a_check(void **state)
{
	(void)state;
	cleanup_arena struct arena *arena = arena_new();
	for (size_t i = 0; i < COUNT(MISMATCHES); i++) {
		struct mismatch got = result_mismatch(arena, MISMATCHES[i].message),
						expected = MISMATCHES[i].expected;
		assert_text(got.summary, expected.summary);
		assert_text(got.place, expected.place);
		assert_text(got.expected, expected.expected);
		assert_text(got.got, expected.got);
		assert_text(got.off, expected.off);
		assert_text(got.tolerance, expected.tolerance);
		assert_int_equal(got.has_more, expected.has_more);
	}
}

static void an_environment_begins_with_its_device(void **state)
{
	(void)state;
	cleanup_arena struct arena *arena = arena_new();
	struct fact *facts;
	assert_int_equal(result_environment(arena,
						 "{\"odd\": [1], \"torch\": \"2.11\", \"device\": \"H200\"}", &facts),
		3);
	assert_string_equal(facts[0].name, "Device");
	assert_string_equal(facts[0].value, "H200");
	assert_string_equal(facts[2].name, "odd");
	assert_string_equal(facts[2].value, "[1]");
	static const char *const none[] = { NULL, "", "[]", "5", "{" };
	for (size_t i = 0; i < COUNT(none); i++)
		assert_int_equal(result_environment(arena, none[i], &facts), 0);
}

static void kernels_lack_figures_that_were_not_reported(void **state)
{
	(void)state;
	cleanup_arena struct arena *arena = arena_new();
	struct kernel *kernels;
	assert_int_equal(
		result_kernels(arena, "[{\"name\": \"k\", \"registers\": 12}, 5]", &kernels), 2);
	assert_string_equal(kernels[0].name, "k");
	assert_int_equal(kernels[0].registers, 12);
	assert_int_equal(kernels[0].shared_bytes, 0); /* 0 if ptxas does not report it */
	assert_int_equal(kernels[0].spill_load_bytes, -1);
	assert_string_equal(kernels[1].name, "");
	assert_int_equal(result_kernels(arena, "{}", &kernels), 0);
}

static void conditions_have_units_and_reasons(void **state)
{
	(void)state;
	cleanup_arena struct arena *arena = arena_new();
	struct condition *conditions;
	assert_int_equal(
		result_conditions(arena,
			"{\"after\": {\"power_w\": 210.4, \"slowed_by\": [\"power cap\", \"temperature\"]}, "
			"\"before\": {\"sm_clock_mhz\": 1980, \"slowed_by\": []}}",
			&conditions),
		2);
	assert_string_equal(conditions[0].when, "before");
	assert_string_equal(conditions[0].sm_clock, "1980 MHz");
	assert_string_equal(conditions[0].power, "");
	assert_string_equal(conditions[0].slowed_by, "nothing");
	assert_string_equal(conditions[1].power, "210 W");
	assert_string_equal(conditions[1].slowed_by, "power cap, temperature");
}

static void a_device_shows_the_range_over_all_blocks(void **state)
{
	(void)state;
	cleanup_arena struct arena *arena = arena_new();
	struct device_state state_of = result_device(arena,
		"{\"sm_clock_mhz\": [1755, 1980], \"memory_clock_mhz\": [3201, 3201], \"temperature_c\": "
		"[31.2, 31.4], \"power_w\": 7, \"slowed_by\": [\"power cap\", \"heat\"]}");
	assert_string_equal(state_of.sm_clock, "1755–1980 MHz");
	assert_string_equal(state_of.memory_clock, "3201 MHz");
	assert_string_equal(state_of.temperature, "31 °C");
	assert_string_equal(state_of.power, "");
	assert_string_equal(state_of.slowed_by, "power cap, heat");
	assert_string_equal(result_device(arena, "{\"slowed_by\": []}").slowed_by, "nothing");
	static const char *const none[] = { NULL, "", "[]", "{", "{\"sm_clock_mhz\": [1]}",
		"{\"sm_clock_mhz\": [\"1\", \"2\"]}" };
	for (size_t i = 0; i < COUNT(none); i++)
		assert_true(
			!*result_device(arena, none[i]).sm_clock && !*result_device(arena, none[i]).slowed_by);
}

static void figures_have_three_digits(void **state)
{
	(void)state;
	cleanup_arena struct arena *arena = arena_new();
	static const struct {
		double value;
		const char *text;
	} cases[] = {
		{ 4123.4, "4123 x" },
		{ 99.96, "100 x" },
		{ 86.23, "86.2 x" },
		{ 9.999, "10.0 x" },
		{ 2.481, "2.48 x" },
		{ 0.2464, "0.246 x" },
		{ 0.00001, "< 0.001 x" },
		{ 0, "0.000 x" },
		{ NAN, NULL },
	};
	for (size_t i = 0; i < COUNT(cases); i++)
		assert_text(result_figure(arena, cases[i].value, "x"), cases[i].text);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_case_line_is_split_into_arguments),
		cmocka_unit_test(the_first_mismatch_is_read_from_the_message_of_a_check),
		cmocka_unit_test(an_environment_begins_with_its_device),
		cmocka_unit_test(kernels_lack_figures_that_were_not_reported),
		cmocka_unit_test(conditions_have_units_and_reasons),
		cmocka_unit_test(a_device_shows_the_range_over_all_blocks),
		cmocka_unit_test(figures_have_three_digits),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
