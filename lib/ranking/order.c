/* The order of a ranking and its ties: the rules at the top of lib/ranking/ranking.h. */
#include "lib/ranking/order.h"

#include "lib/base/arena.h"
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

/* Keeps entries with the same file next to each other. */
static int by_score_and_file(const void *left, const void *right)
{
	const struct ranking_entry *a = left, *b = right;
	int files = a->score_ns == b->score_ns ? by_number(a->file_id, b->file_id) : 0;
	return files ? files : by_score(left, right);
}

/* ---- what comparisons say ---- */

enum outcome { NOT_COMPARED, TIE = 1, FASTER = 2, SLOWER = 4 };

/* The comparison that counts between two files. `outcome` is that of file_id against other_id. */
struct link {
	int64_t file_id, other_id;
	enum outcome outcome;
	bool is_failure;
};

struct file {
	int64_t id;
	/* one of the entries with this file; all have the same score */
	struct ranking_entry entry;
	int64_t mark; /* set by mark_linked */
};

struct order {
	struct ranking_entry *entries;
	size_t count;
	struct file *files; /* by id */
	size_t file_count;
	/* two for each compared pair, one for each side; sorted by file_id */
	struct link *links;
	size_t link_count;
	struct file **walk; /* memory for mark_linked: the files that it has reached */
	/* For the first entry of each group: the slowest time, plus noise, of this entry and of the
	 * first entries of all better groups. An entry with a slower time, even minus its noise, ties
	 * with none of them by time. */
	double *reach_ns;
};

static int by_file(const void *left, const void *right)
{
	const struct file *a = left, *b = right;
	return by_number(a->id, b->id);
}

static int by_link(const void *left, const void *right)
{
	const struct link *a = left, *b = right;
	int files = by_number(a->file_id, b->file_id);
	return files ? files : by_number(a->other_id, b->other_id);
}

static struct file *find_file(const struct order *order, int64_t id)
{
	const struct file wanted = { .id = id };
	return bsearch(&wanted, order->files, order->file_count, sizeof wanted, by_file);
}

static void read_files(struct order *order, struct arena *arena)
{
	order->files = arena_array(arena, struct file, order->count);
	for (size_t i = 0; i < order->count; i++)
		order->files[i] = (struct file){ order->entries[i].file_id, order->entries[i], 0 };
	qsort(order->files, order->count, sizeof *order->files, by_file);
	for (size_t i = 0; i < order->count; i++)
		if (!order->file_count || order->files[order->file_count - 1].id != order->files[i].id)
			order->files[order->file_count++] = order->files[i];
	order->walk = arena_array(arena, struct file *, order->file_count);
}

/* A pair's newest comparison comes first. */
static int by_pair(const void *left, const void *right)
{
	const struct ranking_head_to_head *a = left, *b = right;
	int low = by_number(a->challenger_file_id, b->challenger_file_id);
	int high = low ? low : by_number(a->incumbent_file_id, b->incumbent_file_id);
	return high ? high : by_number(b->id, a->id);
}

/* Swaps the sides if necessary, so that the file with the smaller number is the challenger. Two
 * comparisons of one pair then have the same sides. */
static struct ranking_head_to_head sorted_sides(struct ranking_head_to_head one)
{
	return one.challenger_file_id < one.incumbent_file_id
		? one
		: (struct ranking_head_to_head){ one.id, one.incumbent_file_id, one.challenger_file_id,
			  1 / one.ratio_high, 1 / one.ratio_low, one.is_failure };
}

static void add_links(struct order *order, const struct ranking_head_to_head *one)
{
	const struct file *a = find_file(order, one->challenger_file_id),
					  *b = find_file(order, one->incumbent_file_id);
	if (!a || !b || a == b || !ranking_is_close(&a->entry, &b->entry))
		return;
	bool ties = one->ratio_low <= 1 && one->ratio_high >= 1, a_wins = one->ratio_high < 1;
	order->links[order->link_count++] = (struct link){ a->id, b->id,
		ties         ? TIE
			: a_wins ? FASTER
					 : SLOWER,
		one->is_failure };
	order->links[order->link_count++] = (struct link){ b->id, a->id,
		ties         ? TIE
			: a_wins ? SLOWER
					 : FASTER,
		one->is_failure };
}

/* The comparison that counts between two files is their newest, if their scores are close. */
static void read_links(struct order *order, struct arena *arena,
	const struct ranking_head_to_head *comparisons, size_t count)
{
	struct ranking_head_to_head *sorted = arena_array(arena, struct ranking_head_to_head, count);
	for (size_t i = 0; i < count; i++)
		sorted[i] = sorted_sides(comparisons[i]);
	if (count)
		qsort(sorted, count, sizeof *sorted, by_pair);
	order->links = arena_array(arena, struct link, 2 * count);
	for (size_t i = 0; i < count; i++)
		if (!i || sorted[i].challenger_file_id != sorted[i - 1].challenger_file_id
			|| sorted[i].incumbent_file_id != sorted[i - 1].incumbent_file_id)
			add_links(order, &sorted[i]);
	if (order->link_count)
		qsort(order->links, order->link_count, sizeof *order->links, by_link);
}

