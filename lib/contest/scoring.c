#include "lib/contest/scoring.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* A missing result counts in the geometric mean like one that took a hundred times as long, because
 * a ratio of 0 would make all other results worthless. */
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
		at = "25 18 15 12 10 8 6 4 2 1";
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

/* The contestants' ranks on a column: the leaderboard's, without those who only rank there. */
static void rank_column(struct scoring_row *rows, size_t row_count, size_t column)
{
	for (size_t i = 0; i < row_count; i++) {
		struct scoring_cell *cell = &rows[i].cells[column];
		cell->rank = cell->place ? 1 : 0;
		cell->is_tied = false;
		for (size_t j = 0; cell->place && j < row_count; j++) {
			int64_t other = rows[j].cells[column].place;
			cell->rank += other && other < cell->place;
			cell->is_tied |= j != i && other == cell->place;
		}
	}
}

/* The fastest time of those who rank at `place` or, if `place` is 0, of all. */
static double fastest_ns(
	const struct scoring_row *rows, size_t row_count, size_t column, int64_t place)
{
	double best = INFINITY;
	for (size_t i = 0; i < row_count; i++) {
		const struct scoring_cell *cell = &rows[i].cells[column];
		if (cell->place && (!place || cell->place == place) && cell->time_ns < best)
			best = cell->time_ns;
	}
	return best;
}

/* Best time / time. Those who share a rank have the ratio of the fastest of them: noise decides
 * nothing. */
static double ratio_of(const struct scoring_row *rows, size_t row_count, size_t row, size_t column)
{
	int64_t place = rows[row].cells[column].place;
	return place
		? fastest_ns(rows, row_count, column, 0) / fastest_ns(rows, row_count, column, place)
		: 0;
}

static double points_of_rank(const struct scoring_rule *rule, int64_t rank)
{
	return rank && (size_t)rank <= rule->rank_count ? rule->points[rank - 1] : 0;
}

static void score_row(const struct scoring_rule *rule, struct scoring_row *rows, size_t row_count,
	size_t row, size_t column_count)
{
	double sum = 0, logarithms = 0;
	bool has_result = false;
	for (size_t column = 0; column < column_count; column++) {
		struct scoring_cell *cell = &rows[row].cells[column];
		double ratio = ratio_of(rows, row_count, row, column);
		cell->points = to_hundredth(
			rule->method == SCORING_RANKS ? points_of_rank(rule, cell->rank) : 100 * ratio);
		sum += cell->points;
		logarithms += log(cell->place && ratio > missing_ratio ? ratio : missing_ratio);
		has_result |= cell->place != 0;
	}
	if (rule->method == SCORING_MEAN)
		sum = has_result ? 100 * exp(logarithms / (double)column_count) : 0;
	rows[row].total = to_hundredth(sum);
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
	for (size_t column = 0; column < column_count; column++)
		rank_column(rows, row_count, column);
	for (size_t row = 0; row < row_count; row++)
		score_row(rule, rows, row_count, row, column_count);
	if (row_count)
		qsort(rows, row_count, sizeof *rows, by_total);
	for (size_t i = 0; i < row_count; i++) {
		bool shares = i && rows[i].total == rows[i - 1].total;
		rows[i].place = shares ? rows[i - 1].place : (int64_t)i + 1;
		rows[i].is_tied = shares;
		if (shares)
			rows[i - 1].is_tied = true;
	}
}
