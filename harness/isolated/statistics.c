#include "statistics.h"

#include <math.h>
#include <stdlib.h>

/* ---- scratch memory ---- */

static void free_scratch(double **scratch)
{
	free(*scratch);
}

#define cleanup_scratch __attribute__((cleanup(free_scratch)))

static double *allocate_scratch(size_t count)
{
	double *scratch = malloc((count ? count : 1) * sizeof *scratch);
	if (!scratch)
		abort();
	return scratch;
}

static struct isolated_values values_at(const double *at, size_t count)
{
	return (struct isolated_values){ .at = at, .count = count };
}

/* ---- estimates ---- */

/* In long double, so that the order of the values does not matter. */
static double sum_values(struct isolated_values values)
{
	long double total = 0;
	for (size_t i = 0; i < values.count; i++)
		total += values.at[i];
	return (double)total;
}

double isolated_mean(struct isolated_values values)
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

/* Sorts the values. */
static double median_in_place(double *values, size_t count)
{
	if (!count)
		return NAN;
	qsort(values, count, sizeof *values, compare_numbers);
	const size_t middle = count / 2;
	return count % 2 ? values[middle] : (values[middle - 1] + values[middle]) / 2;
}

double isolated_median(struct isolated_values values)
{
	cleanup_scratch double *sorted = allocate_scratch(values.count);
	for (size_t i = 0; i < values.count; i++)
		sorted[i] = values.at[i];
	return median_in_place(sorted, values.count);
}

double isolated_center(struct isolated_values values)
{
	const size_t pairs = values.count * (values.count + 1) / 2;
	cleanup_scratch double *means = allocate_scratch(pairs);
	double *end = means;
	for (size_t i = 0; i < values.count; i++)
		for (size_t k = i; k < values.count; k++)
			*end++ = (values.at[i] + values.at[k]) / 2;
	return median_in_place(means, pairs);
}

double isolated_deviation(struct isolated_values values)
{
	if (values.count < 2)
		return 0;
	const double mean = isolated_mean(values);
	cleanup_scratch double *squares = allocate_scratch(values.count);
	for (size_t i = 0; i < values.count; i++)
		squares[i] = (values.at[i] - mean) * (values.at[i] - mean);
	return sqrt(sum_values(values_at(squares, values.count)) / (double)(values.count - 1));
}

double isolated_standard_error(struct isolated_values values)
{
	return isolated_deviation(values) / sqrt((double)values.count);
}

/* P(|T| <= t). */
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

/* ---- rules ---- */

const struct isolated_rule isolated_cuda_rule = {
	.calls = 13,
	.bells = 2,
	.controls = 3,
	.looks = { 12, { 6, 7, 8, 10, 12, 16, 20, 26, 34, 46, 60, 76 } },
	.pair_looks = { 6, { 12, 16, 20, 26, 32, 38 } },
	.most_s = 60,
	.least_warm_calls = 8,
	.most_warm_calls = 100,
	.warm_s = 0.05,
	.calibrations = 40,
	.open_before_ns = 20e3,
	.wait_ns = 50e6,
	.empty_ns = 600,
	.process_ns = 200,
	.process_share = 0.0008,
	.overrun_ns = 20e3,
	.overrun_share = 0.15,
	.disturbance_ns = 3000,
	.steady_disturbance_ns = 2000,
	.moved_ns = 500,
	.moved_share = 0.03,
	.null_estimate = isolated_center,
	.block_estimate = isolated_center,
};

const struct isolated_rule isolated_cpu_rule = {
	.calls = 5,
	.looks = { 1, { 4 } },
	.pair_looks = { 2, { 2, 4 } },
	.most_s = 2,
	.least_warm_calls = 1,
	.most_warm_calls = 1,
	.overrun_ns = INFINITY,
	.moved_ns = 5000,
	.moved_share = 0.5,
	.null_estimate = isolated_least,
	.block_estimate = isolated_median,
};

/* ---- blocks ---- */

enum { least_controls = 3 }; /* with fewer, a block says nothing about disturbance */

typedef double timing_figure(const struct isolated_timing *call);

static double elapsed_ns(const struct isolated_timing *call)
{
	return call->elapsed_ns;
}

