/* How comparisons change the order and the ties of a ranking, and which entries an entry is
 * compared with (its rivals). */
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

/* The user has the same number as the submission. */
#define ENTRY(submission, score, err) \
	{ \
		.user_id = (submission), .submission_id = (submission), .file_id = (submission), \
		.score_ns = (score), .score_err_ns = (err) \
	}
#define FASTER(number, challenger, incumbent) \
	{ \
		(number), (challenger), (incumbent), 0.98, 0.99, 0 \
	}
#define SLOWER(number, challenger, incumbent) \
	{ \
		(number), (challenger), (incumbent), 1.01, 1.02, 0 \
	}
#define NEITHER(number, challenger, incumbent) \
	{ \
		(number), (challenger), (incumbent), 0.99, 1.01, 0 \
	}

/* Compares the order and the places: "3:1 1:2" means submission 3 at place 1, then submission 1 at
 * place 2. */
static void assert_page(struct ranking_entry *entries, size_t count,
	const struct ranking_head_to_head *comparisons, size_t comparison_count, const char *page)
{
	char text[256] = "";
	ranking_order(entries, count, comparisons, comparison_count);
	for (size_t i = 0; i < count; i++) {
		size_t length = strlen(text);
		snprintf(text + length, sizeof text - length, "%s%lld:%lld", i ? " " : "",
			(long long)entries[i].submission_id, (long long)entries[i].place);
		assert_int_equal(entries[i].position, i + 1);
	}
	assert_string_equal(text, page);
}
#define ASSERT_PAGE(entries, comparisons, page) \
	assert_page(entries, COUNT(entries), comparisons, COUNT(comparisons), page)

/* ---- two entries ---- */

static void the_winner_of_a_comparison_ranks_first_without_a_tie(void **state)
{
	(void)state;
	struct ranking_entry entries[] = { ENTRY(1, 100, 1), ENTRY(2, 100.5, 1) };
	struct ranking_head_to_head faster[] = { FASTER(1, 2, 1) }, slower[] = { SLOWER(1, 2, 1) };
	assert_page(entries, 2, NULL, 0, "1:1 2:1");
	ASSERT_PAGE(entries, faster, "2:1 1:2");
	ASSERT_PAGE(entries, slower, "1:1 2:2");
}

static void the_roles_of_challenger_and_incumbent_do_not_matter(void **state)
{
	(void)state;
	struct ranking_entry entries[] = { ENTRY(1, 100, 1), ENTRY(2, 100.5, 1) };
	struct ranking_head_to_head slower[] = { SLOWER(1, 1, 2) };
	ASSERT_PAGE(entries, slower, "2:1 1:2");
}

static void an_interval_that_contains_1_is_a_tie_in_order_of_time(void **state)
{
	(void)state;
	/* The scores are 0.9 apart with errors of 0.1: without a comparison there is no tie. */
	struct ranking_entry entries[] = { ENTRY(1, 100.9, 0.1), ENTRY(2, 100, 0.1) };
	struct ranking_head_to_head neither[] = { NEITHER(1, 2, 1) },
								touches[] = { { 1, 2, 1, 0.98, 1, 0 } };
	assert_page(entries, 2, NULL, 0, "2:1 1:2");
	ASSERT_PAGE(entries, neither, "2:1 1:1");
	ASSERT_PAGE(entries, touches, "2:1 1:1");
}

static void an_entry_without_a_standard_error_can_be_compared(void **state)
{
	(void)state;
	struct ranking_entry entries[] = { ENTRY(1, 100, NAN), ENTRY(2, 100.5, NAN) };
	struct ranking_head_to_head neither[] = { NEITHER(1, 2, 1) }, faster[] = { FASTER(1, 2, 1) };
	assert_page(entries, 2, NULL, 0, "1:1 2:2");
	ASSERT_PAGE(entries, neither, "1:1 2:1");
	ASSERT_PAGE(entries, faster, "2:1 1:2");
}

