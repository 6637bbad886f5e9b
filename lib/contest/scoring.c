#include "lib/contest/scoring.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* SCORING_MEAN counts a missing result like one that took 100 times as long as the best. A ratio of
 * 0 would make the whole mean 0. */
static const double missing_ratio = 0.01;

static const char *const WORDS[scoring_methods] = { "ranks", "ratios", "mean" };

const char *scoring_word(enum scoring_method method)
{
	return WORDS[method];
}

enum scoring_method scoring_method_of(const char *word)
{
	enum scoring_method method = 0;
	while (method < scoring_methods && strcmp(WORDS[method], word) != 0)
		method++;
	return method;
}

int scoring_read_points(struct scoring_rule *rule, const char *text, struct error *error)
{
	static const char separators[] = ", \t\r\n";
	const char *at = text + strspn(text, separators);
	if (!*at)
		at = SCORING_USUAL_POINTS;
	for (rule->rank_count = 0; *at; at += strspn(at, separators)) {
		size_t length = strcspn(at, separators);
		char *end;
		double points = strtod(at, &end);
		if (strspn(at, "0123456789.") != length || end != at + length || points > 1e6)
			return fail_field(error, "points",
				"Type the points of rank 1, 2 and so on as numbers from 0 to 1000000, separated by "
				"spaces.");
		if (rule->rank_count == scoring_most_ranks)
			return fail_field(
				error, "points", "At most %d ranks can have points.", scoring_most_ranks);
		if (rule->rank_count && points > rule->points[rule->rank_count - 1])
			return fail_field(
				error, "points", "A rank cannot have more points than the rank before it.");
		rule->points[rule->rank_count++] = points;
		at = end;
	}
	return 0;
}

static double to_hundredth(double number)
{
	return round(number * 100) / 100;
}

static int by_place(const void *left, const void *right, void *context)
{
	const struct scoring_row *a = left, *b = right;
	size_t column = *(const size_t *)context;
	return (a->cells[column].place > b->cells[column].place)
		- (a->cells[column].place < b->cells[column].place);
}

/* The fastest time among the rows from `first` that have the place `place`; `place` 0: among all
 * rows from `first`. Sets `end` behind the last of these rows. */
static double fastest_ns(const struct scoring_row *rows, size_t row_count, size_t column,
	size_t first, int64_t place, size_t *end)
{
	double best = INFINITY;
	for (*end = first; *end < row_count; ++*end) {
		const struct scoring_cell *cell = &rows[*end].cells[column];
		if (place && cell->place != place)
			break;
		best = fmin(best, cell->time_ns);
	}
	return best;
}

/* Ranks the contestants on one column by their places on the leaderboard, leaving out others who
 * rank there. Contestants with the same rank all get the ratio of the fastest of them, because
 * noise alone separates them. */
static void rank_column(struct scoring_row *rows, size_t row_count, size_t column)
{
	qsort_r(rows, row_count, sizeof *rows, by_place, &column);
	size_t first = 0, end;
	for (; first < row_count && !rows[first].cells[column].place; first++) {
		struct scoring_cell *cell = &rows[first].cells[column];
		cell->rank = 0;
		cell->is_tied = false;
		cell->ratio = 0;
	}
	double best = fastest_ns(rows, row_count, column, first, 0, &end);
	for (size_t at = first; at < row_count;) {
		size_t group = at;
		double fastest =
			fastest_ns(rows, row_count, column, group, rows[group].cells[column].place, &end);
		for (; at < end; at++) {
			struct scoring_cell *cell = &rows[at].cells[column];
			cell->rank = (int64_t)(group - first) + 1;
			cell->is_tied = end - group > 1;
			cell->ratio = best / fastest;
		}
	}
}

static double points_of_rank(const struct scoring_rule *rule, int64_t rank)
{
	return rank && (size_t)rank <= rule->rank_count ? rule->points[rank - 1] : 0;
}

static void score_row(const struct scoring_rule *rule, struct scoring_row *row, size_t column_count)
{
	double sum = 0, logarithms = 0;
	bool has_result = false;
	for (size_t column = 0; column < column_count; column++) {
		struct scoring_cell *cell = &row->cells[column];
		cell->points = to_hundredth(
			rule->method == SCORING_RANKS ? points_of_rank(rule, cell->rank) : 100 * cell->ratio);
		sum += cell->points;
		logarithms += log(fmax(cell->ratio, missing_ratio));
		has_result |= cell->place != 0;
	}
	if (rule->method == SCORING_MEAN)
		sum = has_result ? 100 * exp(logarithms / (double)column_count) : 0;
	row->total = to_hundredth(sum);
}

static int by_total(const void *left, const void *right)
{
	const struct scoring_row *a = left, *b = right;
	return a->total != b->total ? (a->total < b->total) - (a->total > b->total)
								: (a->number > b->number) - (a->number < b->number);
}

void scoring_apply(const struct scoring_rule *rule, struct scoring_row *rows, size_t row_count,
	size_t column_count)
{
	if (!row_count)
		return;
	for (size_t column = 0; column < column_count; column++)
		rank_column(rows, row_count, column);
	for (size_t i = 0; i < row_count; i++)
		score_row(rule, &rows[i], column_count);
	qsort(rows, row_count, sizeof *rows, by_total);
	for (size_t i = 0; i < row_count; i++) {
		bool shares = i && rows[i].total == rows[i - 1].total;
		rows[i].place = shares ? rows[i - 1].place : (int64_t)i + 1;
		rows[i].is_tied = shares;
		if (shares)
			rows[i - 1].is_tied = true;
	}
}