static double touch_ns(const struct isolated_timing *call)
{
	return call->touch_ns;
}

static double touch_and_take_ns(const struct isolated_timing *call)
{
	return call->touch_ns + call->take_ns;
}

static double head_ns(const struct isolated_timing *call)
{
	return call->head_ns;
}

static double rest_ns(const struct isolated_timing *call)
{
	return call->rest_ns;
}

/* Scratch, which the caller frees. */
static double *figures_of(struct isolated_timings calls, timing_figure *figure)
{
	double *figures = allocate_scratch(calls.count);
	for (size_t i = 0; i < calls.count; i++)
		figures[i] = figure(&calls.at[i]);
	return figures;
}

static double median_of(struct isolated_timings calls, timing_figure *figure)
{
	cleanup_scratch double *figures = figures_of(calls, figure);
	return median_in_place(figures, calls.count);
}

/* How long the null contestant took after calls of the submission, or before them. Returns how
 * many of its calls there are. */
static size_t null_by_order(const struct isolated_block *block, bool is_after, double *elapsed)
{
	size_t count = 0;
	for (size_t i = 0; i < block->null.count; i++)
		if (block->null.at[i].is_after == is_after)
			elapsed[count++] = block->null.at[i].elapsed_ns;
	return count;
}

/* By how much empty kernels take longer than before a submission was loaded; 0 where there are too
 * few to tell. */
static double control_over(const struct isolated_block *block)
{
	return block->controls.count < least_controls
		? 0
		: isolated_median(block->controls) - block->quiet_ns;
}

double isolated_order_over(const struct isolated_block *block)
{
	cleanup_scratch double *after = allocate_scratch(block->null.count);
	cleanup_scratch double *before = allocate_scratch(block->null.count);
	const size_t after_count = null_by_order(block, true, after);
	const size_t before_count = null_by_order(block, false, before);
	if (block->controls.count < least_controls || after_count < least_controls
		|| before_count < least_controls)
		return 0;
	return median_in_place(after, after_count) - median_in_place(before, before_count);
}

/* How much an empty kernel may differ without anybody's doing. */
static double kernel_noise(const struct isolated_block *block, const struct isolated_rule *rule)
{
	return fmax(rule->disturbance_ns, rule->moved_share * block->quiet_ns);
}

static double beyond_noise(
	double over, const struct isolated_block *block, const struct isolated_rule *rule)
{
	return over > kernel_noise(block, rule) ? over : 0;
}

double isolated_disturbance(const struct isolated_block *block, const struct isolated_rule *rule)
{
	return fmax(beyond_noise(control_over(block), block, rule),
		beyond_noise(isolated_order_over(block), block, rule));
}

/* A submission that delays the null contestant's calls knows that one follows when it was called
 * first; so in that case only the others count. */
static double null_estimate(const struct isolated_block *block, const struct isolated_rule *rule)
{
	cleanup_scratch double *elapsed = figures_of(block->null, elapsed_ns);
	size_t count = block->null.count;
	if (beyond_noise(isolated_order_over(block), block, rule) > 0)
		count = null_by_order(block, false, elapsed);
	return rule->null_estimate(values_at(elapsed, count));
}

/* The constant where nobody disturbs. */
static double plain_constant(const struct isolated_block *block, const struct isolated_rule *rule)
{
	return null_estimate(block, rule) + block->delta_ns - rule->empty_ns;
}

double isolated_constant(
	const struct isolated_block *block, const struct isolated_rule *rule, double most_ns)
{
	return fmin(
		most_ns, plain_constant(block, rule) - beyond_noise(control_over(block), block, rule));
}

double isolated_most_constant(struct isolated_blocks blocks, const struct isolated_rule *rule)
{
	double most_ns = INFINITY;
	for (size_t i = 0; rule->controls && i < blocks.count; i++)
		most_ns =
			fmin(most_ns, plain_constant(&blocks.at[i], rule) + kernel_noise(&blocks.at[i], rule));
	return most_ns;
}

bool isolated_constant_moved(const struct isolated_block *block, const struct isolated_rule *rule)
{
	const size_t half = block->null.count / 2;
	if (half < 2)
		return false;
	const struct isolated_timings first = { block->null.at, half },
								  last = { block->null.at + block->null.count - half, half };
	const double moved_ns = fabs(median_of(first, elapsed_ns) - median_of(last, elapsed_ns));
	return moved_ns > fmax(rule->moved_ns, rule->moved_share * null_estimate(block, rule));
}

