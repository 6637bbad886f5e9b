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

static int by_number(int64_t a, int64_t b)
{
	return (a > b) - (a < b);
}

static int by_score(const void *left, const void *right)
{
	const struct ranking_entry *a = left, *b = right;
	if (a->score_ns != b->score_ns)
		return a->score_ns < b->score_ns ? -1 : 1;
	return by_number(a->submission_id, b->submission_id);
}

/* Entries of one file are neighbours, so that nothing comes between them. */
static int by_score_and_file(const void *left, const void *right)
{
	const struct ranking_entry *a = left, *b = right;
	int files = a->score_ns == b->score_ns ? by_number(a->file_id, b->file_id) : 0;
	return files ? files : by_score(left, right);
}

/* ---- what comparisons say ---- */

struct order {
	struct ranking_entry *entries;
	size_t count;
	const struct ranking_head_to_head *comparisons;
	size_t comparison_count;
};

enum outcome { NOT_COMPARED, TIE = 1, FASTER = 2, SLOWER = 4 };

/* Whether a file is a side of the comparison. */
static bool has_side(const struct ranking_head_to_head *comparison, int64_t file_id)
{
	return comparison->challenger_file_id == file_id || comparison->incumbent_file_id == file_id;
}

static bool is_about(const struct ranking_head_to_head *comparison,
	const struct ranking_entry *entry, const struct ranking_entry *other)
{
	return entry->file_id != other->file_id && has_side(comparison, entry->file_id)
		&& has_side(comparison, other->file_id);
}

/* The comparison that counts between two entries: their newest, if their scores are close. NULL:
 * none counts. */
static const struct ranking_head_to_head *comparison_of(
	const struct order *order, const struct ranking_entry *entry, const struct ranking_entry *other)
{
	const struct ranking_head_to_head *newest = NULL;
	for (size_t i = 0; i < order->comparison_count; i++) {
		const struct ranking_head_to_head *one = &order->comparisons[i];
		if (is_about(one, entry, other) && (!newest || one->id > newest->id))
			newest = one;
	}
	return newest && ranking_is_close(entry, other) ? newest : NULL;
}

