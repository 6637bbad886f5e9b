/* The points of a contest: a table of scoreboards, written by hand from docs/contests.md. */
#include "lib/base/buffer.h"
#include "lib/base/rank.h"
#include "lib/base/scope.h"
#include "lib/contest/scoring.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

/* results: a word for each contestant, "a:1/100,-": rank 1 with 100 ns on the first problem, and no
 * result on the second. Contestants are in order of name.
 * page: "PLACE NAME TOTAL (POINTS OF EACH PROBLEM)", a line for each contestant. */
struct contest_case {
	const char *title, *scoring, *points, *results, *page;
};
static const struct contest_case CASES[] = {
	{ "nobody", "ranks", "", "", "" },
	{ "no results", "ranks", "", "a:- b:-", "=1 a 0 (0)\n=1 b 0 (0)\n" },
	{ "the usual table", "ranks", "", "a:2/200 b:1/100 c:3/300",
		"1 b 25 (25)\n2 a 18 (18)\n3 c 15 (15)\n" },
	{ "the sum over problems", "ranks", "", "a:1/1,2/9 b:2/2,1/8 c:3/3,-",
		"=1 a 43 (25 18)\n=1 b 43 (18 25)\n3 c 15 (15 0)\n" },
	{ "a table of its own", "ranks", "10, 5 1.5", "a:1/1 b:2/2 c:3/3 d:4/4",
		"1 a 10 (10)\n2 b 5 (5)\n3 c 1.5 (1.5)\n4 d 0 (0)\n" },
	{ "a tie gives both the points of the shared rank", "ranks", "", "a:1/100 b:1/101 c:3/200",
		"=1 a 25 (25)\n=1 b 25 (25)\n3 c 15 (15)\n" },
	{ "who only ranks on the leaderboard does not count", "ranks", "", "a:2/2 b:4/4 c:4/5",
		"1 a 25 (25)\n=2 b 18 (18)\n=2 c 18 (18)\n" },
	{ "more contestants than points", "ranks", "3", "a:1/1 b:2/2 c:2/2",
		"1 a 3 (3)\n=2 b 0 (0)\n=2 c 0 (0)\n" },
	{ "ratios", "ratios", "", "a:1/100 b:2/200 c:3/300 d:-",
		"1 a 100 (100)\n2 b 50 (50)\n3 c 33.33 (33.33)\n4 d 0 (0)\n" },
	{ "ratios over two problems", "ratios", "", "a:1/100,2/400 b:2/200,1/100",
		"1 b 150 (50 100)\n2 a 125 (100 25)\n" },
	{ "those who tie have one ratio", "ratios", "", "a:1/100 b:1/104 c:3/208 d:3/200",
		"=1 a 100 (100)\n=1 b 100 (100)\n=3 c 50 (50)\n=3 d 50 (50)\n" },
	{ "ratios count to the hundredth", "ratios", "", "a:1/100000 b:2/100001 c:3/100100",
		"=1 a 100 (100)\n=1 b 100 (100)\n3 c 99.9 (99.9)\n" },
	{ "a loss head to head takes no points from a faster time", "ratios", "", "a:1/102 b:2/100",
		"1 b 100 (100)\n2 a 98.04 (98.04)\n" },
	{ "the geometric mean", "mean", "", "a:1/100,2/400 b:2/400,1/100 c:3/1600,3/1600",
		"=1 a 50 (100 25)\n=1 b 50 (25 100)\n3 c 6.25 (6.25 6.25)\n" },
	{ "a missing result counts as a ratio of 0.01", "mean", "", "a:1/100,- b:2/400,1/100 c:-,-",
		"1 b 50 (25 100)\n2 a 10 (100 0)\n3 c 0 (0 0)\n" },
	{ "a slow result is never worse than none", "mean", "", "a:1/100,1/100 b:2/100000000,- c:-,-",
		"1 a 100 (100 100)\n2 b 1 (0 0)\n3 c 0 (0 0)\n" },
};

enum { most_rows = 8, most_columns = 3 };

