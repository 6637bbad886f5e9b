/* How alike sources are: what counts as a token, and what winnowing finds. */
#include "lib/submission/sketch.h"

#include "lib/base/buffer.h"
#include "lib/base/scope.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

/* The tokens as text: I, N and S for names, numbers and strings, K for keywords. */
static void expect(bool is_python, const char *source, const char *expected)
{
	cleanup_buffer struct buffer got = { 0 };
	struct sketch_reader reader = sketch_read(source, strlen(source), is_python);
	int token;
	while (sketch_token(&reader, &token))
		buffer_byte(&got,
			token == token_name                ? 'I'
				: token == token_number        ? 'N'
				: token == token_string        ? 'S'
				: token >= token_first_keyword ? 'K'
											   : (char)token);
	assert_string_equal(buffer_string(&got), expected);
}

static void comments_layout_names_and_values_do_not_count(void **state)
{
	(void)state;
	expect(true, "", "");
	expect(true, "# only\n  # comments", "");
	expect(true, "x = 1.5e-3  # why\n", "I=N");
	expect(true, "def f(a,\n      b): return a", "KI(I,I):KI");
	expect(true, "\"\"\"About\nthis.\"\"\"\nx = 'a # b'\n", "I=S");
	expect(true, "def f():\n    '''It's it.'''\n    pass", "KI():K");
	expect(true, "x = \\\n  \"it\\\"s\"", "I=S");
	expect(false, "int a = 0x1p-3f; // why\n/* and\nhow */ a++;", "II=N;I++;");
	expect(false, "auto s = \"//no\"; auto n = 1'000;", "II=S;II=N;");
	expect(false, "#include <x>\n#pragma unroll\nfor (;;) {}", "#I<I>#IIK(;;){}");
	expect(true, "größe = 1", "I=N");
}

static void code_in_a_long_string_counts(void **state)
{
	(void)state;
	expect(true, "src = \"\"\"\nint a; // why # not\n#define X 1\n\"\"\"\nb = 2 # c",
		"I=SII;#IINSI=N");
	expect(true, "f('''a''', \"\"\"b\"\"\")", "I(SIS,SIS)");
}

static void an_end_that_is_missing_ends_with_the_source(void **state)
{
	(void)state;
	expect(true, "\"\"\"never", "");
	expect(true, "x = \"\"\"a", "I=SI");
	expect(true, "x = 'a\ny", "I='II");
	expect(false, "a /* b", "I");
	expect(false, "\"\\", "\"");
	struct sketch_reader reader = sketch_read("a\0b", 3, true);
	int token;
	assert_true(sketch_token(&reader, &token) && sketch_token(&reader, &token));
	assert_false(sketch_token(&reader, &token));
}

/* A program of `count` statements whose structure differs from statement to statement. `name` and
 * `gap` are what a copyist changes. */
static void write_program(
	struct buffer *out, unsigned seed, size_t count, const char *name, const char *gap)
{
	static const char *const shapes[] = { "%s%s = %s + 1\n", "%s%s(%s, %s)\n",
		"%sif %s < %s: pass\n", "%s%s[%s] = -%s\n", "%sfor %s in %s: %s()\n",
		"%s%s = [%s for %s in %s]\n" };
	for (size_t i = 0; i < count; i++) {
		seed = seed * 1103515245u + 12345u;
		const char *shape = shapes[(seed >> 16) % COUNT(shapes)];
		for (const char *at = shape, *first = gap; *at; at++)
			if (at[0] == '%') {
				buffer_text(out, first ? first : name);
				first = NULL;
				at++;
			} else
				buffer_byte(out, *at);
	}
}

static struct sketch sketch_of(const struct buffer *text, const struct sketch_known *known)
{
	struct sketch sketch;
	sketch_make(&sketch, text->data ? text->data : "", text->length, true, known);
	return sketch;
}

