#include "lib/task/formula.h"

#include "lib/base/text.h"

#include <ctype.h>
#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

enum { deepest_nesting = 32 };

struct evaluation {
	const char *at; /* the part of the formula that is not read yet */
	const char *case_line;
	int depth;
	bool failed;
	struct error *error;
};

static double read_sum(struct evaluation *evaluation);
static double read_factor(struct evaluation *evaluation);

static double fail_formula(struct evaluation *evaluation, const char *what)
{
	enum { shown_bytes = 20 };
	cleanup_buffer struct buffer rest = { 0 }, shown = { 0 };
	buffer_append(&rest, evaluation->at,
		text_utf8_prefix(evaluation->at, strnlen(evaluation->at, shown_bytes)));
	text_append_printable(&shown, rest.data);
	if (!evaluation->failed)
		fail(evaluation->error, ERROR_INPUT, "%s at \"%s\"", what, buffer_string(&shown));
	evaluation->failed = true;
	return NAN;
}

static bool skip_sign(struct evaluation *evaluation, const char *sign)
{
	evaluation->at += strspn(evaluation->at, " \t");
	size_t length = strlen(sign);
	if (strncmp(evaluation->at, sign, length) != 0)
		return false;
	evaluation->at += length;
	return true;
}

static size_t word_length(const char *text)
{
	size_t length = 0;
	while (isalnum((unsigned char)text[length]) || text[length] == '_')
		length++;
	return length;
}

/* Reads the value behind "NAME: " in the case line; false unless it is a number. */
static bool find_argument(const char *case_line, const char *name, size_t length, double *value)
{
	for (const char *part = case_line; *part;) {
		part += strspn(part, " ;");
		if (strncmp(part, name, length) == 0 && part[length] == ':') {
			char *end;
			const char *text = part + length + 1 + strspn(part + length + 1, " ");
			*value = strtod(text, &end);
			return end != text && (!*end || *end == ';');
		}
		part += strcspn(part, ";");
	}
	return false;
}

static double read_name(struct evaluation *evaluation)
{
	const char *word = evaluation->at;
	size_t length = word_length(word);
	double value = NAN;
	if (!find_argument(evaluation->case_line, word, length, &value) && !evaluation->failed) {
		fail(evaluation->error, ERROR_INPUT, "uses %.*s, which is not a number of this case",
			(int)length, word);
		evaluation->failed = true;
	}
	evaluation->at += length;
	return value;
}

static double read_number(struct evaluation *evaluation)
{
	char *end;
	double value = strtod(evaluation->at, &end);
	evaluation->at = end;
	return value;
}

static double read_atom(struct evaluation *evaluation)
{
	if (skip_sign(evaluation, "(")) {
		double value = read_sum(evaluation);
		return skip_sign(evaluation, ")") || evaluation->failed
			? value
			: fail_formula(evaluation, "expected \")\"");
	}
	if (isalpha((unsigned char)*evaluation->at) || *evaluation->at == '_')
		return read_name(evaluation);
	if (isdigit((unsigned char)*evaluation->at) || *evaluation->at == '.')
		return read_number(evaluation);
	return fail_formula(evaluation, "expected a number, an argument or \"(\"");
}

/* As in Python, -2 ** 2 is -4 and 2 ** -1 is a half. */
static double read_power(struct evaluation *evaluation)
{
	double base = read_atom(evaluation);
	return !evaluation->failed && skip_sign(evaluation, "**") ? pow(base, read_factor(evaluation))
															  : base;
}

static double read_factor(struct evaluation *evaluation)
{
	if (++evaluation->depth > deepest_nesting)
		return fail_formula(evaluation, "is nested too deep");
	double value = skip_sign(evaluation, "-") ? -read_factor(evaluation)
		: skip_sign(evaluation, "+")          ? read_factor(evaluation)
											  : read_power(evaluation);
	evaluation->depth--;
	return value;
}

static double read_product(struct evaluation *evaluation)
{
	double value = read_factor(evaluation);
	while (!evaluation->failed) {
		if (skip_sign(evaluation, "*"))
			value *= read_factor(evaluation);
		else if (skip_sign(evaluation, "/"))
			value /= read_factor(evaluation);
		else
			break;
	}
	return value;
}

static double read_sum(struct evaluation *evaluation)
{
	double value = read_product(evaluation);
	while (!evaluation->failed) {
		if (skip_sign(evaluation, "+"))
			value += read_product(evaluation);
		else if (skip_sign(evaluation, "-"))
			value -= read_product(evaluation);
		else
			break;
	}
	return value;
}

int formula_evaluate(const char *formula, const char *case_line, double *value, struct error *error)
{
	struct evaluation evaluation = { .at = formula, .case_line = case_line, .error = error };
	if (strlen(formula) > formula_most_bytes)
		return fail(error, ERROR_INPUT, "is longer than %d bytes", formula_most_bytes);
	*value = read_sum(&evaluation);
	evaluation.at += strspn(evaluation.at, " \t\n");
	if (!evaluation.failed && *evaluation.at)
		fail_formula(&evaluation, "expected an operator");
	if (evaluation.failed)
		return ERROR_INPUT;
	if (!isfinite(*value) || *value < 0)
		return fail(error, ERROR_INPUT, "gives %g, which is not a number from 0 on", *value);
	return 0;
}
