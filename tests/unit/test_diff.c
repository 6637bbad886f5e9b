/* Line diffs: minimal changes within limits. */
#include "cgi/render/diff.h"
#include "lib/base/buffer.h"
#include "lib/base/scope.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <time.h>

#include <cmocka.h>

/* How often two files of 1 MB could be made in the time that their diff may take. */
enum { most_texts = 5 };

/* Compares the diff's rows, written as text: " x", "-x", "+x", and "@5" for a gap of five lines. */
static void expect_rows(const char *a, const char *b, size_t context, const char *expected)
{
	cleanup_arena struct arena *arena = arena_new();
	cleanup_buffer struct buffer got = { 0 };
	struct diff diff = diff_of(arena, a, strlen(a), b, strlen(b));
	struct diff_row *rows;
	bool is_cut;
	size_t count = diff_rows(arena, &diff, context, 1000, &rows, &is_cut);
	for (size_t i = 0; i < count; i++)
		if (rows[i].kind == DIFF_GAP)
			buffer_printf(&got, "@%zu\n", rows[i].skipped);
		else
			buffer_printf(&got, "%c%s\n", " -+"[rows[i].kind], rows[i].text);
	assert_string_equal(buffer_string(&got), expected);
	assert_false(is_cut);
	assert_false(diff.is_coarse);
}

static void a_replaced_line_is_removed_and_added(void **state)
{
	(void)state;
	expect_rows("a\nb\nc\n", "a\nx\nc\n", 3, " a\n-b\n+x\n c\n");
}

static void lines_that_only_move_apart_are_unchanged(void **state)
{
	(void)state;
	expect_rows(
		"a\nb\nc\na\nb\nb\na\n", "c\nb\na\nb\na\nc\n", 9, "-a\n-b\n c\n+b\n a\n b\n-b\n a\n+c\n");
}

static void distant_unchanged_lines_become_a_gap(void **state)
{
	(void)state;
	expect_rows("1\n2\n3\n4\n5\n6\n7\n8\n9\n", "1\n2\n3\nx\n5\n6\n7\n8\n9\ny\n", 1,
		"@2\n 3\n-4\n+x\n 5\n@3\n 9\n+y\n");
	expect_rows("x\n2\n3\n4\n5\n", "y\n2\n3\n4\n5\n", 2, "-x\n+y\n 2\n 3\n@2\n");
}

static void empty_and_equal_texts_have_no_difference(void **state)
{
	(void)state;
	expect_rows("", "", 3, "");
	expect_rows("", "a\nb", 3, "+a\n+b\n");
	expect_rows("a\n\n", "", 3, "-a\n-\n");
	expect_rows("a\nb\n", "a\nb\n", 3, "@2\n");
}

static void line_ends_make_no_difference(void **state)
{
	(void)state;
	expect_rows("a\r\nb\r\nc", "a\nb\nc\n", 3, "@3\n");
	expect_rows("a\rb\n", "ab\n", 3, "-a\rb\n+ab\n");
}

static void rows_have_the_numbers_of_their_lines(void **state)
{
	(void)state;
	cleanup_arena struct arena *arena = arena_new();
	struct diff diff = diff_of(arena, "a\nb\nc", 5, "b\nx\nc", 5);
	struct diff_row *rows;
	bool is_cut;
	assert_int_equal(diff_rows(arena, &diff, 3, 10, &rows, &is_cut), 4);
	static const struct {
		enum diff_kind kind;
		size_t a, b;
	} expected[] = {
		{ DIFF_REMOVED, 1, 0 },
		{ DIFF_SAME, 2, 1 },
		{ DIFF_ADDED, 0, 2 },
		{ DIFF_SAME, 3, 3 },
	};
	for (size_t i = 0; i < COUNT(expected); i++) {
		assert_int_equal(rows[i].kind, expected[i].kind);
		assert_int_equal(rows[i].a, expected[i].a);
		assert_int_equal(rows[i].b, expected[i].b);
	}
	assert_int_equal(diff_rows(arena, &diff, 3, 3, &rows, &is_cut), 3);
	assert_true(is_cut);
}

