#include "lib/task/task.h"

#include "lib/base/interval.h"

#include <math.h>

double task_charge_noise(double *mean_ns, double *err_ns)
{
	double most_ns = 400 + 0.01 * *mean_ns, half_ns = interval_half_ns(*err_ns);
	if (!(half_ns > most_ns)) /* also true if the error is NAN */
		return 0;
	*mean_ns += half_ns;
	*err_ns = most_ns / interval_standard_errors;
	return half_ns;
}

struct score {
	double value, err;
}; /* in ns */

static struct score score_last(const double *means, const double *errs, size_t count)
{
	return (struct score){ .value = means[count - 1], .err = errs ? errs[count - 1] : NAN };
}

/* The errors of cases are independent, so their squares add. One NAN makes the sum NAN. */
static struct score score_mean(const double *means, const double *errs, size_t count)
{
	double sum = 0, squares = 0, n = (double)count;
	for (size_t i = 0; i < count; i++) {
		sum += means[i] / n;
		squares += errs ? errs[i] / n * (errs[i] / n) : NAN;
	}
	return (struct score){ .value = sum, .err = sqrt(squares) };
}

/* Uses logarithms, because the product of many times may overflow a double. The logarithms are
 * relative to the first time, so that equal times give exactly that time. The error follows from
 * d(geom)/geom = sum(d(t)/t)/n. */
static struct score score_geom(const double *means, const double *errs, size_t count)
{
	double sum = 0, squares = 0, n = (double)count;
	for (size_t i = 0; i < count; i++) {
		sum += log(means[i]) - log(means[0]);
		double relative = errs ? errs[i] / means[i] : NAN;
		squares += relative * relative;
	}
	double value = means[0] * exp(sum / n);
	return (struct score){ .value = value, .err = value * sqrt(squares) / n };
}

int task_score(enum task_ranking_by ranking_by, const double *means, const double *errs,
	size_t count, double *score_ns, double *err_ns, struct error *error)
{
	if (!count)
		return fail(error, ERROR_INPUT, "There is no benchmark to compute a score from.");
	for (size_t i = 0; i < count; i++)
		if (!(means[i] > 0) || isinf(means[i]))
			return fail(error, ERROR_INPUT,
				"The mean time of benchmark %zu is %g ns, which is not a positive number.", i + 1,
				means[i]);
	struct score score;
	switch (ranking_by) {
	case RANKING_BY_MEAN: score = score_mean(means, errs, count); break;
	case RANKING_BY_GEOM: score = score_geom(means, errs, count); break;
	case RANKING_BY_LAST:
	default: score = score_last(means, errs, count); break;
	}
	*score_ns = score.value;
	*err_ns = score.err >= 0 && !isinf(score.err) ? score.err : NAN;
	return 0;
}

/* The half-width of the logarithm, taken from the wider side of the interval. */
static double half_width(const struct task_ratio *one)
{
	return fmax(log(one->high / one->ratio), log(one->ratio / one->low));
}

struct task_ratio task_ratio(
	enum task_ranking_by ranking_by, const struct task_ratio *cases, size_t count)
{
	double logarithm = 0, squares = 0, own_ns = 0, other_ns = 0;
	if (ranking_by == RANKING_BY_LAST)
		return cases[count - 1];
	for (size_t i = 0; i < count; i++) {
		own_ns += cases[i].ratio * cases[i].other_ns;
		other_ns += cases[i].other_ns;
	}
	for (size_t i = 0; i < count; i++) {
		double weight = ranking_by == RANKING_BY_MEAN ? cases[i].ratio * cases[i].other_ns / own_ns
													  : 1.0 / (double)count;
		double part = weight * half_width(&cases[i]);
		logarithm += log(cases[i].ratio) / (double)count;
		squares += part * part;
	}
	double ratio = ranking_by == RANKING_BY_MEAN ? own_ns / other_ns : exp(logarithm);
	return (struct task_ratio){ .ratio = ratio,
		.low = ratio * exp(-sqrt(squares)),
		.high = ratio * exp(sqrt(squares)),
		.other_ns = other_ns };
}