/* By how much ours are longer than the usual ones; 0 within noise. */
static double median_excess(
	struct isolated_values ours, struct isolated_values usual, const struct isolated_rule *rule)
{
	if (!ours.count || !usual.count)
		return 0;
	const double expected = isolated_median(usual), over = isolated_median(ours) - expected;
	cleanup_scratch double *off = allocate_scratch(usual.count);
	for (size_t i = 0; i < usual.count; i++)
		off[i] = fabs(usual.at[i] - expected);
	const double spread = median_in_place(off, usual.count);
	const double allowed = fmax(rule->overrun_ns, fmax(rule->overrun_share * expected, 5 * spread));
	return over > allowed ? over : 0;
}

static double block_excess(
	const struct isolated_block *block, timing_figure *figure, const struct isolated_rule *rule)
{
	cleanup_scratch double *ours = figures_of(block->calls, figure);
	cleanup_scratch double *usual = figures_of(block->null, figure);
	return median_excess(
		values_at(ours, block->calls.count), values_at(usual, block->null.count), rule);
}

double isolated_overrun(const struct isolated_block *block, const struct isolated_rule *rule)
{
	const double before = fmax(
		block_excess(block, head_ns, rule), median_excess(block->heads, block->null_heads, rule));
	return block_excess(block, touch_and_take_ns, rule) + block_excess(block, rest_ns, rule)
		+ before;
}

void isolated_samples(const struct isolated_block *block, const struct isolated_rule *rule,
	double most_ns, double *samples)
{
	const double constant = isolated_constant(block, rule, most_ns),
				 overrun = isolated_overrun(block, rule), bell = isolated_median(block->bells);
	/* After a shorter touch the GPU was still the judge's: the submission has not used it, and its
	 * call cost no more than the doorbell. */
	const double idle_touch_ns = block->bells.count ? median_of(block->null, touch_ns) / 2 : 0;
	for (size_t i = 0; i < block->calls.count; i++) {
		const struct isolated_timing *call = &block->calls.at[i];
		const bool is_idle = call->touch_ns < idle_touch_ns;
		samples[i] = fmax(1, call->elapsed_ns - (is_idle ? bell : constant) + overrun);
	}
}

/* ---- a case ---- */

static double value_of(
	const struct isolated_block *block, const struct isolated_rule *rule, double most_ns)
{
	cleanup_scratch double *samples = allocate_scratch(block->calls.count);
	isolated_samples(block, rule, most_ns, samples);
	return rule->block_estimate(values_at(samples, block->calls.count));
}

void isolated_values_of(
	struct isolated_blocks blocks, const struct isolated_rule *rule, double *values)
{
	const double most_ns = isolated_most_constant(blocks, rule);
	for (size_t i = 0; i < blocks.count; i++)
		values[i] = value_of(&blocks.at[i], rule, most_ns);
}

/* Of the interval at a look before the last. */
static const double early_level = 0.99;

static bool is_look(const struct isolated_looks *looks, size_t blocks)
{
	for (size_t i = 0; i < looks->count; i++)
		if (looks->blocks[i] == blocks)
			return true;
	return false;
}

static bool is_last_look(const struct isolated_looks *looks, size_t blocks)
{
	return blocks >= looks->blocks[looks->count - 1];
}

bool isolated_is_enough(struct isolated_values values, const struct isolated_rule *rule)
{
	/* Below 40 us a share is too much to ask: from job to job the constant is off by 0.1 to 0.2 us,
	 * which no number of blocks shows. */
	const double short_ns = 40e3, allowed_ns = 400, allowed_share = 0.01;
	if (is_last_look(&rule->looks, values.count))
		return true;
	if (!is_look(&rule->looks, values.count))
		return false;
	const double mean = isolated_mean(values);
	const double allowed = mean < short_ns ? allowed_ns : allowed_share * mean;
	return isolated_half_width(values, early_level) <= allowed;
}