/* The first link of a file. Its others follow. */
static const struct link *links_of(const struct order *order, int64_t file_id)
{
	size_t low = 0, high = order->link_count;
	while (low < high) {
		size_t middle = low + (high - low) / 2;
		if (order->links[middle].file_id < file_id)
			low = middle + 1;
		else
			high = middle;
	}
	return order->links + low;
}

#define FOR_LINKS(link, order, file) \
	for (const struct link *link = links_of(order, file); \
		 link < (order)->links + (order)->link_count && link->file_id == (file); link++)

static const struct link *link_of(
	const struct order *order, const struct ranking_entry *entry, const struct ranking_entry *other)
{
	FOR_LINKS(link, order, entry->file_id)
	if (link->other_id == other->file_id)
		return link;
	return NULL;
}

/* The outcome of `entry` against `other` in the comparison that counts. */
static enum outcome outcome_of(
	const struct order *order, const struct ranking_entry *entry, const struct ranking_entry *other)
{
	const struct link *link = link_of(order, entry, other);
	return link ? link->outcome : NOT_COMPARED;
}

/* The first entry from `first` to before `end` that has the file; `end` if there is none. */
static size_t find_entry(const struct order *order, size_t first, size_t end, int64_t file_id)
{
	while (first < end && order->entries[first].file_id != file_id)
		first++;
	return first;
}

/* The first entry from `first` to before `end` against which `entry` has one of the `outcomes`;
 * `end` if there is none. */
static size_t find_compared(const struct order *order, size_t first, size_t end,
	const struct ranking_entry *entry, int outcomes)
{
	size_t found = end;
	FOR_LINKS(link, order, entry->file_id)
	if ((int)link->outcome & outcomes)
		found = find_entry(order, first, found, link->other_id);
	return found;
}

static void move_up(const struct order *order, size_t from, size_t to)
{
	struct ranking_entry *entries = order->entries, entry = entries[from];
	memmove(&entries[to + 1], &entries[to], (from - to) * sizeof *entries);
	entries[to] = entry;
}

/* ---- the order ---- */

enum { placed_mark = -1, winner_mark = 1, loser_mark = 2 };

/* Marks the file and all files that can be reached from it by comparisons with this outcome. With
 * SLOWER these are the files that beat it, the files that beat those, and so on. Leaves out files
 * whose entries all have their place already. */
static void mark_linked(
	const struct order *order, struct file *file, enum outcome outcome, int mark)
{
	size_t reached = 0;
	file->mark |= mark;
	order->walk[reached++] = file;
	for (size_t i = 0; i < reached; i++)
		FOR_LINKS(link, order, order->walk[i]->id)
		{
			struct file *other = find_file(order, link->other_id);
			if (link->outcome != outcome || other->mark == placed_mark || (other->mark & mark))
				continue;
			other->mark |= mark;
			order->walk[reached++] = other;
		}
}

/* Whether the entry at `index` can get the next place, where the entries before `first` have
 * theirs. An entry waits for each entry that beat it. In a circle of comparisons it does not wait
 * for an entry that it beat itself, directly or through others. */
static bool is_free(const struct order *order, size_t first, size_t index)
{
	const struct ranking_entry *entries = order->entries;
	if (find_compared(order, first, order->count, &entries[index], SLOWER) == order->count)
		return true;
	if (find_compared(order, first, order->count, &entries[index], FASTER) == order->count)
		return false;
	for (size_t i = 0; i < order->file_count; i++)
		order->files[i].mark = placed_mark;
	for (size_t i = first; i < order->count; i++)
		find_file(order, entries[i].file_id)->mark = 0;
	struct file *file = find_file(order, entries[index].file_id);
	mark_linked(order, file, SLOWER, winner_mark);
	mark_linked(order, file, FASTER, loser_mark);
	for (size_t i = 0; i < order->file_count; i++)
		if (order->files[i].mark == winner_mark)
			return false;
	return true;
}

/* Sorts the entries from `first` on by score, and puts each behind those that beat it. At least one
 * entry is always free: following the winners ends at an unbeaten entry, or in a circle that no
 * entry outside it beat. */
