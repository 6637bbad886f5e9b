/* Whole rankings as a reader of the page expects them, written by hand from docs/ranking.md: ranks,
 * order, gaps and reasons. */
#include "lib/base/rank.h"
#include "lib/base/scope.h"
#include "lib/ranking/ranking.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

/* entries: "NAME TIME ERROR, ..."; "?" is an unknown standard error. "a" was submitted before "b".
 * "c 100 1 as b": c submitted the file of b.
 * compared: from old to new, "b<a" (b was faster), "a=b" (a tie), "a~b" (a tie, but the interval
 * ends at 1) or "a!b" (a failed against b).
 * page: a line for each entry, "RANK NAME GAP ABOVE", then the reason and the other entry if there
 * is one. GAP is to the fastest time, "best" is that time. ABOVE is to the fastest of the group
 * above, and "-" in the first group. Gaps are percentages. */
struct board {
	const char *title, *entries, *compared, *page;
};
static const struct board BOARDS[] = {
	/* ---- times alone ---- */
	{ "nobody", "", "", "" },
	{ "one entry", "a 100 1", "", "1 a best -\n" },
	{ "one entry without an error", "a 100 ?", "", "1 a best -\n" },
	{ "clearly different times", "a 300 1, b 100 1, c 200 1", "",
		"1 b best -\n2 c +100.0 +100.0\n3 a +200.0 +50.0\n" },
	{ "a tie in order of time, not of submission", "a 102 1, b 100 1", "",
		"=1 b best -\n=1 a +2.0 -\n" },
	{ "a tie of noisy times", "a 7586000 1400000, b 4693000 1400000", "",
		"=1 b best -\n=1 a +61.6 -\n" },
	{ "three tie, and the next rank is 4", "a 101 3, b 100 3, c 102 3, d 200 1", "",
		"=1 b best -\n=1 a +1.0 -\n=1 c +2.0 -\n4 d +100.0 +100.0\n" },
	{ "just within the noise of 9.8", "a 109.79 4, b 100 3", "", "=1 b best -\n=1 a +9.8 -\n" },
	{ "just outside the noise of 9.8", "a 109.81 4, b 100 3", "", "1 b best -\n2 a +9.8 +9.8\n" },
	{ "a tie below the first rank", "a 100 1, b 150 1, c 151 1", "",
		"1 a best -\n=2 b +50.0 +50.0\n=2 c +51.0 +51.0\n" },
	{ "ties do not chain", "a 100 1, b 102 1, c 104 1", "",
		"=1 a best -\n=1 b +2.0 -\n3 c +4.0 +4.0 chain b\n" },
	{ "a long chain", "a 100 1, b 102 1, c 104 1, d 106 1, e 108 1", "",
		"=1 a best -\n=1 b +2.0 -\n=3 c +4.0 +4.0 chain b\n=3 d +6.0 +6.0\n"
		"5 e +8.0 +3.8 chain d\n" },
	{ "a missing error ties with nobody", "a 100 ?, b 100.5 1", "", "1 a best -\n2 b +0.5 +0.5\n" },
	{ "a missing error between two others", "a 100 1, b 101 ?, c 101.5 1", "",
		"1 a best -\n2 b +1.0 +1.0\n3 c +1.5 +0.5 between a\n" },
	{ "equal times with a missing error", "a 100 1, b 100 ?", "", "=1 a best -\n=1 b best -\n" },
	{ "a huge error does not pass a clearly slower entry", "a 100 1, b 110 1, c 111 50", "",
		"1 a best -\n=2 b +10.0 +10.0\n=2 c +11.0 +11.0 between a\n" },
	{ "a huge error of the fastest", "a 100 50, b 110 1, c 150 1, d 250 1", "",
		"=1 a best -\n=1 b +10.0 -\n=1 c +50.0 -\n4 d +150.0 +150.0\n" },
	{ "errors of zero", "a 100 0, b 100.1 0", "", "1 a best -\n2 b +0.1 +0.1\n" },
	{ "equal times: the earlier submission first", "b 700 1, a 700 1", "",
		"=1 a best -\n=1 b best -\n" },
	{ "times at the floor tie", "c 500 0, a 500 0, b 500 0, d 600 1", "",
		"=1 a best -\n=1 b best -\n=1 c best -\n4 d +20.0 +20.0\n" },
	{ "times at the floor without errors", "b 500 ?, a 500 ?", "", "=1 a best -\n=1 b best -\n" },
	{ "a time just above the floor", "a 500 0, b 500 0, c 503 2", "",
		"=1 a best -\n=1 b best -\n=1 c +0.6 -\n" },
	/* ---- two entries head to head ---- */
	{ "the slower time wins", "a 100 1, b 100.5 1", "b<a", "1 b +0.5 -\n2 a best -0.5 slower b\n" },
	{ "the faster time wins, so they do not tie", "a 100 1, b 100.5 1", "a<b",
		"1 a best -\n2 b +0.5 +0.5 slower a\n" },
	{ "the faster time wins, as the times alone say", "a 100 0.1, b 100.9 0.1", "a<b",
		"1 a best -\n2 b +0.9 +0.9\n" },
	{ "of equal times one wins", "a 100 1, b 100 1", "b<a",
		"1 b best -\n2 a best +0.0 slower b\n" },
	{ "a tie, as the times alone say", "a 100 1, b 100.5 1", "a=b", "=1 a best -\n=1 b +0.5 -\n" },
	{ "a tie of times beyond the noise", "a 100 0.1, b 100.9 0.1", "a=b",
		"=1 a best -\n=1 b +0.9 - tie a\n" },
	{ "an interval that ends at 1 is a tie", "a 100 0.1, b 100.9 0.1", "a~b",
		"=1 a best -\n=1 b +0.9 - tie a\n" },
	{ "the faster one fails", "a 100 1, b 100.5 1", "a!b", "1 b +0.5 -\n2 a best -0.5 failed b\n" },
	{ "the slower one fails", "a 100 1, b 100.5 1", "b!a", "1 a best -\n2 b +0.5 +0.5 failed a\n" },
	{ "missing errors, and one wins", "a 100 ?, b 100.5 ?", "b<a",
		"1 b +0.5 -\n2 a best -0.5 slower b\n" },
	{ "a win that no longer counts: the times are not close", "a 100 0.1, b 101.5 0.1", "b<a",
		"1 a best -\n2 b +1.5 +1.5\n" },
	{ "a tie that no longer counts", "a 100 0.1, b 101.5 0.1", "a=b",
		"1 a best -\n2 b +1.5 +1.5\n" },
	{ "the newer comparison counts", "a 100 1, b 100.5 1", "b<a, a<b",
		"1 a best -\n2 b +0.5 +0.5 slower a\n" },
	{ "a newer tie ends a win", "a 100 1, b 100.5 1", "b<a, b=a", "=1 a best -\n=1 b +0.5 -\n" },
	{ "a rival who left the ranking", "a 100 1, b 100.5 1", "x<a", "=1 a best -\n=1 b +0.5 -\n" },
	/* ---- three and more head to head ---- */
	{ "a win does not pass a third entry", "a 100 0.01, b 100.3 0.01, c 100.6 0.01", "c<a",
		"1 b +0.3 -\n2 c +0.6 +0.3\n3 a best -0.6 slower c\n" },
	{ "a chain of wins", "a 100 1, b 100.5 1, c 101 1", "b<a, c<b",
		"1 c +1.0 -\n2 b +0.5 -0.5 slower c\n3 a best -0.5 slower b\n" },
	{ "winner and loser tie with a third", "a 100 1, b 100.2 1, c 100.4 1", "c<b",
		"=1 a best -\n=1 c +0.4 -\n3 b +0.2 +0.2 slower c\n" },
	{ "a loser who ties with the first by time", "a 100 1, b 102 1, c 104 1", "c<b",
		"1 a best -\n2 c +4.0 +4.0\n3 b +2.0 -1.9 slower c\n" },
	{ "an entry behind one that was moved itself", "a 101.1 0.1, b 100.4 0.1, c 100.8 0.1",
		"a<b, b<c", "1 a +0.7 -\n2 b best -0.7 slower a\n3 c +0.4 +0.4 slower b\n" },
	{ "a circle", "a 100.4 1, b 100 1, c 100.2 1", "a<b, b<c, c<a",
		"1 b best - circle a\n2 c +0.2 +0.2 slower b\n3 a +0.4 +0.2 slower c\n" },
	{ "a circle and a faster time that lost to it", "a 100.4 1, b 100 1, c 100.2 1, d 99.9 1",
		"a<b, b<c, c<a, c<d",
		"1 b +0.1 - circle a\n2 c +0.3 +0.2 slower b\n=3 d best -0.3 slower c\n"
		"=3 a +0.5 +0.2 slower c\n" },
	{ "a circle does not wait for a slower time",
		"a 100.4 0.01, b 100 0.01, c 100.2 0.01, d 100.3 0.01", "a<b, b<c, c<a",
		"1 b best - circle a\n2 c +0.2 +0.2\n3 d +0.3 +0.1\n4 a +0.4 +0.1\n" },
	{ "who waited for one that joins a tie is the fastest of the next group",
		"a 100 0.1, b 100.8 0.1, c 100.4 0.1, d 100.6 0.1, e 100.84 0.1", "a=b, b<c",
		"=1 a best -\n=1 b +0.8 - tie a\n=3 c +0.4 +0.4 slower b\n=3 d +0.6 +0.6\n"
		"5 e +0.8 +0.4 chain d\n" },
	{ "a far entry joins by a tie", "a 100 0.1, b 100.4 0.1, c 100.8 0.1", "a<b, a=c",
		"=1 a best -\n=1 c +0.8 - tie a\n3 b +0.4 +0.4\n" },
	{ "a far tie does not pass a winner", "a 100 0.1, b 100.4 0.1, c 100.8 0.1", "a<b, a=c, b<c",
		"1 a best -\n2 b +0.4 +0.4\n3 c +0.8 +0.4 slower b\n" },
	{ "ties head to head do not chain", "a 100 0.1, b 100.4 0.1, c 100.8 0.1", "a=b, b=c, a<c",
		"=1 a best -\n=1 b +0.4 - tie a\n3 c +0.8 +0.8 chain b\n" },
	{ "a tie with the last of a group that is far from the first",
		"a 100 0.1, b 100.9 0.1, c 101.8 0.1", "a=b, b=c",
		"=1 a best -\n=1 b +0.9 - tie a\n3 c +1.8 +1.8 chain b\n" },
	{ "two groups of ties", "a 100 1, b 101 1, c 103 1, d 103.5 1", "a=d",
		"=1 a best -\n=1 b +1.0 -\n=3 c +3.0 +3.0 chain b\n=3 d +3.5 +3.5\n" },
	{ "of two winners the one with the worse rank is named", "a 100 1, b 100.3 1, c 101 1",
		"a<c, b<c", "=1 a best -\n=1 b +0.3 -\n3 c +1.0 +1.0 slower b\n" },
	{ "a tie passes a faster time that lost", "a 100 1, b 101 1, c 101.1 1", "a=c, a<b",
		"=1 a best -\n=1 c +1.1 - tie a\n3 b +1.0 +1.0 slower a\n" },
	{ "a loss that the times explain has no reason", "a 100.2 0.1, b 100 0.1, c 100.3 0.1", "a<c",
		"=1 b best -\n=1 a +0.2 -\n3 c +0.3 +0.3\n" },
	{ "equal times, one of them in a circle", "a 100.9 1, b 100.2 1, c 101.3 1, d 100.2 1",
		"b<c, c<a, a<b, d<a",
		"=1 b best - circle a\n=1 d best -\n3 c +1.1 +1.1 slower b\n4 a +0.7 -0.4 slower c\n" },
	{ "a circle waits for a slower time, which shares no rank with it",
		"a 100.1 1, b 100.4 1, c 100 1, d 100.3 1", "d<a, a<b, c<a, b<c",
		"1 d +0.3 -\n2 c best -0.3 circle b\n3 a +0.1 +0.1 slower c\n4 b +0.4 +0.3 slower a\n" },
	/* ---- one file of several users ---- */
	{ "a file of two users wins once for both", "a 100 1, b 100.5 1, c 100.5 1 as b", "b<a",
		"=1 b +0.5 -\n=1 c +0.5 -\n3 a best -0.5 slower b\n" },
	{ "a file of two users loses once for both", "a 100 1, b 100 1 as a, c 100.5 1", "c<a",
		"1 c +0.5 -\n=2 a best -0.5 slower c\n=2 b best -0.5 slower c\n" },
	{ "a file of two users joins a tie", "a 100 0.1, b 100.8 0.1, c 100.4 0.1, d 100.8 0.1 as b",
		"a=b", "=1 a best -\n=1 b +0.8 - tie a\n=1 d +0.8 - tie a\n4 c +0.4 +0.4\n" },
	{ "another file with the same time comes between two users of one file",
		"a 100 1, b 100 1, c 100 1 as a", "b<a",
		"1 b best -\n=2 a best +0.0 slower b\n=2 c best +0.0 slower b\n" },
	{ "a file of two users in a circle", "a 100 1, b 100.2 1, c 100.4 1, d 100 1 as a",
		"a<b, b<c, c<a",
		"=1 a best - circle c\n=1 d best - circle c\n3 b +0.2 +0.2 slower a\n"
		"4 c +0.4 +0.2 slower b\n" },
};