static size_t read_results(const char *text, struct scoring_row *rows,
	struct scoring_cell (*cells)[most_columns], size_t *column_count)
{
	size_t count = 0;
	cleanup_free char *copy = strdup(text);
	for (char *word, *rest = copy; (word = strtok_r(rest, " ", &rest)); count++) {
		size_t column = 0;
		char *at = word + 2;
		rows[count] = (struct scoring_row){ .cells = cells[count], .number = count };
		for (char *one; (one = strtok_r(at, ",", &at)); column++) {
			cells[count][column] = (struct scoring_cell){ 0 };
			if (*one != '-')
				assert_int_equal(sscanf(one, "%ld/%lf", &cells[count][column].place,
									 &cells[count][column].time_ns),
					2);
		}
		*column_count = column;
	}
	return count;
}

static void print_page(
	struct buffer *out, const struct scoring_row *rows, size_t row_count, size_t column_count)
{
	for (size_t i = 0; i < row_count; i++) {
		format_text rank;
		format_rank(rank, rows[i].place, rows[i].is_tied);
		buffer_printf(out, "%s %c %g (", rank, (char)('a' + rows[i].number), rows[i].total);
		for (size_t j = 0; j < column_count; j++)
			buffer_printf(out, "%s%g", j ? " " : "", rows[i].cells[j].points);
		buffer_text(out, ")\n");
	}
}

static void each_scoreboard_has_its_points(void **state)
{
	(void)state;
	for (size_t i = 0; i < COUNT(CASES); i++) {
		struct scoring_row rows[most_rows];
		struct scoring_cell cells[most_rows][most_columns];
		struct scoring_rule rule = { .method = scoring_method_of(CASES[i].scoring) };
		struct error error = { 0 };
		cleanup_buffer struct buffer page = { 0 };
		size_t column_count = 0,
			   row_count = read_results(CASES[i].results, rows, cells, &column_count);
		assert_int_equal(scoring_read_points(&rule, CASES[i].points, &error), 0);
		scoring_apply(&rule, rows, row_count, column_count);
		print_page(&page, rows, row_count, column_count);
		if (strcmp(buffer_string(&page), CASES[i].page) != 0)
			print_error("%s:\n%s", CASES[i].title, buffer_string(&page));
		assert_string_equal(buffer_string(&page), CASES[i].page);
	}
}

static void a_table_of_points_is_read_or_refused(void **state)
{
	(void)state;
	static const struct {
		const char *text;
		size_t count; /* 0: refused */
	} tables[] = {
		{ "", 10 },
		{ "  ", 10 },
		{ "5", 1 },
		{ "5,4,3", 3 },
		{ " 5 5\n4 ", 3 },
		{ "12.5 7.25", 2 },
		{ "0", 1 },
		{ "1 2", 0 },
		{ "-1", 0 },
		{ "1e3", 0 },
		{ "nan", 0 },
		{ "inf", 0 },
		{ "0x10", 0 },
		{ "1.2.3", 0 },
		{ "9999999", 0 },
		{ "ten", 0 },
	};
	for (size_t i = 0; i < COUNT(tables); i++) {
		struct scoring_rule rule = { 0 };
		struct error error = { 0 };
		int rc = scoring_read_points(&rule, tables[i].text, &error);
		assert_int_equal(rc, tables[i].count ? 0 : ERROR_INPUT);
		assert_string_equal(error.field, rc ? "points" : "");
		if (!rc)
			assert_int_equal(rule.rank_count, tables[i].count);
	}
}

static void a_hundred_ranks_can_have_points(void **state)
{
	(void)state;
	cleanup_buffer struct buffer text = { 0 };
	struct scoring_rule rule;
	struct error error = { 0 };
	for (int i = 0; i < scoring_most_ranks; i++)
		buffer_text(&text, "1 ");
	assert_int_equal(scoring_read_points(&rule, buffer_string(&text), &error), 0);
	buffer_text(&text, "1");
	assert_int_equal(scoring_read_points(&rule, buffer_string(&text), &error), ERROR_INPUT);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(each_scoreboard_has_its_points),
		cmocka_unit_test(a_table_of_points_is_read_or_refused),
		cmocka_unit_test(a_hundred_ranks_can_have_points),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
