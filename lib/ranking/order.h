/* The order of a ranking and its ties: the rules at the top of lib/ranking/ranking.h. */
#ifndef PODIUM_LIB_RANKING_ORDER_H
#define PODIUM_LIB_RANKING_ORDER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct ranking_entry {
	int64_t user_id, submission_id;
	double score_ns, score_err_ns; /* NAN: unknown */
	int64_t position, place;       /* filled by ranking_order */
};

/* The times of two entries relative to each other when they ran head to head. */
struct ranking_head_to_head {
	int64_t id;                          /* grows with time */
	int64_t challenger_id, incumbent_id; /* submissions */
	double ratio_low, ratio_high; /* 95 % interval of the challenger's time / the incumbent's */
};

/* Whether two scores are too close to call without a comparison: they differ by no more than 1 %,
 * or by 1.96 standard errors of the difference if that is more. */
bool ranking_is_close(const struct ranking_entry *a, const struct ranking_entry *b);

/* Sorts `entries` into page order and fills position (1..count) and place. Ignores comparisons of
 * entries that are not in the array. The result does not depend on the order of either array. */
void ranking_order(struct ranking_entry *entries, size_t count,
	const struct ranking_head_to_head *comparisons, size_t comparison_count);

/* Finds the rivals with which Podium must compare a user's entry: the next faster and the next
 * slower entry by score, if they are close. `entries` is in page order. Only the first
 * ranking_compared_positions are compared. (By score: inside a group of ties, the page order does
 * not show which score is nearest.) Returns the number of rivals. */
enum { ranking_compared_positions = 10 };
size_t ranking_rivals(const struct ranking_entry *entries, size_t count, int64_t user_id,
	const struct ranking_entry *rivals[static 2]);

#endif