enum { most_entries = 8, most_comparisons = 8 };

static size_t read_entries(const char *text, struct ranking_entry *entries)
{
	size_t count = 0;
	char name, file, error[16];
	double score_ns;
	for (; *text; text += strcspn(text, ","), text += strspn(text, ", ")) {
		int found = sscanf(text, "%c %lf %15[^, ] as %c", &name, &score_ns, error, &file);
		assert_true(found >= 3 && count < most_entries);
		entries[count++] = (struct ranking_entry){ .user_id = name,
			.submission_id = name,
			.file_id = found > 3 ? file : name,
			.score_ns = score_ns,
			.score_err_ns = strcmp(error, "?") == 0 ? NAN : strtod(error, NULL) };
	}
	return count;
}

static size_t read_comparisons(const char *text, struct ranking_head_to_head *comparisons)
{
	size_t count = 0;
	char challenger, outcome, incumbent;
	for (; *text; text += strcspn(text, ","), text += strspn(text, ", ")) {
		assert_int_equal(sscanf(text, "%c%c%c", &challenger, &outcome, &incumbent), 3);
		assert_true(count < most_comparisons);
		comparisons[count] = (struct ranking_head_to_head){ .id = (int64_t)count + 1,
			.challenger_file_id = challenger,
			.incumbent_file_id = incumbent,
			.ratio_low = outcome == '!' ? 1e9 : 0.98,
			.ratio_high = outcome == '!' ? 1e9
				: outcome == '<'         ? 0.99
				: outcome == '~'         ? 1
										 : 1.01,
			.is_failure = outcome == '!' };
		count++;
	}
	return count;
}

