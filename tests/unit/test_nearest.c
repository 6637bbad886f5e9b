/* Suggestions for misspelt names. */
#include "lib/base/buffer.h"
#include "lib/base/nearest.h"
#include "lib/base/scope.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

static void each_typing_error_counts_once(void **state)
{
	(void)state;
	static const struct {
		const char *a, *b;
		size_t distance;
	} cases[] = {
		{ "", "", 0 },
		{ "matmul", "matmul", 0 },
		{ "matmul", "MatMul", 0 },
		{ "matmul", "matmull", 1 },
		{ "matmul", "matul", 1 },
		{ "matmul", "matnul", 1 },
		{ "matmul", "mamtul", 1 },
		{ "", "abc", 3 },
		{ "abc", "", 3 },
		{ "abc", "xyz", 3 },
		{ "kitten", "sitting", 3 },
	};
	for (size_t i = 0; i < COUNT(cases); i++) {
		assert_int_equal(nearest_distance(cases[i].a, cases[i].b), cases[i].distance);
		assert_int_equal(nearest_distance(cases[i].b, cases[i].a), cases[i].distance);
	}
}

static void only_the_start_of_a_long_name_is_compared(void **state)
{
	(void)state;
	char a[1000], b[1000];
	memset(a, 'x', sizeof a - 1);
	memset(b, 'x', sizeof b - 1);
	a[sizeof a - 1] = b[sizeof b - 1] = '\0';
	b[500] = 'y';
	assert_int_equal(nearest_distance(a, b), 0);
	b[10] = 'y';
	assert_int_equal(nearest_distance(a, b), 1);
}

static void expect(const char *wanted, const char *expected)
{
	static const char *const names[] = { "vectoradd_py", "vectoradd_cu", "matmul_py", "softmax",
		"sort", "a" };
	cleanup_arena struct arena *arena = arena_new();
	cleanup_buffer struct buffer found = { 0 };
	const char *near[3];
	size_t count = nearest_names(arena, wanted, names, COUNT(names), near, COUNT(near));
	for (size_t i = 0; i < count; i++)
		buffer_printf(&found, "%s ", near[i]);
	assert_string_equal(buffer_string(&found), expected);
}

static void the_nearest_names_come_first_and_others_are_left_out(void **state)
{
	(void)state;
	expect("vectoradd-py", "vectoradd_py vectoradd_cu ");
	expect("vectoradd", "vectoradd_cu vectoradd_py ");
	expect("SOFTMAC", "softmax ");
	expect("matmul", "matmul_py ");
	expect("srot", "sort ");
	expect("something entirely different", "");
	expect("", "");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(each_typing_error_counts_once),
		cmocka_unit_test(only_the_start_of_a_long_name_is_compared),
		cmocka_unit_test(the_nearest_names_come_first_and_others_are_left_out),
	};
	return cmocka_run_group_tests_name("nearest", tests, NULL, NULL);
}
