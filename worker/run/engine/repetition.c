#include "worker/run/engine/engine.h"

#include "harness/isolated/statistics.h"
#include "lib/base/clock.h"
#include "lib/base/interval.h"
#include "lib/base/scope.h"
#include "worker/run/engine/other_load.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum {
	/* After least_runs runs, no run starts that would end later than this. */
	enough_ms = 30 * 1000,
	least_runs = 3,
};
/* The share of the stage's time limit that all runs together may take. */
static const double most_share = 0.8;
/* How many CPUs other programs may use before the result mentions them. */
static const double unseen_cpus = 0.25;

bool repetition_applies(const struct job *job, const struct stage_kind *kind)
{
	return job->device.is_cpu && kind->is_timed && job->mode != JOB_COMPARE;
}

/* ---- the runs ---- */

struct runs {
	struct result_case *cases[repetition_most_runs];
	size_t count;
	int64_t began_ms, longest_ms, limit_ms;
	int64_t duration_ms, peak_bytes; /* of the stage */
};

static void add_up(struct runs *runs, struct stage *stage, int64_t took_ms)
{
	runs->longest_ms = took_ms > runs->longest_ms ? took_ms : runs->longest_ms;
	runs->duration_ms += stage->duration_ms;
	runs->peak_bytes =
		stage->peak_host_bytes > runs->peak_bytes ? stage->peak_host_bytes : runs->peak_bytes;
	stage->duration_ms = runs->duration_ms;
	stage->peak_host_bytes = runs->peak_bytes;
}

static bool has_enough(const struct runs *runs)
{
	int64_t end_ms = clock_ms() - runs->began_ms + runs->longest_ms;
	return runs->count >= repetition_most_runs
		|| end_ms > (int64_t)(most_share * (double)runs->limit_ms)
		|| (runs->count >= least_runs && end_ms > enough_ms);
}

/* ---- the cases ---- */

static int by_size(const void *left, const void *right)
{
	double a = *(const double *)left, b = *(const double *)right;
	return (a > b) - (a < b);
}

double repetition_middle(double *times, size_t count, double *half)
{
	/* By the number of values: the standard error of the median of normal values, relative to the
	 * standard error of their mean. */
	static const double error_of_median[] = { 0, 0, 1, 1.160, 1.092, 1.198 };
	_Static_assert(
		COUNT(error_of_median) == repetition_most_runs + 1, "one error for each number of runs");
	double mean = 0, squares = 0, n = (double)count;
	for (size_t i = 0; i < count; i++)
		mean += times[i] / n;
	for (size_t i = 0; i < count; i++)
		squares += (times[i] - mean) * (times[i] - mean);
	qsort(times, count, sizeof *times, by_size);
	*half = count > 1 ? isolated_t_quantile(0.95, count - 1) * error_of_median[count]
			* sqrt(squares / (n - 1) / n)
					  : NAN;
	return (times[(count - 1) / 2] + times[count / 2]) / 2;
}

static void set_number(
	struct run *run, struct result_case *one, enum result_value value, double number)
{
	one->values[value] = arena_printf(run->arena, "%.17g", number);
}

/* The values of a case that are joined from all runs. join_case computes the time and its interval.
 * All other values come from the run with the median time. */
static const struct {
	enum result_value value;
	double (*join)(double a, double b);
} JOINED[] = {
	{ RESULT_RUNS, NULL }, /* NULL: adds them */
	{ RESULT_BLOCKS, NULL },
	{ RESULT_REPEATED, NULL },
	{ RESULT_BEST, fmin },
	{ RESULT_WORST, fmax },
};

static void join_case(
	struct run *run, const struct runs *runs, size_t index, struct result_case *one)
{
	double times[repetition_most_runs], half;
	for (size_t i = 0; i < runs->count; i++)
		times[i] = results_number(&runs->cases[i][index], RESULT_MEAN);
	double middle = repetition_middle(times, runs->count, &half);
	for (size_t i = 0; i < runs->count; i++)
		if (results_number(&runs->cases[i][index], RESULT_MEAN) == times[(runs->count - 1) / 2])
			*one = runs->cases[i][index];
	for (size_t k = 0; k < COUNT(JOINED); k++) {
		double joined = results_number(&runs->cases[0][index], JOINED[k].value);
		for (size_t i = 1; i < runs->count; i++) {
			double other = results_number(&runs->cases[i][index], JOINED[k].value);
			joined = JOINED[k].join ? JOINED[k].join(joined, other) : joined + other;
		}
		if (isfinite(joined))
			set_number(run, one, JOINED[k].value, joined);
	}
	set_number(run, one, RESULT_MEAN, middle);
	set_number(run, one, RESULT_ERR, half / interval_standard_errors);
	set_number(run, one, RESULT_LOW, fmax(1, middle - half));
	set_number(run, one, RESULT_HIGH, middle + half);
}

/* Joins the cases of all runs into those of the last run. */
static void join_runs(const struct runs *runs, struct evaluation *evaluation)
{
	for (size_t i = 0; i < evaluation->results.count && runs->count > 1; i++) {
		struct result_case one;
		join_case(evaluation->run, runs, i, &one);
		evaluation->results.cases[i] = one;
	}
}

/* Says in each case that other programs took CPU time, if the programs of the stage had no priority
 * over them. */
static void tell_load(struct evaluation *evaluation, const struct load *before)
{
	const struct run *run = evaluation->run;
	struct load now = load_now();
	double cpus = load_of_others(before, &now);
	if (run->workspace.host->may_raise || !(cpus > unseen_cpus))
		return;
	for (size_t i = 0; i < evaluation->results.count; i++) {
		const char **message = &evaluation->results.cases[i].values[RESULT_MESSAGE];
		*message = arena_printf(run->arena,
			"%s%sMeasured beside other load: other programs used %.1f CPUs, and the worker may not "
			"give a submission a higher priority.",
			*message ? *message : "", *message ? "\n" : "", cpus);
	}
}

int repetition_run(struct evaluation *evaluation,
	int (*run_once)(struct run *run, struct evaluation *evaluation, struct error *error),
	struct error *error)
{
	struct run *run = evaluation->run;
	struct stage *stage = evaluation->stage;
	struct runs runs = { .began_ms = clock_ms(),
		.limit_ms = evaluation_limit_s(evaluation) * 1000 };
	struct load before = load_now();
	for (;;) {
		int64_t began_ms = clock_ms();
		int rc = run_once(run, evaluation, error);
		add_up(&runs, stage, clock_ms() - began_ms);
		if (rc || stage->judgement.verdict != VERDICT_PASSED)
			return rc;
		runs.cases[runs.count++] = evaluation->results.cases;
		if (run->engine == ENGINE_CUSTOM || has_enough(&runs))
			break;
		if ((rc = evaluation_reopen_stage(run, evaluation, error)))
			return rc;
		evaluation->earlier_runs = runs.count;
		evaluation->spent_ms = clock_ms() - runs.began_ms;
		evaluation_tell_progress(evaluation);
	}
	join_runs(&runs, evaluation);
	tell_load(evaluation, &before);
	return 0;
}
