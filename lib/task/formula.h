/* Arithmetic over the arguments of a case: `2 * m * n * k` for the case "m: 64; n: 64; k: 128".
 * Numbers, names of arguments whose values are numbers, + - * / ** (power) and parentheses, with
 * the precedence they have in Python. */
#ifndef PODIUM_LIB_FORMULA_H
#define PODIUM_LIB_FORMULA_H

#include "lib/error.h"

enum { formula_most_bytes = 300 };

/* ERROR_INPUT says what is wrong as the end of a sentence ("uses n, which the case has not").
 * A result that is not a finite number from 0 on is an error too. */
int formula_evaluate(
	const char *formula, const char *case_line, double *value, struct error *error);

#endif