/* Whether `entry` was faster or slower than `other` in the comparison that counts. */
static enum outcome outcome_of(
	const struct order *order, const struct ranking_entry *entry, const struct ranking_entry *other)
{
	const struct ranking_head_to_head *newest = comparison_of(order, entry, other);
	if (!newest)
		return NOT_COMPARED;
	if (newest->ratio_low <= 1 && newest->ratio_high >= 1)
		return TIE;
	bool challenger_is_faster = newest->ratio_high < 1;
	return (newest->challenger_file_id == entry->file_id) == challenger_is_faster ? FASTER : SLOWER;
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
		if (!has_side(one, entry->file_id))
			continue;
		for (size_t i = first; i < found; i++)
			if (is_about(one, entry, &order->entries[i])
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

/* The first entry of a file from `first` on. */
static struct ranking_entry *find_from(const struct order *order, size_t first, int64_t file_id)
{
	for (size_t i = first; i < order->count; i++)
		if (order->entries[i].file_id == file_id)
			return &order->entries[i];
	return NULL;
}

static bool spread_mark(
	const struct ranking_entry *entry, struct ranking_entry *other, int64_t mark)
{
	if (!(entry->place & mark) || (other->place & mark))
		return false;
	other->place |= mark;
	return true;
}

/* Marks the entry and all others from `first` on that it leads to by comparisons with this outcome:
 * with SLOWER those that beat it, those that beat them, and so on. The first entry of a file stands
 * for all of them. These entries have no place yet, so `place` holds the marks. */
static void mark_linked(const struct order *order, size_t first, struct ranking_entry *entry,
	enum outcome outcome, int64_t mark)
{
	bool spreads = true;
	entry->place |= mark;
	while (spreads) {
		spreads = false;
		for (size_t c = 0; c < order->comparison_count; c++) {
			const struct ranking_head_to_head *one = &order->comparisons[c];
			struct ranking_entry *a = find_from(order, first, one->challenger_file_id),
								 *b = find_from(order, first, one->incumbent_file_id);
			if (a && b && outcome_of(order, a, b) == outcome)
				spreads = spread_mark(a, b, mark) || spreads;
			if (a && b && outcome_of(order, b, a) == outcome)
				spreads = spread_mark(b, a, mark) || spreads;
		}
	}
}

/* Whether the entry at `index` need not wait for another one from `first` on. An entry waits for
 * those that beat it, unless comparisons form a circle: it does not wait for an entry that it has
 * beaten itself, directly or through others. */
static bool is_free(const struct order *order, size_t first, size_t index)
{
	enum { winner = 1, loser = 2 };
	struct ranking_entry *entries = order->entries;
	if (find_compared(order, first, order->count, &entries[index], SLOWER) == order->count)
		return true;
	if (find_compared(order, first, order->count, &entries[index], FASTER) == order->count)
		return false;
	for (size_t i = first; i < order->count; i++)
		entries[i].place = 0;
	struct ranking_entry *entry = find_from(order, first, entries[index].file_id);
	mark_linked(order, first, entry, SLOWER, winner);
	mark_linked(order, first, entry, FASTER, loser);
	for (size_t i = first; i < order->count; i++)
		if (entries[i].place == winner)
			return false;
	return true;
}

/* Orders the entries from `first` on: by score, and each behind those that beat it. At least one is
 * always free: following the winners ends at an unbeaten entry or in a circle that nobody beat. */
static void order_from(const struct order *order, size_t first)
{
	if (first < order->count)
		qsort(order->entries + first, order->count - first, sizeof *order->entries,
			by_score_and_file);
	for (; order->comparison_count && first < order->count; first++) {
		size_t next = first;
		while (!is_free(order, first, next))
			next++;
		move_up(order, next, first);
	}
}

/* ---- ties ---- */

bool ranking_ties_by_time(const struct ranking_entry *a, const struct ranking_entry *b)
{
	return a->score_ns == b->score_ns || fabs(a->score_ns - b->score_ns) <= noise_ns(a, b);
}

static bool is_tie(
	const struct order *order, const struct ranking_entry *a, const struct ranking_entry *b)
{
	enum outcome outcome = outcome_of(order, a, b);
	return outcome != NOT_COMPARED ? outcome == TIE : ranking_ties_by_time(a, b);
}

/* Whether the entry at `index` may join the group from `first` to before `end`. The entry must not
 * have beaten a member or lost to one. It must not have lost to an entry that it would pass. It
 * must not be faster than the entry that opened the group, as an entry behind a circle can be. */
static bool may_join(const struct order *order, size_t first, size_t end, size_t index)
{
	const struct ranking_entry *entry = &order->entries[index];
	return entry->score_ns >= order->entries[first].score_ns
		&& find_compared(order, first, end, entry, FASTER | SLOWER) == end
		&& find_compared(order, end, index, entry, SLOWER) == index;
}

/* Forms the group of ties that the entry at `first` opens, and returns its end. Entries that had to
 * wait behind one that joins from further behind are then free to rank by their score. */
static size_t form_group(const struct order *order, size_t first)
{
	const struct ranking_entry *opener = &order->entries[first];
	size_t end = first + 1;
	while (end < order->count && is_tie(order, opener, &order->entries[end])
		&& may_join(order, first, end, end))
		end++;
	size_t followers = end;
	for (size_t i = end; (i = find_compared(order, i, order->count, opener, TIE)) < order->count;
		 i++)
		if (may_join(order, first, end, i))
			move_up(order, i, end++);
	if (end > followers)
		order_from(order, end);
	return end;
}

/* Sorts the group from `first` to before `end` by time. `above` is the first entry of the group
 * above, or NULL. */
static void fill_group(
	const struct order *order, size_t first, size_t end, const struct ranking_entry *above)
{
	struct ranking_entry *entries = order->entries;
	qsort(entries + first, end - first, sizeof *entries, by_score);
	for (size_t i = first; i < end; i++) {
		entries[i].position = (int64_t)i + 1;
		entries[i].place = (int64_t)first + 1;
		entries[i].is_tied = end - first > 1;
		entries[i].above_ns = above ? above->score_ns : NAN;
	}
}

/* ---- reasons ---- */

static const struct ranking_entry *first_of_group(
	const struct order *order, const struct ranking_entry *entry)
{
	return &order->entries[entry->place - 1];
}

/* The other side of a comparison of `entry`: the first entry of its file. NULL: the comparison is
 * about others, or the other file is not in the ranking. */
static const struct ranking_entry *rival_in(const struct order *order,
	const struct ranking_head_to_head *comparison, const struct ranking_entry *entry)
{
	for (size_t i = 0; has_side(comparison, entry->file_id) && i < order->count; i++)
		if (is_about(comparison, entry, &order->entries[i]))
			return &order->entries[i];
	return NULL;
}

/* What the comparisons of an entry say about its rank. Of several rivals, each member is the one
 * with the worst position. */
struct bonds {
	const struct ranking_entry *winner;    /* beat the entry and ranks before it */
	const struct ranking_entry *mover;     /* such a winner, without whom the entry would rank as
	                                        * early as the winner or earlier */
	const struct ranking_entry *overtaken; /* beat the entry, but ranks behind it */
	const struct ranking_entry *tie;       /* tied with the entry, but has a better place */
};

static void keep_last(const struct ranking_entry **kept, const struct ranking_entry *entry)
{
	if (!*kept || (*kept)->position < entry->position)
		*kept = entry;
}

/* Whether the entry ranks behind the winner only because the winner was faster. */
static bool was_moved_by(const struct order *order, const struct ranking_entry *entry,
	const struct ranking_entry *winner)
{
	const struct ranking_entry *first = first_of_group(order, winner);
	return winner->score_ns > entry->score_ns || ranking_ties_by_time(first, entry)
		|| outcome_of(order, first, entry) == TIE;
}

static struct bonds bonds_of(const struct order *order, const struct ranking_entry *entry)
{
	struct bonds bonds = { 0 };
	for (size_t c = 0; c < order->comparison_count; c++) {
		const struct ranking_entry *rival = rival_in(order, &order->comparisons[c], entry);
		enum outcome outcome = rival ? outcome_of(order, entry, rival) : NOT_COMPARED;
		if (outcome == TIE && rival->place < entry->place)
			keep_last(&bonds.tie, rival);
		if (outcome != SLOWER)
			continue;
		keep_last(rival->position < entry->position ? &bonds.winner : &bonds.overtaken, rival);
		if (rival->position < entry->position && was_moved_by(order, entry, rival))
			keep_last(&bonds.mover, rival);
	}
	return bonds;
}

/* Whether the entry shares a place that its time alone would not give it. */
static bool has_joined(const struct order *order, const struct ranking_entry *entry)
{
	const struct ranking_entry *first = first_of_group(order, entry);
	if (first == entry || outcome_of(order, first, entry) != TIE)
		return false;
	for (size_t i = (size_t)entry->position; i < order->count; i++)
		if (order->entries[i].place != entry->place && order->entries[i].score_ns < entry->score_ns)
			return true;
	return !ranking_ties_by_time(first, entry);
}

static void give_reason(
	struct ranking_entry *entry, const char *reason, const struct ranking_entry *other)
{
	entry->reason = reason;
	entry->other_id = other->submission_id;
}

static void explain_loss(
	const struct order *order, struct ranking_entry *entry, const struct ranking_entry *winner)
{
	bool failed = comparison_of(order, entry, winner)->is_failure;
	give_reason(entry, failed ? ranking_reason_failed : ranking_reason_slower, winner);
}

/* An entry that opens a group behind the first, and ties with the entry above it. */
static const struct ranking_entry *tie_above(
	const struct order *order, const struct ranking_entry *entry)
{
	const struct ranking_entry *above = entry - 1;
	return entry->place == entry->position && entry->position > 1 && is_tie(order, above, entry)
		? above
		: NULL;
}

static void explain(const struct order *order, struct ranking_entry *entry)
{
	struct bonds bonds = bonds_of(order, entry);
	const struct ranking_entry *tie = bonds.tie ? bonds.tie : tie_above(order, entry);
	if (bonds.mover)
		explain_loss(order, entry, bonds.mover);
	else if (bonds.overtaken)
		give_reason(entry, ranking_reason_circle, bonds.overtaken);
	else if (has_joined(order, entry))
		give_reason(entry, ranking_reason_tie, first_of_group(order, entry));
	else if (tie && bonds.winner && is_tie(order, first_of_group(order, tie), entry))
		explain_loss(order, entry, bonds.winner); /* it may not pass the winner to join */
	else if (tie)
		give_reason(entry, ranking_reason_chain, tie);
}

void ranking_order(struct ranking_entry *entries, size_t count,
	const struct ranking_head_to_head *comparisons, size_t comparison_count)
{
	struct order order = { .entries = entries,
		.count = count,
		.comparisons = comparisons,
		.comparison_count = comparison_count };
	const struct ranking_entry *above = NULL;
	order_from(&order, 0);
	for (size_t first = 0, next; first < count; first = next) {
		next = form_group(&order, first);
		fill_group(&order, first, next, above);
		above = &entries[first];
	}
	for (size_t i = 0; i < count; i++) {
		entries[i].reason = NULL;
		entries[i].other_id = 0;
		explain(&order, &entries[i]);
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
