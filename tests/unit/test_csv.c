#include "cgi/render/csv.h"
#include "lib/base/scope.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

static void expect_text(const char *text, const char *field)
{
	cleanup_buffer struct buffer out = { 0 };
	csv_text(&out, text);
	assert_string_equal(buffer_string(&out), field);
}

static void text_is_quoted_if_necessary(void **state)
{
	(void)state;
	expect_text("ada", "ada");
	expect_text("", "\"\""); /* without quotes, the next field would get no comma before it */
	expect_text("two words", "two words");
	expect_text("a,b", "\"a,b\"");
	expect_text("say \"hi\"", "\"say \"\"hi\"\"\"");
	expect_text("a\r\nb", "\"a\r\nb\"");
	expect_text("\"", "\"\"\"\"");
}

static void a_formula_is_turned_into_text(void **state)
{
	(void)state;
	expect_text("=1+1", "'=1+1");
	expect_text("+1", "'+1");
	expect_text("-1", "'-1");
	expect_text("@SUM(A1,A2)", "\"'@SUM(A1,A2)\"");
	expect_text("\t=1", "'\t=1");
	expect_text("a=1", "a=1");
}

static void commas_separate_fields_and_lines_end_with_crlf(void **state)
{
	(void)state;
	cleanup_buffer struct buffer out = { 0 };
	for (int line = 0; line < 2; line++) {
		csv_integer(&out, line);
		csv_text(&out, "a,b");
		csv_real(&out, 1.5);
		csv_end_line(&out);
	}
	assert_string_equal(buffer_string(&out), "0,\"a,b\",1.5\r\n1,\"a,b\",1.5\r\n");
}

static void a_number_has_as_few_digits_as_identify_it(void **state)
{
	(void)state;
	cleanup_buffer struct buffer first = { 0 };
	csv_real(&first, 0.1);
	assert_string_equal(buffer_string(&first), "0.1");
	cleanup_buffer struct buffer out = { 0 };
	static const double numbers[] = { 31900, 0.1, 1.0 / 3, 1e300, 123456789.123456789, 4.9e-324 };
	for (size_t i = 0; i < COUNT(numbers); i++) {
		buffer_clear(&out);
		csv_real(&out, numbers[i]);
		assert_true(strtod(buffer_string(&out), NULL) == numbers[i]);
	}
}

static void an_unknown_number_is_an_empty_field(void **state)
{
	(void)state;
	cleanup_buffer struct buffer out = { 0 };
	csv_integer(&out, 1);
	csv_real(&out, (double)NAN);
	csv_real(&out, (double)INFINITY);
	csv_integer(&out, 2);
	csv_end_line(&out);
	csv_real(&out, (double)NAN);
	csv_integer(&out, 3);
	assert_string_equal(buffer_string(&out), "1,,,2\r\n\"\",3");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(text_is_quoted_if_necessary),
		cmocka_unit_test(a_formula_is_turned_into_text),
		cmocka_unit_test(commas_separate_fields_and_lines_end_with_crlf),
		cmocka_unit_test(a_number_has_as_few_digits_as_identify_it),
		cmocka_unit_test(an_unknown_number_is_an_empty_field),
	};
	return cmocka_run_group_tests_name("csv", tests, NULL, NULL);
}
