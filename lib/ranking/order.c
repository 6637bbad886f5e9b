/* The order of a ranking and its ties: the rules at the top of lib/ranking/ranking.h. */
#include "lib/ranking/order.h"

#include "lib/base/interval.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static const double close_share = 0.01;

/* The difference of scores that noise alone can cause. NAN if one of the two has no standard
 * error. */
static double noise_ns(const struct ranking_entry *a, const struct ranking_entry *b)
{
	return interval_half_ns(hypot(a->score_err_ns, b->score_err_ns));
}

bool ranking_is_close(const struct ranking_entry *a, const struct ranking_entry *b)
{
	double difference_ns = fabs(a->score_ns - b->score_ns);
	return difference_ns <= close_share * fmin(a->score_ns, b->score_ns)
		|| difference_ns <= noise_ns(a, b);
}

static int by_submission(const void *left, const void *right)
{
	const struct ranking_entry *a = left, *b = right;
	return (a->submission_id > b->submission_id) - (a->submission_id < b->submission_id);
}

static int by_score(const void *left, const void *right)
{
	const struct ranking_entry *a = left, *b = right;
	if (a->score_ns != b->score_ns)
		return a->score_ns < b->score_ns ? -1 : 1;
	return by_submission(left, right);
}

/* ---- what comparisons say ---- */

struct order {
	struct ranking_entry *entries;
	size_t count;
	const struct ranking_head_to_head *comparisons;
	size_t comparison_count;
};

enum outcome { NOT_COMPARED, TIE = 1, FASTER = 2, SLOWER = 4 };

static bool is_about(
	const struct ranking_head_to_head *comparison, int64_t submission_id, int64_t other_id)
{
	return submission_id != other_id
		&& ((comparison->challenger_id == submission_id && comparison->incumbent_id == other_id)
			|| (comparison->challenger_id == other_id
				&& comparison->incumbent_id == submission_id));
}

/* Whether `entry` was faster or slower than `other` in their newest comparison. */
static enum outcome outcome_of(
	const struct order *order, const struct ranking_entry *entry, const struct ranking_entry *other)
{
	const struct ranking_head_to_head *newest = NULL;
	for (size_t i = 0; i < order->comparison_count; i++) {
		const struct ranking_head_to_head *one = &order->comparisons[i];
		if (is_about(one, entry->submission_id, other->submission_id)
			&& (!newest || one->id > newest->id))
			newest = one;
	}
	if (!newest || !ranking_is_close(entry, other))
		return NOT_COMPARED;
	if (newest->ratio_low <= 1 && newest->ratio_high >= 1)
		return TIE;
	bool challenger_is_faster = newest->ratio_high < 1;
	return (newest->challenger_id == entry->submission_id) == challenger_is_faster ? FASTER
																				   : SLOWER;
}

/* The first entry from `first` to before `end` against which `entry` has one of the `outcomes`;
 * `end` if there is none. Most entries were never compared, so the outer loop goes over the
 * comparisons. */
static size_t find_compared(const struct order *order, size_t first, size_t end,
	const struct ranking_entry *entry, int outcomes)
{
	size_t found = end;
	for (size_t c = 0; c < order->comparison_count; c++) {
		const struct ranking_head_to_head *one = &order->comparisons[c];
		if (one->challenger_id != entry->submission_id && one->incumbent_id != entry->submission_id)
			continue;
		for (size_t i = first; i < found; i++)
			if (is_about(one, entry->submission_id, order->entries[i].submission_id)
				&& ((int)outcome_of(order, entry, &order->entries[i]) & outcomes))
				found = i;
	}
	return found;
}

static void move_up(const struct order *order, size_t from, size_t to)
{
	struct ranking_entry *entries = order->entries, entry = entries[from];
	memmove(&entries[to + 1], &entries[to], (from - to) * sizeof *entries);
	entries[to] = entry;
}

/* ---- the order ---- */

/* Counts the entry at `index` and all entries from `first` on that must rank before it: those that
 * beat it, those that beat them, and so on. Each member of a circle thus counts the whole circle.
 * These entries have no place yet, so `place` serves as a mark. */
static size_t count_before(const struct order *order, size_t first, size_t index)
{
	struct ranking_entry *entries = order->entries;
	size_t before = 0, known = 1;
	for (size_t i = first; i < order->count; i++)
		entries[i].place = i == index;
	while (before < known) {
		before = known;
		for (size_t i = first; i < order->count; i++)
			for (size_t other = first; other < order->count && !entries[i].place; other++)
				if (entries[other].place
					&& outcome_of(order, &entries[other], &entries[i]) == SLOWER)
					known += (size_t)(entries[i].place = 1);
	}
	return before;
}