static void order_from(const struct order *order, size_t first)
{
	if (first < order->count)
		qsort(order->entries + first, order->count - first, sizeof *order->entries,
			by_score_and_file);
	for (; order->link_count && first < order->count; first++) {
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

/* Forms the group of ties that the entry at `first` opens, and returns its end. An entry from
 * further behind may join. Entries that had to wait behind that entry are then free, so the rest is
 * ordered again. */
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

/* Half of an entry's own interval. The noise of two entries is at most the sum of their halves. */
static double own_noise_ns(const struct ranking_entry *entry)
{
	return isnan(entry->score_err_ns) ? 0 : interval_half_ns(entry->score_err_ns);
}

static const struct ranking_entry *first_of_group(
	const struct order *order, const struct ranking_entry *entry)
{
	return &order->entries[entry->place - 1];
}

/* What the comparisons of an entry say about its rank. If several rivals fit a member, it is the
 * one with the worst position. */
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
	FOR_LINKS(link, order, entry->file_id)
	{
		/* The first entry of the other file stands for all of them. */
		size_t index = find_entry(order, 0, order->count, link->other_id);
		const struct ranking_entry *rival = &order->entries[index];
		if (link->outcome == TIE && rival->place < entry->place)
			keep_last(&bonds.tie, rival);
		if (link->outcome != SLOWER)
			continue;
		keep_last(rival->position < entry->position ? &bonds.winner : &bonds.overtaken, rival);
		if (rival->position < entry->position && was_moved_by(order, entry, rival))
			keep_last(&bonds.mover, rival);
	}
	return bonds;
}

/* Whether the entry shares the place of `first`, or passes a faster time, only by a comparison. */
static bool needs_tie(
	const struct order *order, const struct ranking_entry *entry, const struct ranking_entry *first)
{
	for (size_t i = (size_t)entry->position; i < order->count; i++)
		if (order->entries[i].place != entry->place && order->entries[i].score_ns < entry->score_ns)
			return true;
	return !ranking_ties_by_time(first, entry);
}

/* Finds the entry that explains a shared place which the time alone would not give: the fastest of
 * its group that tied with it head to head. NULL: the entry needs no explanation. */
static const struct ranking_entry *tie_within(
	const struct order *order, const struct ranking_entry *entry)
{
	const struct ranking_entry *first = first_of_group(order, entry);
	for (const struct ranking_entry *other = first; other < entry; other++)
		if (other->score_ns == first->score_ns && outcome_of(order, other, entry) == TIE)
			return needs_tie(order, entry, other) ? other : NULL;
	return NULL;
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
	bool failed = link_of(order, entry, winner)->is_failure;
	give_reason(entry, failed ? ranking_reason_failed : ranking_reason_slower, winner);
}

/* If the entry opens a group, but not the first, and ties with the entry above it: that entry
 * above. Otherwise NULL. */
static const struct ranking_entry *tie_above(
	const struct order *order, const struct ranking_entry *entry)
{
	const struct ranking_entry *above = entry - 1;
	return entry->place == entry->position && entry->position > 1 && is_tie(order, above, entry)
		? above
		: NULL;
}

/* The last entry that opens an earlier group and ties with this entry. They are not in one group,
 * because a faster entry between them did not tie with it and opened another group. */
static const struct ranking_entry *tie_before(
	const struct order *order, const struct ranking_entry *entry)
{
	const struct ranking_entry *first = first_of_group(order, entry);
	double least_ns = entry->score_ns - own_noise_ns(entry);
	while (first > order->entries) {
		first = first_of_group(order, first - 1);
		if (order->reach_ns[first - order->entries] < least_ns)
			return NULL;
		if (ranking_ties_by_time(first, entry) && is_tie(order, first, entry))
			return first;
	}
	return NULL;
}

/* Whether an entry with a slower time has a better place, without a reason of its own that explains
 * this. */
static bool is_passed(const struct order *order, const struct ranking_entry *entry)
{
	for (const struct ranking_entry *other = order->entries; other->place < entry->place; other++)
		if (other->score_ns > entry->score_ns && !other->reason)
			return true;
	return false;
}

static void explain(const struct order *order, struct ranking_entry *entry)
{
	struct bonds bonds = bonds_of(order, entry);
	const struct ranking_entry *within = tie_within(order, entry);
	const struct ranking_entry *tie = bonds.tie ? bonds.tie : tie_above(order, entry);
	const struct ranking_entry *before = tie ? NULL : tie_before(order, entry);
	if (bonds.mover)
		explain_loss(order, entry, bonds.mover);
	else if (bonds.overtaken)
		give_reason(entry, ranking_reason_circle, bonds.overtaken);
	else if (within)
		give_reason(entry, ranking_reason_tie, within);
	else if (tie && bonds.winner && is_tie(order, first_of_group(order, tie), entry))
		/* the entry may not pass the winner to join the group */
		explain_loss(order, entry, bonds.winner);
	else if (tie)
		give_reason(entry, ranking_reason_chain, tie);
	else if (bonds.winner && (before || is_passed(order, entry)))
		/* the winner itself lost to the entry that passes */
		explain_loss(order, entry, bonds.winner);
	else if (before)
		give_reason(entry, ranking_reason_between, before);
}

void ranking_order(struct ranking_entry *entries, size_t count,
	const struct ranking_head_to_head *comparisons, size_t comparison_count)
{
	cleanup_arena struct arena *arena = arena_new();
	struct order order = { .entries = entries, .count = count };
	read_files(&order, arena);
	read_links(&order, arena, comparisons, comparison_count);
	const struct ranking_entry *above = NULL;
	order.reach_ns = arena_array(arena, double, count);
	order_from(&order, 0);
	for (size_t first = 0, next; first < count; first = next) {
		next = form_group(&order, first);
		fill_group(&order, first, next, above);
		order.reach_ns[first] = fmax(entries[first].score_ns + own_noise_ns(&entries[first]),
			above ? order.reach_ns[above - entries] : 0);
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

/* The entry with the nearest score among the faster ones (sign -1) or slower ones (sign 1). Entries
 * with equal scores, such as those of one file, need no comparison. */
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