static void a_comparison_does_not_reverse_clearly_different_scores(void **state)
{
	(void)state;
	struct ranking_entry entries[] = { ENTRY(1, 100, 0.1), ENTRY(2, 101.5, 0.1) };
	struct ranking_head_to_head faster[] = { FASTER(1, 2, 1) }, neither[] = { NEITHER(1, 2, 1) };
	ASSERT_PAGE(entries, faster, "1:1 2:2");
	ASSERT_PAGE(entries, neither, "1:1 2:2");
}

static void of_two_comparisons_of_one_pair_the_newer_one_counts(void **state)
{
	(void)state;
	struct ranking_entry entries[] = { ENTRY(1, 100, 1), ENTRY(2, 100.5, 1) };
	struct ranking_head_to_head two[] = { SLOWER(4, 1, 2), FASTER(3, 1, 2) };
	ASSERT_PAGE(entries, two, "2:1 1:2");
}

static void comparisons_of_other_submissions_are_ignored(void **state)
{
	(void)state;
	struct ranking_entry entries[] = { ENTRY(1, 100, 1), ENTRY(2, 100.5, 1) };
	struct ranking_head_to_head others[] = { FASTER(1, 2, 7), SLOWER(2, 8, 1), FASTER(3, 8, 9) };
	ASSERT_PAGE(entries, others, "1:1 2:1");
}

/* ---- three and more ---- */

static void a_third_entry_does_not_make_winner_and_loser_share_a_place(void **state)
{
	(void)state;
	/* All three are within noise of submission 1. 3 beat 2, so 2 leaves the group of ties. */
	struct ranking_entry entries[] = { ENTRY(1, 100, 1), ENTRY(2, 100.2, 1), ENTRY(3, 100.4, 1) };
	struct ranking_head_to_head faster[] = { FASTER(1, 3, 2) };
	assert_page(entries, 3, NULL, 0, "1:1 2:1 3:1");
	ASSERT_PAGE(entries, faster, "1:1 3:1 2:3");
}

static void a_win_does_not_pass_a_third_entry_without_a_comparison(void **state)
{
	(void)state;
	/* 3 beat 1, but was not compared with 2 and does not pass 2. Therefore 1 moves behind 3. */
	struct ranking_entry entries[] = { ENTRY(1, 100, 0.01), ENTRY(2, 100.3, 0.01),
		ENTRY(3, 100.6, 0.01) };
	struct ranking_head_to_head faster[] = { FASTER(1, 3, 1) };
	ASSERT_PAGE(entries, faster, "2:1 3:2 1:3");
}

static void a_chain_of_wins_is_followed(void **state)
{
	(void)state;
	struct ranking_entry entries[] = { ENTRY(1, 100, 1), ENTRY(2, 100.5, 1), ENTRY(3, 101, 1) };
	struct ranking_head_to_head chain[] = { FASTER(1, 2, 1), FASTER(2, 3, 2) };
	ASSERT_PAGE(entries, chain, "3:1 2:2 1:3");
}

/* Each entry beat the one that is faster by time. */
static void a_long_chain_of_wins_is_followed(void **state)
{
	(void)state;
	enum { count = 200 };
	struct ranking_entry entries[count];
	struct ranking_head_to_head wins[count - 1];
	for (int i = 0; i < count; i++)
		entries[i] = (struct ranking_entry)ENTRY(i + 1, 1e6 + 20 * i, 5);
	for (int i = 0; i < count - 1; i++)
		wins[i] = (struct ranking_head_to_head)FASTER(i + 1, i + 2, i + 1);
	ranking_order(entries, count, wins, count - 1);
	for (int i = 0; i < count; i++)
		assert_int_equal(entries[i].submission_id, count - i);
}

static void ties_do_not_chain(void **state)
{
	(void)state;
	/* 1 and 2 tie, 2 and 3 tie, but 3 was slower than 1. */
	struct ranking_entry entries[] = { ENTRY(1, 100, 0.1), ENTRY(2, 100.4, 0.1),
		ENTRY(3, 100.8, 0.1) };
	struct ranking_head_to_head comparisons[] = { NEITHER(1, 2, 1), NEITHER(2, 3, 2),
		SLOWER(3, 3, 1) };
	ASSERT_PAGE(entries, comparisons, "1:1 2:1 3:3");
}