/* Finds the entry to rank next among those from `first` on: the one with the best score that none
 * of the others has beaten. If each has been beaten, comparisons form circles. The next entry is
 * then the one with the smallest count_before, because only entries of its own circle must rank
 * before it. */
static size_t find_next(const struct order *order, size_t first)
{
	size_t next = first, fewest = SIZE_MAX;
	for (size_t i = first; i < order->count; i++)
		if (find_compared(order, first, order->count, &order->entries[i], SLOWER) == order->count)
			return i;
	for (size_t i = first; i < order->count; i++) {
		size_t before = count_before(order, first, i);
		next = before < fewest ? i : next;
		fewest = before < fewest ? before : fewest;
	}
	return next;
}

static void apply_comparisons(const struct order *order)
{
	for (size_t first = 0; order->comparison_count && first < order->count; first++)
		move_up(order, find_next(order, first), first);
}

/* ---- ties ---- */

static bool is_tie(
	const struct order *order, const struct ranking_entry *a, const struct ranking_entry *b)
{
	enum outcome outcome = outcome_of(order, a, b);
	if (outcome != NOT_COMPARED)
		return outcome == TIE;
	return a->score_ns == b->score_ns || fabs(a->score_ns - b->score_ns) <= noise_ns(a, b);
}

/* Whether the entry at `index` may join the group from `first` to before `end`. The entry must not
 * have beaten a member or lost to one. It must not have lost to an entry that it would pass. */
static bool may_join(const struct order *order, size_t first, size_t end, size_t index)
{
	const struct ranking_entry *entry = &order->entries[index];
	return find_compared(order, first, end, entry, FASTER | SLOWER) == end
		&& find_compared(order, end, index, entry, SLOWER) == index;
}

/* Forms the group of ties that the entry at `first` opens, and returns its end. */
static size_t form_group(const struct order *order, size_t first)
{
	const struct ranking_entry *opener = &order->entries[first];
	size_t end = first + 1;
	while (end < order->count && is_tie(order, opener, &order->entries[end])
		&& may_join(order, first, end, end))
		end++;
	for (size_t i = end; (i = find_compared(order, i, order->count, opener, TIE)) < order->count;
		 i++)
		if (may_join(order, first, end, i))
			move_up(order, i, end++);
	return end;
}

void ranking_order(struct ranking_entry *entries, size_t count,
	const struct ranking_head_to_head *comparisons, size_t comparison_count)
{
	struct order order = { .entries = entries,
		.count = count,
		.comparisons = comparisons,
		.comparison_count = comparison_count };
	if (count)
		qsort(entries, count, sizeof *entries, by_score);
	apply_comparisons(&order);
	for (size_t first = 0, next; first < count; first = next) {
		next = form_group(&order, first);
		qsort(entries + first, next - first, sizeof *entries, by_submission);
		for (size_t i = first; i < next; i++) {
			entries[i].place = (int64_t)first + 1;
			entries[i].position = (int64_t)i + 1;
		}
	}
}

/* ---- rivals ---- */

static const struct ranking_entry *find_user(
	const struct ranking_entry *entries, size_t count, int64_t user_id)
{
	for (size_t i = 0; i < count; i++)
		if (entries[i].user_id == user_id)
			return &entries[i];
	return NULL;
}

/* The nearest entry by score, on the side of the faster (sign -1) or slower entries (1). Entries of
 * equal score, such as those of one file, need no comparison. */
static const struct ranking_entry *find_nearest(
	const struct ranking_entry *entries, size_t count, const struct ranking_entry *entry, int sign)
{
	const struct ranking_entry *nearest = NULL;
	for (size_t i = 0; i < count; i++) {
		bool is_on_side = sign * (entries[i].score_ns - entry->score_ns) > 0;
		if (is_on_side && (!nearest || sign * by_score(&entries[i], nearest) < 0))
			nearest = &entries[i];
	}
	return nearest;
}

size_t ranking_rivals(const struct ranking_entry *entries, size_t count, int64_t user_id,
	const struct ranking_entry *rivals[static 2])
{
	size_t looked_at = count < ranking_compared_positions ? count : ranking_compared_positions,
		   found = 0;
	const struct ranking_entry *entry = find_user(entries, looked_at, user_id);
	for (int sign = -1; entry && sign <= 1; sign += 2) {
		const struct ranking_entry *nearest = find_nearest(entries, looked_at, entry, sign);
		if (nearest && ranking_is_close(entry, nearest))
			rivals[found++] = nearest;
	}
	return found;
}