static double fastest_of(const struct ranking_entry *entries, size_t count)
{
	double fastest_ns = INFINITY;
	for (size_t i = 0; i < count; i++)
		fastest_ns = fmin(fastest_ns, entries[i].score_ns);
	return fastest_ns;
}

static int print_gap(char *out, size_t size, double ns, double other_ns)
{
	return isnan(other_ns) ? snprintf(out, size, " -")
						   : snprintf(out, size, " %+.1f", 100 * (ns / other_ns - 1));
}

static void print_page(char *out, size_t size, const struct ranking_entry *entries, size_t count)
{
	double fastest_ns = fastest_of(entries, count);
	size_t used = 0;
	*out = 0;
	for (size_t i = 0; i < count; i++) {
		const struct ranking_entry *entry = &entries[i];
		format_text rank;
		format_rank(rank, entry->place, entry->is_tied);
		used += (size_t)snprintf(out + used, size - used, "%s %c", rank, (char)entry->user_id);
		if (entry->score_ns == fastest_ns)
			used += (size_t)snprintf(out + used, size - used, " best");
		else
			used += (size_t)print_gap(out + used, size - used, entry->score_ns, fastest_ns);
		used += (size_t)print_gap(out + used, size - used, entry->score_ns, entry->above_ns);
		if (entry->reason)
			used += (size_t)snprintf(
				out + used, size - used, " %s %c", entry->reason, (char)entry->other_id);
		used += (size_t)snprintf(out + used, size - used, "\n");
		assert_int_equal(entry->position, i + 1);
	}
}

static void each_board_has_the_ranking_that_a_person_expects(void **state)
{
	(void)state;
	assert_true(COUNT(BOARDS) >= 40);
	size_t failed = 0;
	for (size_t i = 0; i < COUNT(BOARDS); i++) {
		struct ranking_entry entries[most_entries];
		struct ranking_head_to_head comparisons[most_comparisons];
		char page[512];
		size_t count = read_entries(BOARDS[i].entries, entries),
			   comparison_count = read_comparisons(BOARDS[i].compared, comparisons);
		ranking_order(entries, count, comparisons, comparison_count);
		print_page(page, sizeof page, entries, count);
		if (strcmp(page, BOARDS[i].page) != 0) {
			print_error("%s:\n%sinstead of\n%s", BOARDS[i].title, page, BOARDS[i].page);
			failed++;
		}
	}
	assert_int_equal(failed, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(each_board_has_the_ranking_that_a_person_expects),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