static void a_tie_with_the_first_passes_entries_without_a_comparison(void **state)
{
	(void)state;
	/* 2 was slower than 3 in a comparison, and 1 was not. This outweighs the better score of 2. */
	struct ranking_entry entries[] = { ENTRY(3, 100, 0.1), ENTRY(2, 100.4, 0.1),
		ENTRY(1, 100.8, 0.1), ENTRY(4, 102, 0.1) };
	struct ranking_head_to_head comparisons[] = { SLOWER(1, 2, 3), NEITHER(2, 1, 3) };
	ASSERT_PAGE(entries, comparisons, "3:1 1:1 2:3 4:4");
}

static void a_tie_with_the_first_does_not_pass_a_faster_entry(void **state)
{
	(void)state;
	struct ranking_entry entries[] = { ENTRY(3, 100, 0.1), ENTRY(2, 100.4, 0.1),
		ENTRY(1, 100.8, 0.1) };
	struct ranking_head_to_head comparisons[] = { SLOWER(1, 2, 3), NEITHER(2, 1, 3),
		SLOWER(3, 1, 2) };
	ASSERT_PAGE(entries, comparisons, "3:1 2:2 1:3");
}

static void in_a_circle_the_best_score_comes_first_and_comparisons_order_the_rest(void **state)
{
	(void)state;
	struct ranking_entry entries[] = { ENTRY(1, 100.4, 1), ENTRY(2, 100, 1), ENTRY(3, 100.2, 1),
		ENTRY(4, 99.9, 1) };
	/* 1 beat 2, 2 beat 3, and 3 beat 1. 4 has the best score but lost to 3. */
	struct ranking_head_to_head circle[] = { FASTER(1, 1, 2), FASTER(2, 2, 3), FASTER(3, 3, 1),
		SLOWER(4, 4, 3) };
	ASSERT_PAGE(entries, circle, "2:1 3:2 4:3 1:3");
}

/* ---- random rankings ---- */

enum { most_entries = 24, most_comparisons = 40 };

static const struct ranking_head_to_head *newest_of(
	const struct ranking_head_to_head *comparisons, size_t count, int64_t a, int64_t b)
{
	const struct ranking_head_to_head *newest = NULL;
	for (size_t i = 0; i < count; i++)
		if (a != b
			&& ((comparisons[i].challenger_file_id == a && comparisons[i].incumbent_file_id == b)
				|| (comparisons[i].challenger_file_id == b
					&& comparisons[i].incumbent_file_id == a))
			&& (!newest || comparisons[i].id > newest->id))
			newest = &comparisons[i];
	return newest;
}

/* Whether `a` won the newest comparison with `b`, and so must have a better place than `b`. */
static bool won_against(const struct ranking_head_to_head *comparisons, size_t count,
	const struct ranking_entry *a, const struct ranking_entry *b)
{
	const struct ranking_head_to_head *newest =
		newest_of(comparisons, count, a->file_id, b->file_id);
	if (!newest || !ranking_is_close(a, b))
		return false;
	return newest->challenger_file_id == a->file_id ? newest->ratio_high < 1
													: newest->ratio_low > 1;
}

/* Adds indirect wins: if i won against k and k against j, then i won against j. */
static void add_indirect_wins(bool wins[most_entries][most_entries], size_t count)
{
	for (size_t k = 0; k < count; k++)
		for (size_t i = 0; i < count; i++)
			for (size_t j = 0; j < count; j++)
				wins[i][j] = wins[i][j] || (wins[i][k] && wins[k][j]);
}

static void shuffle(void *array, size_t count, size_t size)
{
	char kept[128], *bytes = array;
	for (size_t i = count; i-- > 1;) {
		size_t other = (size_t)random() % (i + 1);
		memcpy(kept, bytes + i * size, size);
		memcpy(bytes + i * size, bytes + other * size, size);
		memcpy(bytes + other * size, kept, size);
	}
}

