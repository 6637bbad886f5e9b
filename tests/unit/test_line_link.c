/* Links from an error to the lines of the submission that it names. */
#include "cgi/render/line_link.h"
#include "lib/base/scope.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

static const char CODE[] = "one\n\tif two:\r\n\n    four = 4";

static void expect(const char *name, const char *text, const char *expected)
{
	cleanup_buffer struct buffer got = { 0 };
	struct linked_source source = line_link_source(name, CODE);
	html_linked(&got, text, &source);
	assert_string_equal(buffer_string(&got), expected);
}

static void each_form_of_a_line_is_a_link(void **state)
{
	(void)state;
	expect("submission.py", "  File \"/box/submission.py\", line 2, in f\n",
		"  File &quot;/box/<a href=\"#L2\">submission.py&quot;, line 2</a>, in f\n");
	expect("submission.py", "submission.py, line 4: no",
		"<a href=\"#L4\">submission.py, line 4</a>: no");
	expect("src/submission.cu", "submission.cu(3): error\nsubmission.cu:1:5: error",
		"<a href=\"#L3\">submission.cu(3</a>): error\n<a href=\"#L1\">submission.cu:1</a>:5: "
		"error");
}

static void other_text_is_only_escaped(void **state)
{
	(void)state;
	static const char *const texts[] = { "", "submission.py", "submission.py, line x",
		"submission.py, line 0", "submission.py, line 5", "submission.py, line 99999999999999",
		"my_submission.py, line 1", "submission.pyc:1", "jit.py, line 1", "submission.py:" };
	for (size_t i = 0; i < COUNT(texts); i++)
		expect("submission.py", texts[i], texts[i]);
	expect("submission.py", "<b>\x1b submission.py:1",
		"&lt;b&gt;\\x1b "
		"<a href=\"#L1\">submission.py:1</a>");
	expect(NULL, "submission.py:1", "submission.py:1");
	expect("", ":1", ":1");
	expect("a/", "a/:1", "a/:1");
}

static void the_first_and_the_last_line_are_found(void **state)
{
	(void)state;
	struct linked_source source = line_link_source("submission.py", CODE);
	const char *text = "submission.py:9 submission.py:2 submission.py:3 submission.py:4, jit.py:1";
	assert_int_equal(line_link_first(text, &source), 2);
	assert_int_equal(line_link_last(text, &source), 4);
	assert_int_equal(line_link_first("jit.py:1", &source), 0);
	assert_int_equal(line_link_last(NULL, &source), 0);
}

static void a_line_is_shown_without_its_indentation(void **state)
{
	(void)state;
	cleanup_arena struct arena *arena = arena_new();
	struct linked_source source = line_link_source("submission.py", CODE);
	assert_int_equal(source.lines, 4);
	assert_string_equal(line_link_code(arena, &source, 1), "one");
	assert_string_equal(line_link_code(arena, &source, 2), "if two:");
	assert_string_equal(line_link_code(arena, &source, 3), "");
	assert_string_equal(line_link_code(arena, &source, 4), "four = 4");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(each_form_of_a_line_is_a_link),
		cmocka_unit_test(other_text_is_only_escaped),
		cmocka_unit_test(the_first_and_the_last_line_are_found),
		cmocka_unit_test(a_line_is_shown_without_its_indentation),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
