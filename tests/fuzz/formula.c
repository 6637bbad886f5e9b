/* Formulas over the arguments of a case. Input: the formula and the case, a line each. */
#include "lib/task/formula.h"

#include "tests/fuzz/fuzz.h"

#include <math.h>

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t length)
{
	struct fuzz_input input = { bytes, length };
	cleanup_free char *formula = fuzz_line(&input);
	cleanup_free char *arguments = fuzz_line(&input);
	cleanup_arena struct arena *arena = arena_new();
	struct error error = { 0 };
	double value = NAN, again = NAN;
	int rc = formula_evaluate(formula, arguments, &value, &error);
	if (rc) {
		require_error(rc, &error);
		return 0;
	}
	require(isfinite(value) && value >= 0 && strlen(formula) <= formula_most_bytes);
	/* Parentheses do not change the value, unless the formula becomes too long or too deep. */
	rc = formula_evaluate(arena_printf(arena, "(%s) * 1 + 0", formula), arguments, &again, &error);
	require(rc ? strlen(formula) + 12 > formula_most_bytes || strstr(error.text, "nested too deep")
			   : value == again);
	return 0;
}
