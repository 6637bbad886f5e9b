#include "lib/task.h"

#include <math.h>

struct score { double value, err; }; /* ns */

static struct score last_of(const double *means, const double *errs, size_t count)
{
	return (struct score){ means[count - 1], errs ? errs[count - 1] : NAN };
}

/* The errors of the cases are independent, so their squares add. NAN in one makes the sum NAN. */
static struct score mean_of(const double *means, const double *errs, size_t count)
{
	double sum = 0, squares = 0, n = (double)count;
	for (size_t i = 0; i < count; i++) {
		sum += means[i] / n;
		squares += errs ? errs[i] / n * (errs[i] / n) : NAN;
	}
	return (struct score){ sum, sqrt(squares) };
}

/* In logarithms: a product of a thousand times of 1e-9 is no double. Relative to the first time, so that
 * equal times give exactly that time. d(geom) = geom / n * sum of d(t) / t. */
static struct score geom_of(const double *means, const double *errs, size_t count)
{
	double sum = 0, squares = 0, n = (double)count;
	for (size_t i = 0; i < count; i++) {
		sum += log(means[i]) - log(means[0]);
		double relative = errs ? errs[i] / means[i] : NAN;
		squares += relative * relative;
	}
	double value = means[0] * exp(sum / n);
	return (struct score){ value, value * sqrt(squares) / n };
}

int task_score(enum task_ranking_by ranking_by, const double *means, const double *errs, size_t count,
	double *score_ns, double *err_ns, struct error *error)
{
	if (!count)
		return fail(error, ERROR_INPUT, "There is no benchmark to compute a score from.");
	for (size_t i = 0; i < count; i++)
		if (!(means[i] > 0) || isinf(means[i]))
			return fail(error, ERROR_INPUT, "The mean time of benchmark %zu is %g ns, which is not a positive number.", i + 1,
				means[i]);
	struct score score;
	switch (ranking_by) {
	case RANKING_BY_MEAN:
		score = mean_of(means, errs, count);
		break;
	case RANKING_BY_GEOM:
		score = geom_of(means, errs, count);
		break;
	case RANKING_BY_LAST:
	default:
		score = last_of(means, errs, count);
		break;
	}
	*score_ns = score.value;
	*err_ns = score.err >= 0 && !isinf(score.err) ? score.err : NAN;
	return 0;
}