struct world {
	struct ranking_entry entries[most_entries];
	size_t count;
	struct ranking_head_to_head comparisons[most_comparisons];
	size_t comparison_count;
};

static struct world random_world(void)
{
	struct world world = { .count = (size_t)random() % most_entries + 1,
		.comparison_count = (size_t)random() % most_comparisons };
	for (size_t i = 0; i < world.count; i++)
		world.entries[i] = (struct ranking_entry)ENTRY((int64_t)i + 1,
			100 + (double)(random() % 30) / 10, random() % 4 ? (double)(random() % 10) / 20 : NAN);
	for (size_t i = 1; i < world.count; i++)
		if (random() % 4 == 0) { /* submits the file of somebody else */
			const struct ranking_entry *other = &world.entries[(size_t)random() % i];
			world.entries[i].file_id = other->file_id;
			world.entries[i].score_ns = other->score_ns;
			world.entries[i].score_err_ns = other->score_err_ns;
		}
	for (size_t i = 0; i < world.comparison_count; i++) {
		double low = 0.98 + (double)(random() % 30) / 1000;
		world.comparisons[i] =
			(struct ranking_head_to_head){ (int64_t)i + 1, random() % (int64_t)world.count + 1,
				random() % ((int64_t)world.count + 3) + 1, low, low + 0.01, 0 };
	}
	return world;
}

static void assert_positions_and_places(const struct ranking_entry *entries, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		bool opens = !i || entries[i].place != entries[i - 1].place;
		assert_int_equal(entries[i].position, i + 1);
		assert_true(entries[i].place <= entries[i].position);
		if (opens)
			assert_int_equal(entries[i].place, entries[i].position);
		else
			assert_true(entries[i].score_ns > entries[i - 1].score_ns
				|| (entries[i].score_ns == entries[i - 1].score_ns
					&& entries[i].submission_id > entries[i - 1].submission_id));
	}
}

/* Everybody in a group ties with its fastest, by the comparison of the two or by their times. */
static void assert_ties_are_with_the_fastest(const struct world *world)
{
	for (size_t i = 0; i < world->count; i++) {
		const struct ranking_entry *entry = &world->entries[i],
								   *fastest = &world->entries[entry->place - 1];
		const struct ranking_head_to_head *newest = newest_of(
			world->comparisons, world->comparison_count, entry->file_id, fastest->file_id);
		if (newest && ranking_is_close(entry, fastest))
			assert_true(newest->ratio_low <= 1 && newest->ratio_high >= 1);
		else
			assert_true(entry == fastest || ranking_ties_by_time(entry, fastest));
	}
}

/* Two entries that a comparison found equal never have two ranks without a reason. Neither does an
 * entry rank before one that beat it. */
static void assert_comparisons_are_explained(const struct world *world)
{
	for (size_t i = 0; i < world->count; i++)
		for (size_t k = i + 1; k < world->count; k++) {
			const struct ranking_entry *before = &world->entries[i], *behind = &world->entries[k];
			const struct ranking_head_to_head *newest = newest_of(
				world->comparisons, world->comparison_count, before->file_id, behind->file_id);
			if (!newest || !ranking_is_close(before, behind) || before->place == behind->place)
				continue;
			if (newest->ratio_low <= 1 && newest->ratio_high >= 1)
				assert_non_null(behind->reason);
			else if (won_against(world->comparisons, world->comparison_count, behind, before))
				assert_non_null(before->reason);
			else if (before->score_ns > behind->score_ns)
				assert_non_null(behind->reason);
		}
}

/* Nobody ranks before a faster entry, or has a worse place than the first of a group with which it
 * ties by time, without a sentence about one of the two. */
