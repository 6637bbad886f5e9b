/* The order of a ranking and its ties: the rules at the top of lib/ranking/ranking.h. */
#ifndef PODIUM_LIB_RANKING_ORDER_H
#define PODIUM_LIB_RANKING_ORDER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Why an entry does not rank where its time alone would put it. Each reason names another entry.
 * These are the values of the column `reason` in the table `ranking`. */
#define ranking_reason_slower "slower" /* the other entry was faster head to head */
#define ranking_reason_failed "failed" /* this entry failed head to head against the other */
/* The other entry was faster head to head, but ranks behind: the comparisons form a circle. */
#define ranking_reason_circle "circle"
/* Tied head to head with the other entry, the first of its group. */
#define ranking_reason_tie "tie"
/* Ties with the other entry, but not with the first of that entry's group. */
#define ranking_reason_chain "chain"
/* Ties with the other entry, the first of its group, but an entry between the two is not in that
 * group. */
#define ranking_reason_between "between"

struct ranking_entry {
	int64_t user_id, submission_id;
	/* not 0; entries with the same file have the same score and comparisons */
	int64_t file_id;
	double score_ns, score_err_ns; /* NAN: unknown */
	/* Filled by ranking_order: */
	int64_t position, place;
	int64_t is_tied; /* shares its place */
	/* fastest time of the next better group; NAN: this is the first group */
	double above_ns;
	const char *reason; /* a ranking_reason; NULL: its time alone gives the same rank */
	int64_t other_id;   /* the other entry's submission; 0: no reason */
};

/* The times of two files relative to each other when they ran head to head. */
struct ranking_head_to_head {
	int64_t id;                                    /* a newer comparison has a larger one */
	int64_t challenger_file_id, incumbent_file_id; /* ranking_entry.file_id */
	double ratio_low, ratio_high; /* 95 % interval of the challenger's time / the incumbent's */
	/* one side failed, which counts as much slower than the other */
	int64_t is_failure;
};

/* Whether two scores are so close that only a comparison can decide: they differ by at most 1 %, or
 * by at most 1.96 standard errors of the difference if that is more. */
bool ranking_is_close(const struct ranking_entry *a, const struct ranking_entry *b);

/* Whether two entries that were not compared tie: their scores differ by no more than the noise. */
bool ranking_ties_by_time(const struct ranking_entry *a, const struct ranking_entry *b);

/* Sorts `entries` into page order and fills their last members. Ignores comparisons of files that
 * are not in the array. The result does not depend on the order of either array. */
void ranking_order(struct ranking_entry *entries, size_t count,
	const struct ranking_head_to_head *comparisons, size_t comparison_count);

/* Finds the rivals with which Podium must compare a user's entry: the next faster and the next
 * slower entry by score, if they are close. Score is not page order, because comparisons can change
 * the order. `entries` is in page order. Only entries at the first ranking_compared_positions
 * positions are compared. Returns the number of rivals. */
enum { ranking_compared_positions = 10 };
size_t ranking_rivals(const struct ranking_entry *entries, size_t count, int64_t user_id,
	const struct ranking_entry *rivals[static 2]);

#endif