double isolated_steady_disturbance(struct isolated_blocks blocks, const struct isolated_rule *rule)
{
	cleanup_scratch double *controls = allocate_scratch(blocks.count);
	cleanup_scratch double *orders = allocate_scratch(blocks.count);
	size_t count = 0;
	for (size_t i = 0; i < blocks.count; i++) {
		const struct isolated_block *block = &blocks.at[i];
		if (block->controls.count < least_controls || isolated_disturbance(block, rule) > 0)
			continue;
		controls[count] = control_over(block);
		orders[count++] = isolated_order_over(block);
	}
	if (count < isolated_least_blocks)
		return 0;
	const double over =
		fmax(isolated_mean(values_at(controls, count)), isolated_mean(values_at(orders, count)));
	return over > rule->steady_disturbance_ns ? over : 0;
}

/* The standard deviation of what a process adds to a time, from job to job: no number of blocks
 * shows it. */
static double process_error(double time_ns, const struct isolated_rule *rule)
{
	return hypot(rule->process_ns, rule->process_share * time_ns);
}

/* Charges every call of a case, with the steady disturbance. Returns how many there are. */
static size_t sample_all(struct isolated_blocks blocks, const struct isolated_rule *rule,
	double most_ns, double steady_ns, double *samples)
{
	size_t count = 0;
	for (size_t i = 0; i < blocks.count; i++) {
		isolated_samples(&blocks.at[i], rule, most_ns, samples + count);
		count += blocks.at[i].calls.count;
	}
	for (size_t i = 0; i < count; i++)
		samples[i] += steady_ns;
	return count;
}

/* What is subtracted and added on the way, over all blocks. */
static void sum_up_corrections(struct isolated_blocks blocks, const struct isolated_rule *rule,
	double most_ns, double steady_ns, struct isolated_summary *summary)
{
	cleanup_scratch double *constants = allocate_scratch(blocks.count);
	cleanup_scratch double *overruns = allocate_scratch(blocks.count);
	cleanup_scratch double *disturbances = allocate_scratch(blocks.count);
	for (size_t i = 0; i < blocks.count; i++) {
		constants[i] = isolated_constant(&blocks.at[i], rule, most_ns);
		overruns[i] = isolated_overrun(&blocks.at[i], rule);
		disturbances[i] = isolated_disturbance(&blocks.at[i], rule);
	}
	summary->constant_ns = fmax(1, median_in_place(constants, blocks.count) - steady_ns);
	summary->overrun_ns = isolated_mean(values_at(overruns, blocks.count));
	summary->disturbance_ns = isolated_mean(values_at(disturbances, blocks.count)) + steady_ns;
}

/* With a single block, only its calls say how far it may be off. */
static void sum_up_time(struct isolated_values values, struct isolated_values samples,
	const struct isolated_rule *rule, struct isolated_summary *summary)
{
	const struct isolated_values units = values.count > 1 ? values : samples;
	const double mean = isolated_mean(values), std = isolated_deviation(samples),
				 process = process_error(mean, rule), half = isolated_half_width(units, 0.95),
				 half_ns = hypot(isfinite(half) ? half : std, 2 * process);
	summary->mean_ns = mean;
	summary->err_ns = hypot(isolated_standard_error(units), process);
	summary->low_ns = fmax(1, mean - half_ns);
	summary->high_ns = mean + half_ns;
	summary->best_ns = isolated_least(values);
	summary->worst_ns = values.at[0];
	for (size_t i = 1; i < values.count; i++)
		summary->worst_ns = fmax(summary->worst_ns, values.at[i]);
	summary->median_ns = isolated_median(samples);
	summary->std_ns = std;
}

struct isolated_summary isolated_summarize(struct isolated_blocks blocks,
	struct isolated_values own, const struct isolated_rule *rule, double *samples)
{
	const double steady_ns = isolated_steady_disturbance(blocks, rule),
				 most_ns = isolated_most_constant(blocks, rule);
	struct isolated_summary summary = {
		.own_ns = isolated_median(own),
		.runs = sample_all(blocks, rule, most_ns, steady_ns, samples),
		.blocks = blocks.count,
	};
	cleanup_scratch double *values = allocate_scratch(blocks.count);
	isolated_values_of(blocks, rule, values);
	for (size_t i = 0; i < blocks.count; i++)
		values[i] += steady_ns;
	sum_up_time(values_at(values, blocks.count), values_at(samples, summary.runs), rule, &summary);
	sum_up_corrections(blocks, rule, most_ns, steady_ns, &summary);
	return summary;
}

