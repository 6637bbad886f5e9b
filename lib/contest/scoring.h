/* Computes the points of a contest: from the contestants' ranks and times on every problem and
 * device to their totals and places. Uses no database. docs/contests.md explains the rules. */
#ifndef PODIUM_LIB_CONTEST_SCORING_H
#define PODIUM_LIB_CONTEST_SCORING_H

#include "lib/base/error.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum scoring_method {
	SCORING_RANKS,  /* sum of the points of the ranks */
	SCORING_RATIOS, /* the sum of 100 * best time / time */
	SCORING_MEAN,   /* 100 * the geometric mean of best time / time */
	scoring_methods
};

enum { scoring_most_ranks = 100 };
#define SCORING_USUAL_POINTS "25 18 15 12 10 8 6 4 2 1"

struct scoring_rule {
	enum scoring_method method;
	/* SCORING_RANKS: the points of rank 1, 2 and so on. Ranks beyond rank_count get none. */
	double points[scoring_most_ranks];
	size_t rank_count;
};

/* One contestant's result on one problem and device. */
struct scoring_cell {
	/* on the leaderboard, where tied entries share a place; 0: no result */
	int64_t place;
	double time_ns; /* its score there */
	/* Filled by scoring_apply: */
	int64_t rank; /* among the contestants; 0: no result */
	bool is_tied;
	double ratio;  /* best time / time; 0: no result */
	double points; /* with SCORING_MEAN: 100 * ratio */
};

struct scoring_row {
	struct scoring_cell *cells; /* one for each column */
	size_t number;              /* chosen by the caller; rows with equal totals are sorted by it */
	/* Filled by scoring_apply: */
	double total;
	int64_t place;
	bool is_tied;
};

/* "ranks", "ratios", "mean"; scoring_method_of returns scoring_methods for another word. */
const char *scoring_word(enum scoring_method method);
enum scoring_method scoring_method_of(const char *word);

/* Reads numbers separated by spaces or commas, the points of rank 1, 2, ... An empty text gives the
 * usual table. ERROR_INPUT with the field points. */
int scoring_read_points(struct scoring_rule *rule, const char *text, struct error *error);

/* Fills the cells and totals and sorts the rows by place. Totals count to the hundredth, and equal
 * totals share a place. */
void scoring_apply(const struct scoring_rule *rule, struct scoring_row *rows, size_t row_count,
	size_t column_count);

#endif
