#include "lib/base/scope.h"
#include "lib/task/formula.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

static void formulas_have_the_precedence_of_python(void **state)
{
	(void)state;
	static const struct {
		const char *formula;
		double value;
	} good[] = {
		{ "7", 7 },
		{ "2 * n", 32 },
		{ "2*n*m + 1", 97 },
		{ "1.5e3", 1500 },
		{ "2 ** 3 ** 2", 512 },
		{ "-2 ** 2 + 5", 1 },
		{ "2 ** -1", 0.5 },
		{ "(1 + 2) * 3", 9 },
		{ "7 / 2", 3.5 },
		{ "10 - 2 - 3", 5 },
		{ "n_2", 4 },
	};
	static const char *const bad[] = { "", "n +", "(n", "n n", "2 $ 3", "x", "dtype", "1 / 0",
		"0 - n", "* 2", "n(2)", ")" };
	double value;
	for (size_t i = 0; i < COUNT(good); i++) {
		assert_int_equal(
			formula_evaluate(good[i].formula, "n: 16; m: 3; n_2: 4; dtype: bf16", &value, NULL), 0);
		assert_true(value == good[i].value);
	}
	for (size_t i = 0; i < COUNT(bad); i++)
		assert_int_equal(formula_evaluate(bad[i], "n: 16; m: 3; n_2: 4; dtype: bf16", &value, NULL),
			ERROR_INPUT);
	struct error error;
	assert_int_equal(
		formula_evaluate("n \x1b[31m0123456789\u20ac", "n: 1", &value, &error), ERROR_INPUT);
	assert_string_equal(error.text, "expected an operator at \"\\x1b[31m0123456789\u20ac\"");
	assert_int_equal(
		formula_evaluate("n 0123456789012345678\u20ac", "n: 1", &value, &error), ERROR_INPUT);
	assert_string_equal(error.text, "expected an operator at \"0123456789012345678\"");
	char deep[250];
	memset(deep, '(', sizeof deep - 1);
	deep[sizeof deep - 1] = '\0';
	assert_int_equal(formula_evaluate(deep, "n: 1", &value, NULL), ERROR_INPUT);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(formulas_have_the_precedence_of_python),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