size_t isolated_thin(double *samples, size_t count, size_t most)
{
	if (count <= most)
		return count;
	for (size_t i = 0; i < most; i++)
		samples[i] = samples[i * count / most];
	return most;
}

/* ---- comparisons ---- */

/* By how much two processes with the same submission differ, as a logarithm, with 95 %
 * confidence: no number of blocks shows it. */
static double unseen_difference(double rival_ns, const struct isolated_rule *rule)
{
	return 2 * process_error(rival_ns, rule) / rival_ns;
}

/* `log_ratio`: the logarithm of the ratio; `half`: half of its interval; `err`: its error. */
static struct isolated_comparison compare_by(
	double log_ratio, double half, double err, double rival_ns)
{
	/* One block each says nothing about the interval: then a factor of 2 is assumed. */
	half = isfinite(half) ? half : log(2);
	return (struct isolated_comparison){
		.ratio = exp(log_ratio),
		.low = exp(log_ratio - half),
		.high = exp(log_ratio + half),
		.err = err,
		.rival_ns = rival_ns,
	};
}

/* Scratch, which the caller frees. */
static double *logs_of(struct isolated_values ours, struct isolated_values theirs)
{
	double *logs = allocate_scratch(ours.count);
	for (size_t i = 0; i < ours.count; i++)
		logs[i] = log(ours.at[i] / theirs.at[i]);
	return logs;
}

struct isolated_comparison isolated_in_turns(
	struct isolated_values ours, struct isolated_values theirs, const struct isolated_rule *rule)
{
	cleanup_scratch double *log_ratios = logs_of(ours, theirs);
	const struct isolated_values logs = values_at(log_ratios, ours.count);
	const double rival_ns = isolated_mean(theirs);
	return compare_by(isolated_mean(logs),
		hypot(isolated_half_width(logs, 0.95), unseen_difference(rival_ns, rule)),
		isolated_standard_error(logs), rival_ns);
}

struct isolated_comparison isolated_apart(
	struct isolated_values ours, struct isolated_values theirs, const struct isolated_rule *rule)
{
	const double our_ns = isolated_mean(ours), their_ns = isolated_mean(theirs);
	const long double our_half = isolated_half_width(ours, 0.95) / our_ns,
					  their_half = isolated_half_width(theirs, 0.95) / their_ns,
					  process = unseen_difference(their_ns, rule);
	struct isolated_comparison apart = compare_by(log(our_ns / their_ns),
		(double)sqrtl(our_half * our_half + their_half * their_half + process * process),
		hypot(isolated_standard_error(ours) / our_ns, isolated_standard_error(theirs) / their_ns),
		their_ns);
	apart.is_apart = true;
	return apart;
}

struct isolated_comparison isolated_compared(
	struct isolated_comparison in_turns, struct isolated_comparison apart)
{
	const bool is_apart_nearer = fabs(log(apart.ratio)) < fabs(log(in_turns.ratio));
	struct isolated_comparison found = is_apart_nearer ? apart : in_turns;
	found.low = fmin(in_turns.low, apart.low);
	found.high = fmax(in_turns.high, apart.high);
	return found;
}

bool isolated_agree(struct isolated_comparison one, struct isolated_comparison other)
{
	return one.low <= other.high && other.low <= one.high;
}

bool isolated_is_decided(
	struct isolated_values ours, struct isolated_values theirs, const struct isolated_rule *rule)
{
	const double equal_within = 0.0025; /* as a logarithm */
	if (is_last_look(&rule->pair_looks, ours.count))
		return true;
	if (!is_look(&rule->pair_looks, ours.count))
		return false;
	cleanup_scratch double *log_ratios = logs_of(ours, theirs);
	const struct isolated_values logs = values_at(log_ratios, ours.count);
	const double half = isolated_half_width(logs, early_level);
	return half <= equal_within
		|| fabs(isolated_mean(logs)) > hypot(half, unseen_difference(isolated_mean(theirs), rule));
}