static void assert_times_are_explained(const struct world *world)
{
	for (size_t i = 0; i < world->count; i++)
		for (size_t k = i + 1; k < world->count; k++) {
			const struct ranking_entry *before = &world->entries[i], *behind = &world->entries[k];
			bool is_compared = newest_of(
				world->comparisons, world->comparison_count, before->file_id, behind->file_id);
			if (before->place == behind->place || behind->reason)
				continue;
			if (before->score_ns > behind->score_ns)
				assert_non_null(before->reason);
			if (before->place == before->position && !is_compared)
				assert_false(ranking_ties_by_time(before, behind));
		}
}

static void assert_one_file_ties(const struct world *world)
{
	for (size_t i = 0; i < world->count; i++)
		for (size_t k = 0; k < i; k++)
			if (world->entries[i].file_id == world->entries[k].file_id)
				assert_int_equal(world->entries[i].place, world->entries[k].place);
}

static bool was_compared(const struct world *world, int64_t file_id)
{
	for (size_t i = 0; i < world->comparison_count; i++)
		if (world->comparisons[i].challenger_file_id == file_id
			|| world->comparisons[i].incumbent_file_id == file_id)
			return true;
	return false;
}

/* Checks two rules. Except in a circle of wins, a winner has a better place than the loser. An
 * entry that never lost ranks before all worse scores, except for ties and for entries that it was
 * compared with. */
static void assert_comparisons_apply(const struct world *world)
{
	bool wins[most_entries][most_entries] = { 0 };
	for (size_t i = 0; i < world->count; i++)
		for (size_t j = 0; j < world->count; j++)
			wins[i][j] = won_against(world->comparisons, world->comparison_count,
				&world->entries[i], &world->entries[j]);
	add_indirect_wins(wins, world->count);
	for (size_t i = 0; i < world->count; i++)
		for (size_t j = i + 1; j < world->count; j++) {
			bool later_won = won_against(world->comparisons, world->comparison_count,
				&world->entries[j], &world->entries[i]);
			assert_true(!later_won || wins[i][j]);
			if (later_won
				|| won_against(world->comparisons, world->comparison_count, &world->entries[i],
					&world->entries[j]))
				assert_int_not_equal(world->entries[i].place, world->entries[j].place);
		}
	for (size_t i = 0; i + 1 < world->count; i++) {
		const struct ranking_entry *one = &world->entries[i], *next = one + 1;
		bool has_winner = false;
		for (size_t k = 0; k < world->count; k++)
			has_winner = has_winner || wins[k][i + 1];
		if (!has_winner && !was_compared(world, one->file_id) && one->place != next->place)
			assert_true(one->score_ns <= next->score_ns);
	}
}

static void the_order_of_the_input_never_changes_the_ranking(void **state)
{
	(void)state;
	srandom(7);
	for (int round = 0; round < 3000; round++) {
		struct world world = random_world(), again = world;
		ranking_order(world.entries, world.count, world.comparisons, world.comparison_count);
		assert_positions_and_places(world.entries, world.count);
		assert_ties_are_with_the_fastest(&world);
		assert_one_file_ties(&world);
		assert_comparisons_are_explained(&world);
		assert_times_are_explained(&world);
		assert_comparisons_apply(&world);
		shuffle(again.entries, again.count, sizeof *again.entries);
		shuffle(again.comparisons, again.comparison_count, sizeof *again.comparisons);
		ranking_order(again.entries, again.count, again.comparisons, again.comparison_count);
		for (size_t i = 0; i < world.count; i++) {
			assert_int_equal(again.entries[i].submission_id, world.entries[i].submission_id);
			assert_int_equal(again.entries[i].place, world.entries[i].place);
			assert_int_equal(again.entries[i].other_id, world.entries[i].other_id);
		}
	}
}

/* ---- rivals ---- */

static void assert_rivals(const struct ranking_entry *entries, size_t count, int64_t user_id,
	int64_t faster, int64_t slower)
{
	const struct ranking_entry *rivals[2];
	int64_t expected[2] = { faster ? faster : slower, slower };
	size_t found = ranking_rivals(entries, count, user_id, rivals);
	assert_int_equal(found, (faster != 0) + (slower != 0));
	for (size_t i = 0; i < found; i++)
		assert_int_equal(rivals[i]->user_id, expected[i]);
}

