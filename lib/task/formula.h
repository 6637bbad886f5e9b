/* Evaluates formulas over the arguments of a case: `2 * m * n * k` for the case "m: 64; n: 64;
 * k: 128". A formula has numbers, names of numeric arguments, + - * / ** (power) and
 * parentheses, with Python's precedence. */
#ifndef PODIUM_LIB_TASK_FORMULA_H
#define PODIUM_LIB_TASK_FORMULA_H

#include "lib/base/error.h"

enum { formula_most_bytes = 300 };

/* Evaluates `formula` into `value`. ERROR_INPUT says what is wrong as the end of a sentence
 * ("uses n, which the case has not"). The result must be a finite number of at least 0. */
int formula_evaluate(
	const char *formula, const char *case_line, double *value, struct error *error);

#endif