static void append_numbers(struct buffer *out, int first, int count)
{
	for (int i = 0; i < count; i++)
		buffer_printf(out, "%d\n", first + i);
}

static void very_different_texts_are_compared_coarsely(void **state)
{
	(void)state;
	cleanup_arena struct arena *arena = arena_new();
	cleanup_buffer struct buffer a = { 0 }, b = { 0 };
	buffer_text(&a, "same\n");
	buffer_text(&b, "same\n");
	append_numbers(&a, 0, 2000);
	append_numbers(&b, 5000, 2000);
	struct diff diff = diff_of(arena, a.data, a.length, b.data, b.length);
	assert_true(diff.is_coarse);
	assert_int_equal(diff.removed, 2000);
	assert_int_equal(diff.added, 2000);
	assert_false(diff.a.lines[0].changed);
}

static void many_lines_with_few_changes_are_compared_exactly(void **state)
{
	(void)state;
	cleanup_arena struct arena *arena = arena_new();
	cleanup_buffer struct buffer a = { 0 }, b = { 0 };
	append_numbers(&a, 0, 20000);
	append_numbers(&b, 1, 10000);
	buffer_text(&b, "between\n");
	append_numbers(&b, 10001, 9999);
	struct diff diff = diff_of(arena, a.data, a.length, b.data, b.length);
	assert_false(diff.is_coarse);
	assert_int_equal(diff.removed, 1);
	assert_int_equal(diff.added, 1);
}

/* Compares the rows, written as text with [the words that differ]. */
static void expect_words(const char *a, const char *b, const char *expected)
{
	cleanup_arena struct arena *arena = arena_new();
	cleanup_buffer struct buffer got = { 0 };
	struct diff diff = diff_of(arena, a, strlen(a), b, strlen(b));
	struct diff_row *rows;
	bool is_cut;
	size_t count = diff_rows(arena, &diff, 3, 1000, &rows, &is_cut);
	diff_words(arena, rows, count);
	for (size_t i = 0; i < count; i++) {
		buffer_printf(&got, "%c", " -+@"[rows[i].kind]);
		for (size_t k = 0; k < rows[i].span_count; k++)
			buffer_printf(&got, rows[i].spans[k].changed ? "[%s]" : "%s", rows[i].spans[k].text);
		buffer_printf(&got, "%s\n", rows[i].span_count ? "" : rows[i].text);
	}
	assert_string_equal(buffer_string(&got), expected);
}

static void the_words_that_differ_are_found_in_changed_lines(void **state)
{
	(void)state;
	expect_words("x = dot(a, b, M=64)\n", "x = dot(a, b, M=128)\n",
		"-x = dot(a, b, M=[64])\n+x = dot(a, b, M=[128])\n");
	/* White space between two changed words belongs to them. */
	expect_words("call(one two)\n", "call(six ten)\n", "-call([one two])\n+call([six ten])\n");
	/* A line is paired with the one that resembles it. */
	expect_words("a = load(p, q)\n", "# a comment\na = load(p, r)\n",
		"-a = load(p, [q])\n+# a comment\n+a = load(p, [r])\n");
	/* Letters of other alphabets are letters. */
	expect_words("größe = 1  # 世界\n", "größe = 2  # 世界\n",
		"-größe = [1]  # 世界\n+größe = [2]  # 世界\n");
}

static void lines_with_little_in_common_have_no_words(void **state)
{
	(void)state;
	expect_words("import torch\n", "y = f(x)\n", "-import torch\n+y = f(x)\n");
	expect_words("  \n", "\t\n", "-  \n+\t\n");
	expect_words("", "a b\n", "+a b\n");
}