static void rivals_are_the_next_close_scores_on_both_sides(void **state)
{
	(void)state;
	struct ranking_entry entries[] = { ENTRY(1, 100, 0.1), ENTRY(2, 100.9, 0.1),
		ENTRY(3, 101.2, 0.1), ENTRY(4, 103, 0.1), ENTRY(5, 105, 1), ENTRY(6, 107.7, 1) };
	ranking_order(entries, COUNT(entries), NULL, 0);
	assert_rivals(entries, COUNT(entries), 1, 0, 2);
	assert_rivals(entries, COUNT(entries), 2, 1, 3);
	assert_rivals(entries, COUNT(entries), 3, 2, 0);
	assert_rivals(entries, COUNT(entries), 4, 0, 0);
	/* 2.6 % apart, but close because of noise: 1.96 * sqrt(1^2 + 1^2) = 2.77 > 2.7 */
	assert_rivals(entries, COUNT(entries), 5, 0, 6);
	assert_rivals(entries, COUNT(entries), 77, 0, 0);
	assert_rivals(entries, 0, 1, 0, 0);
}

static void the_rival_has_the_nearest_score_not_the_nearest_position(void **state)
{
	(void)state;
	/* 3 beat 1, so 1 comes last on the page, behind 3. Its time is next to that of 2. */
	struct ranking_entry entries[] = { ENTRY(1, 100, 0.01), ENTRY(2, 100.3, 0.01),
		ENTRY(3, 100.6, 0.01) };
	struct ranking_head_to_head faster[] = { FASTER(1, 3, 1) };
	ASSERT_PAGE(entries, faster, "2:1 3:2 1:3");
	assert_rivals(entries, COUNT(entries), 1, 0, 2);
}

static void only_the_first_ten_have_rivals(void **state)
{
	(void)state;
	struct ranking_entry entries[12];
	for (int i = 0; i < 12; i++)
		entries[i] = (struct ranking_entry)ENTRY(i + 1, 100 + (double)i / 10, 0);
	ranking_order(entries, COUNT(entries), NULL, 0);
	assert_rivals(entries, COUNT(entries), 9, 8, 10);
	assert_rivals(entries, COUNT(entries), 10, 9, 0);
	assert_rivals(entries, COUNT(entries), 11, 0, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_winner_of_a_comparison_ranks_first_without_a_tie),
		cmocka_unit_test(the_roles_of_challenger_and_incumbent_do_not_matter),
		cmocka_unit_test(an_interval_that_contains_1_is_a_tie_in_order_of_time),
		cmocka_unit_test(an_entry_without_a_standard_error_can_be_compared),
		cmocka_unit_test(a_comparison_does_not_reverse_clearly_different_scores),
		cmocka_unit_test(of_two_comparisons_of_one_pair_the_newer_one_counts),
		cmocka_unit_test(comparisons_of_other_submissions_are_ignored),
		cmocka_unit_test(a_third_entry_does_not_make_winner_and_loser_share_a_place),
		cmocka_unit_test(a_win_does_not_pass_a_third_entry_without_a_comparison),
		cmocka_unit_test(a_chain_of_wins_is_followed),
		cmocka_unit_test(a_long_chain_of_wins_is_followed),
		cmocka_unit_test(ties_do_not_chain),
		cmocka_unit_test(a_tie_with_the_first_passes_entries_without_a_comparison),
		cmocka_unit_test(a_tie_with_the_first_does_not_pass_a_faster_entry),
		cmocka_unit_test(in_a_circle_the_best_score_comes_first_and_comparisons_order_the_rest),
		cmocka_unit_test(the_order_of_the_input_never_changes_the_ranking),
		cmocka_unit_test(rivals_are_the_next_close_scores_on_both_sides),
		cmocka_unit_test(the_rival_has_the_nearest_score_not_the_nearest_position),
		cmocka_unit_test(only_the_first_ten_have_rivals),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