static void renamed_commented_and_reformatted_copies_resemble_fully(void **state)
{
	(void)state;
	cleanup_buffer struct buffer one = { 0 }, copy = { 0 }, other = { 0 };
	write_program(&one, 1, 100, "a", "");
	write_program(&copy, 1, 100, "another_name", "# copied\n\n");
	write_program(&other, 2, 100, "a", "");
	struct sketch a = sketch_of(&one, NULL), b = sketch_of(&copy, NULL),
				  c = sketch_of(&other, NULL);
	assert_true(a.count > 40);
	assert_int_equal(a.tokens, b.tokens);
	assert_int_equal(sketch_resemblance(&a, &b), 100);
	assert_in_range(sketch_resemblance(&a, &c), 0, 20);
}

static void a_copy_with_an_insertion_or_a_moved_part_stays_close(void **state)
{
	(void)state;
	cleanup_buffer struct buffer one = { 0 }, longer = { 0 }, moved = { 0 };
	write_program(&one, 1, 60, "a", "");
	write_program(&one, 7, 60, "a", "");
	write_program(&longer, 1, 60, "b", "");
	write_program(&longer, 5, 6, "b", "");
	write_program(&longer, 7, 60, "b", "");
	write_program(&moved, 7, 60, "c", "");
	write_program(&moved, 1, 60, "c", "");
	struct sketch a = sketch_of(&one, NULL), b = sketch_of(&longer, NULL),
				  c = sketch_of(&moved, NULL);
	assert_in_range(sketch_resemblance(&a, &b), 75, 99);
	assert_in_range(sketch_resemblance(&a, &c), 85, 100);
	assert_int_equal(sketch_resemblance(&a, &b), sketch_resemblance(&b, &a));
}

static void what_a_template_has_is_left_out(void **state)
{
	(void)state;
	cleanup_buffer struct buffer start = { 0 }, one = { 0 }, two = { 0 };
	write_program(&start, 1, 80, "t", "");
	write_program(&one, 1, 80, "a", "");
	write_program(&one, 3, 40, "a", "");
	write_program(&two, 1, 80, "b", "");
	write_program(&two, 4, 40, "b", "");
	struct sketch_known known = { 0 };
	struct sketch a = sketch_of(&one, NULL), b = sketch_of(&two, NULL);
	assert_in_range(sketch_resemblance(&a, &b), 40, 90);
	sketch_know(&known, start.data, start.length, true);
	a = sketch_of(&one, &known);
	b = sketch_of(&two, &known);
	assert_in_range(sketch_resemblance(&a, &b), 0, 20);
	struct sketch none = sketch_of(&start, &known);
	assert_int_equal(none.count, 0);
	assert_int_equal(sketch_resemblance(&none, &none), 0);
	free(known.hashes);
}

static void short_and_long_sources_have_sketches(void **state)
{
	(void)state;
	cleanup_buffer struct buffer empty = { 0 }, small = { 0 }, same = { 0 }, large = { 0 };
	buffer_text(&small, "a = b");
	buffer_text(&same, "c=d # e");
	write_program(&large, 1, 20000, "a", "");
	struct sketch none = sketch_of(&empty, NULL), a = sketch_of(&small, NULL),
				  b = sketch_of(&same, NULL), c = sketch_of(&large, NULL);
	assert_int_equal(none.count, 0);
	assert_int_equal(a.count, 1);
	assert_int_equal(sketch_resemblance(&a, &b), 100);
	assert_int_equal(c.count, sketch_most_hashes);
	assert_int_equal(sketch_resemblance(&c, &c), 100);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(comments_layout_names_and_values_do_not_count),
		cmocka_unit_test(code_in_a_long_string_counts),
		cmocka_unit_test(an_end_that_is_missing_ends_with_the_source),
		cmocka_unit_test(renamed_commented_and_reformatted_copies_resemble_fully),
		cmocka_unit_test(a_copy_with_an_insertion_or_a_moved_part_stays_close),
		cmocka_unit_test(what_a_template_has_is_left_out),
		cmocka_unit_test(short_and_long_sources_have_sketches),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