static void unchanged_lines_are_folded_within_a_limit(void **state)
{
	(void)state;
	cleanup_arena struct arena *arena = arena_new();
	const char *a = "1\n2\n3\n4\nx\n6\n7\n8\n9\n10\n", *b = "0\n1\n2\n3\n4\ny\n6\n7\n8\n9\n10\n";
	struct diff diff = diff_of(arena, a, strlen(a), b, strlen(b));
	struct diff_row *rows;
	bool is_cut;
	size_t count = diff_rows(arena, &diff, 1, 100, &rows, &is_cut);
	enum { first = 2, second = 7 };
	assert_int_equal(count, 8);
	assert_int_equal(rows[first].kind, DIFF_GAP);
	assert_int_equal(rows[second].kind, DIFF_GAP);
	diff_fold(arena, &diff, rows, count, 3 * sizeof *rows);
	assert_int_equal(rows[first].skipped, 2);
	assert_string_equal(rows[first].folded[0].text, "2");
	assert_int_equal(rows[first].folded[1].a, 3);
	assert_int_equal(rows[first].folded[1].b, 4);
	assert_null(rows[second].folded);
}

/* Fills `text` with 1 MB in lines of this length that repeat few words. */
static void fill(struct buffer *text, size_t line_length, unsigned seed)
{
	while (text->length < 1000 * 1000) {
		for (size_t i = 0; i < line_length; i++) {
			seed = seed * 1103515245u + 12345u;
			buffer_printf(text, "%c", "ab (=,"[(seed >> 16) % 6]);
		}
		buffer_text(text, "\n");
	}
}

static double ms_since(clock_t start)
{
	return 1000.0 * (double)(clock() - start) / CLOCKS_PER_SEC;
}

/* Asserts that a diff takes not much longer than making 2 MB of text. */
static void assert_is_fast(const struct buffer *a, const struct buffer *b, double text_ms)
{
	cleanup_arena struct arena *arena = arena_new();
	struct diff_row *rows;
	bool is_cut;
	const clock_t start = clock();
	struct diff diff = diff_of(arena, a->data, a->length, b->data, b->length);
	size_t count = diff_rows(arena, &diff, 3, 3000, &rows, &is_cut);
	diff_words(arena, rows, count);
	diff_fold(arena, &diff, rows, count, 200000);
	const double ms = ms_since(start);
	print_message("# %zu and %zu lines: %.1f ms, the text: %.1f ms\n", diff.a.count, diff.b.count,
		ms, text_ms);
	assert_true(ms < most_texts * text_ms);
}

static void hostile_files_take_bounded_time(void **state)
{
	(void)state;
	double text_ms = 0;
	/* One line, lines at the limit of the search for words, and many short ones. */
	static const size_t lengths[] = { 999999, 999, 99, 1 };
	for (size_t i = 0; i < COUNT(lengths); i++) {
		cleanup_buffer struct buffer a = { 0 }, b = { 0 };
		const clock_t start = clock();
		fill(&a, lengths[i], 1);
		fill(&b, lengths[i], 2);
		text_ms = ms_since(start);
		assert_is_fast(&a, &b, text_ms);
	}
	/* Equal lines, with one that differs after every few, let each diagonal go far. */
	for (size_t length = 1; length < 64; length += 48) {
		cleanup_buffer struct buffer a = { 0 }, b = { 0 };
		for (int i = 0; i < 20000; i++) {
			buffer_printf(&a, "%*s\n", (int)length, i % 51 == 0 ? "y" : "x");
			buffer_printf(&b, "%*s\n", (int)length, i % 52 == 0 ? "z" : "x");
		}
		assert_is_fast(&a, &b, text_ms);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_replaced_line_is_removed_and_added),
		cmocka_unit_test(lines_that_only_move_apart_are_unchanged),
		cmocka_unit_test(distant_unchanged_lines_become_a_gap),
		cmocka_unit_test(empty_and_equal_texts_have_no_difference),
		cmocka_unit_test(line_ends_make_no_difference),
		cmocka_unit_test(rows_have_the_numbers_of_their_lines),
		cmocka_unit_test(very_different_texts_are_compared_coarsely),
		cmocka_unit_test(the_words_that_differ_are_found_in_changed_lines),
		cmocka_unit_test(lines_with_little_in_common_have_no_words),
		cmocka_unit_test(unchanged_lines_are_folded_within_a_limit),
		cmocka_unit_test(hostile_files_take_bounded_time),
		cmocka_unit_test(many_lines_with_few_changes_are_compared_exactly),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
