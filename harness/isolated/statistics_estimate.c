/* Estimates from values that vary. */
#include "statistics_inside.h"

#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

void isolated_free_scratch(double **scratch)
{
	free(*scratch);
}

double *isolated_scratch(size_t count)
{
	double *scratch = malloc((count ? count : 1) * sizeof *scratch);
	if (!scratch)
		abort();
	return scratch;
}

/* Adds in long double, so that the order of the values hardly matters. */
static double sum_values(struct isolated_values values)
{
	long double total = 0;
	for (size_t i = 0; i < values.count; i++)
		total += values.at[i];
	return (double)total;
}

static double mean_of(struct isolated_values values)
{
	return values.count ? sum_values(values) / (double)values.count : NAN;
}

double isolated_least(struct isolated_values values)
{
	double least = values.count ? values.at[0] : NAN;
	for (size_t i = 1; i < values.count; i++)
		least = fmin(least, values.at[i]);
	return least;
}

static int compare_numbers(const void *left, const void *right)
{
	const double one = *(const double *)left, other = *(const double *)right;
	return (one > other) - (one < other);
}

double isolated_median_in_place(double *values, size_t count)
{
	if (!count)
		return NAN;
	qsort(values, count, sizeof *values, compare_numbers);
	const size_t middle = count / 2;
	return count % 2 ? values[middle] : (values[middle - 1] + values[middle]) / 2;
}

double isolated_tenth(struct isolated_values values)
{
	if (!values.count)
		return NAN;
	cleanup_scratch double *sorted = isolated_scratch(values.count);
	memcpy(sorted, values.at, values.count * sizeof *sorted);
	qsort(sorted, values.count, sizeof *sorted, compare_numbers);
	const double place = 0.1 * (double)(values.count - 1);
	const size_t below = (size_t)place, above = below + (below + 1 < values.count);
	return sorted[below] + (place - (double)below) * (sorted[above] - sorted[below]);
}

double isolated_median(struct isolated_values values)
{
	cleanup_scratch double *sorted = isolated_scratch(values.count);
	for (size_t i = 0; i < values.count; i++)
		sorted[i] = values.at[i];
	return isolated_median_in_place(sorted, values.count);
}

/* Counts the pairs of sorted values, including each value with itself, whose mean is at most
 * `most`.
 */
static size_t count_pairs(struct isolated_values sorted, double most)
{
	size_t pairs = 0, end = sorted.count;
	for (size_t i = 0; i < end; i++) {
		while (end > i && (sorted.at[i] + sorted.at[end - 1]) / 2 > most)
			end--;
		pairs += end - i;
	}
	return pairs;
}

/* Maps numbers to integers in the same order, and back. */
static int64_t key_of(double number)
{
	int64_t bits;
	memcpy(&bits, &number, sizeof bits);
	return bits < 0 ? INT64_MIN - bits : bits;
}

static double number_of(int64_t key)
{
	const int64_t bits = key < 0 ? INT64_MIN - key : key;
	double number;
	memcpy(&number, &bits, sizeof number);
	return number;
}

/* Returns the mean of a pair that has `rank` means below it, in ascending order. Bisects between
 * the least and the largest value instead of sorting all means, because a job's first calls alone
 * would have over a million. */
static double mean_at(struct isolated_values sorted, size_t rank)
{
	int64_t low = key_of(sorted.at[0]), high = key_of(sorted.at[sorted.count - 1]);
	while (low < high) {
		const int64_t middle = (low & high) + ((low ^ high) >> 1); /* without overflow */
		if (count_pairs(sorted, number_of(middle)) > rank)
			high = middle;
		else
			low = middle + 1;
	}
	return number_of(low);
}

double isolated_center(struct isolated_values values)
{
	if (!values.count)
		return NAN;
	cleanup_scratch double *scratch = isolated_scratch(values.count);
	memcpy(scratch, values.at, values.count * sizeof *scratch);
	qsort(scratch, values.count, sizeof *scratch, compare_numbers);
	const struct isolated_values sorted = values_at(scratch, values.count);
	const size_t pairs = values.count * (values.count + 1) / 2;
	const double middle = mean_at(sorted, pairs / 2);
	return pairs % 2 ? middle : (mean_at(sorted, pairs / 2 - 1) + middle) / 2;
}

double isolated_deviation(struct isolated_values values)
{
	if (values.count < 2)
		return 0;
	const double mean = mean_of(values);
	cleanup_scratch double *squares = isolated_scratch(values.count);
	for (size_t i = 0; i < values.count; i++)
		squares[i] = (values.at[i] - mean) * (values.at[i] - mean);
	return sqrt(sum_values(values_at(squares, values.count)) / (double)(values.count - 1));
}

struct isolated_usual isolated_usual_of(struct isolated_values values)
{
	const double center = isolated_center(values);
	cleanup_scratch double *distances = isolated_scratch(values.count);
	for (size_t i = 0; i < values.count; i++)
		distances[i] = fabs(values.at[i] - center);
	return (struct isolated_usual){ center, isolated_center(values_at(distances, values.count)) };
}

double isolated_standard_error(struct isolated_values values)
{
	/* Standard deviation of normal noise, divided by its spread; found by simulation. */
	const double deviation_per_spread = 1.45;
	if (values.count < 2)
		return 0;
	return deviation_per_spread * isolated_usual_of(values).spread_ns
		/ sqrt((double)(values.count - 1));
}

/* P(|T| <= t) for Student's t with `freedom` degrees of freedom. */
static double probability_within(double t, size_t freedom)
{
	const double pi = 3.14159265358979323846;
	const bool is_odd = freedom % 2;
	const double angle = atan(t / sqrt((double)freedom)), cosine = cos(angle), sine = sin(angle);
	double term = is_odd ? cosine : 1, total = term;
	for (size_t k = is_odd ? 3 : 2; k + 1 < freedom; k += 2) {
		term *= cosine * cosine * (double)(k - 1) / (double)k;
		total += term;
	}
	if (!is_odd)
		return sine * total;
	return 2 / pi * (angle + (freedom > 1 ? sine * total : 0));
}

double isolated_t_quantile(double level, size_t freedom)
{
	enum { bisections = 80 };
	double low = 0, high = 1;
	while (probability_within(high, freedom) < level)
		high *= 2;
	for (int i = 0; i < bisections; i++) {
		const double middle = (low + high) / 2;
		if (probability_within(middle, freedom) < level)
			low = middle;
		else
			high = middle;
	}
	return high;
}

double isolated_half_width(struct isolated_values values, double level)
{
	if (values.count < 2)
		return INFINITY;
	return isolated_t_quantile(level, values.count - 1) * isolated_standard_error(values);
}
