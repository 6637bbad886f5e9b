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
	.enough_s = 20,
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
	.probe_ns = 3000,
	.ready_ns = 20e6,
	.disturbance_ns = 3000,
	.steady_disturbance_ns = 2000,
	.moved_ns = 500,
	.moved_share = 0.03,
	.half_ns = 400,
	.half_share = 0.01,
	.null_estimate = isolated_center,
	.block_estimate = isolated_center,
};

const struct isolated_rule isolated_cpu_rule = {
	.calls = 5,
	.looks = { 1, { 4 } },
	.pair_looks = { 2, { 2, 4 } },
	.enough_s = 2,
	.most_s = 2,
	.least_warm_calls = 1,
	.most_warm_calls = 1,
	.overrun_ns = INFINITY,
	.probe_ns = INFINITY,
	.ready_ns = INFINITY,
	.disturbance_ns = INFINITY,
	.steady_disturbance_ns = INFINITY,
	.moved_ns = 5000,
	.moved_share = 0.5,
	.half_ns = INFINITY,
	.null_estimate = isolated_least,
	.block_estimate = isolated_median,
};

struct isolated_rule isolated_rule_for(const struct isolated_rule *rule, double call_s)
{
	const double long_s = 0.025; /* then the fewest calls of a case take 2 s */
	struct isolated_rule made = *rule;
	if (!rule->calibrations || call_s < long_s)
		return made;
	made.calls = 5;
	made.least_warm_calls = 2;
	made.looks = (struct isolated_looks){ 11, { 4, 5, 6, 8, 10, 12, 16, 20, 26, 34, 46 } };
	made.pair_looks = (struct isolated_looks){ 6, { 6, 8, 12, 16, 20, 26 } };
	return made;
}

/* ---- blocks ---- */

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

static double probed_ns(const struct isolated_timing *call)
{
	return call->probed_ns;
}

/* Returns the figure of each call, in scratch memory that the caller frees. */
static double *figures_of(struct isolated_timings calls, timing_figure *figure)
{
	double *figures = allocate_scratch(calls.count);
	for (size_t i = 0; i < calls.count; i++)
		figures[i] = figure(&calls.at[i]);
	return figures;
}

static double center_of(struct isolated_timings calls, timing_figure *figure)
{
	cleanup_scratch double *figures = figures_of(calls, figure);
	return isolated_center(values_at(figures, calls.count));
}

static struct isolated_usual usual_figure(struct isolated_timings calls, timing_figure *figure)
{
	cleanup_scratch double *figures = figures_of(calls, figure);
	const struct isolated_values values = values_at(figures, calls.count);
	const double center = isolated_center(values);
	for (size_t i = 0; i < calls.count; i++)
		figures[i] = fabs(figures[i] - center);
	return (struct isolated_usual){ center, isolated_center(values) };
}

struct isolated_quiet isolated_quiet_of(struct isolated_timings null)
{
	return (struct isolated_quiet){
		.call_ns = center_of(null, elapsed_ns),
		.head = usual_figure(null, head_ns),
		.touch = usual_figure(null, touch_ns),
		.rest = usual_figure(null, rest_ns),
	};
}

static double known(double figure_ns)
{
	return figure_ns > 0 ? figure_ns : INFINITY;
}

/* Writes how long the null contestant took after calls of the submission, or before them, into
 * `elapsed`. Returns how many of its calls there are. */
static size_t null_by_order(const struct isolated_block *block, bool is_after, double *elapsed)
{
	size_t count = 0;
	for (size_t i = 0; i < block->null.count; i++)
		if (block->null.at[i].is_after == is_after)
			elapsed[count++] = block->null.at[i].elapsed_ns;
	return count;
}

double isolated_order_over(const struct isolated_block *block)
{
	cleanup_scratch double *after = allocate_scratch(block->null.count);
	cleanup_scratch double *before = allocate_scratch(block->null.count);
	const size_t after_count = null_by_order(block, true, after);
	const size_t before_count = null_by_order(block, false, before);
	if (after_count < isolated_least_calls || before_count < isolated_least_calls)
		return 0;
	return isolated_center(values_at(after, after_count))
		- isolated_center(values_at(before, before_count));
}

double isolated_negligible(struct isolated_blocks blocks, const struct isolated_rule *rule)
{
	const double part_of_interval = 0.25;
	double shortest = INFINITY;
	for (size_t i = 0; i < blocks.count; i++)
		shortest = fmin(shortest, center_of(blocks.at[i].calls, elapsed_ns));
	return blocks.count ? part_of_interval * rule->half_share * shortest : 0;
}

/* How much a time of the null contestant may differ without anybody's doing. */
static double block_noise(const struct isolated_block *block, const struct isolated_rule *rule)
{
	return fmax(rule->disturbance_ns, rule->moved_share * block->quiet.empty_ns);
}

static double excess_beyond(double limit, double over)
{
	return over > limit ? over : 0;
}

/* What a call of the null contestant took before a submission was loaded, with its copy. */
static double quiet_call(const struct isolated_block *block)
{
	return isnan(block->quiet.call_ns) ? INFINITY : block->quiet.call_ns + block->quiet.copy_ns;
}

double isolated_disturbance(const struct isolated_block *block, const struct isolated_rule *rule)
{
	const double noise = block_noise(block, rule),
				 over = center_of(block->null, elapsed_ns) - quiet_call(block);
	return fmax(excess_beyond(noise, over), excess_beyond(noise, isolated_order_over(block)));
}

/* What a call of the null contestant takes. A submission that was called first knows that this call
 * follows, and could delay it. If the calls after the submission take longer than those before it,
 * only those before it count. Noise excuses nothing in a disturbed block, because the steady
 * disturbance leaves that block out. */
static double null_estimate(const struct isolated_block *block, const struct isolated_rule *rule)
{
	cleanup_scratch double *elapsed = figures_of(block->null, elapsed_ns);
	size_t count = block->null.count;
	if (excess_beyond(block_noise(block, rule), isolated_order_over(block)) > 0)
		count = null_by_order(block, false, elapsed);
	const double estimate = rule->null_estimate(values_at(elapsed, count));
	return isolated_disturbance(block, rule) > 0 ? fmin(quiet_call(block), estimate) : estimate;
}

/* The judge's own work before a call, as the null contestant shows it. */
static double null_head(const struct isolated_block *block)
{
	return fmin(center_of(block->null, head_ns), isolated_center(block->null_heads));
}

/* The constant of a block, before the other blocks limit it. */
static double own_constant(const struct isolated_block *block, const struct isolated_rule *rule)
{
	return null_estimate(block, rule) + block->delta_ns - rule->empty_ns;
}

/* The most that a figure of the null contestant may be in a block of the case, from its least value
 * in the case: a machine changes its pace within seconds, and all of a block with it. */
static double with_pace(double least, double allowed_ns, double allowed_share)
{
	return least + fmax(allowed_ns, allowed_share * least);
}

struct isolated_limits isolated_limits_of(
	struct isolated_blocks blocks, const struct isolated_rule *rule)
{
	const double share = 1;
	double constant = INFINITY, quiet = INFINITY, head = INFINITY, take = INFINITY,
		   probed = INFINITY;
	size_t undisturbed = 0;
	for (size_t i = 0; i < blocks.count; i++) {
		const struct isolated_block *block = &blocks.at[i];
		undisturbed += isolated_disturbance(block, rule) == 0;
		constant = fmin(constant, own_constant(block, rule) + block_noise(block, rule));
		quiet = fmin(quiet, quiet_call(block) + block->delta_ns - rule->empty_ns);
		/* fmin ignores NAN, the center of no heads. */
		head = fmin(head, null_head(block));
		take = fmin(take, center_of(block->null, touch_and_take_ns));
		probed = fmin(probed, center_of(block->null, probed_ns));
	}
	/* The steady disturbance of so few blocks is unknown, so noise excuses nothing. A submission
	 * can bring this about: it uses up the time limit in calls that do not count. */
	if (undisturbed < isolated_least_blocks)
		constant = fmin(constant, quiet);
	return (struct isolated_limits){
		.constant_ns = constant,
		.head_ns = with_pace(head, rule->overrun_ns, share),
		.take_ns = with_pace(take, rule->overrun_ns, share),
		.probed_ns = with_pace(probed, rule->probe_ns, share),
	};
}

double isolated_constant(const struct isolated_block *block, const struct isolated_rule *rule,
	const struct isolated_limits *limits)
{
	return fmin(limits->constant_ns, own_constant(block, rule));
}

bool isolated_constant_moved(const struct isolated_block *block, const struct isolated_rule *rule)
{
	const size_t half = block->null.count / 2;
	if (half < 2)
		return false;
	const struct isolated_timings first = { block->null.at, half },
								  last = { block->null.at + block->null.count - half, half };
	const double moved_ns = fabs(center_of(first, elapsed_ns) - center_of(last, elapsed_ns));
	return moved_ns > fmax(isolated_negligible((struct isolated_blocks){ block, 1 }, rule),
			   fmax(rule->moved_ns, rule->moved_share * null_estimate(block, rule)));
}

static bool are_uneven(
	struct isolated_timings calls, double noise_ns, const struct isolated_rule *rule)
{
	cleanup_scratch double *figures = figures_of(calls, elapsed_ns);
	const double center = isolated_center(values_at(figures, calls.count));
	return fabs(center - median_in_place(figures, calls.count))
		> fmax(noise_ns, rule->moved_share * center);
}

bool isolated_is_uneven(const struct isolated_block *block, const struct isolated_rule *rule)
{
	const double noise_ns = fmax(
		block_noise(block, rule), isolated_negligible((struct isolated_blocks){ block, 1 }, rule));
	return are_uneven(block->calls, noise_ns, rule) || are_uneven(block->null, noise_ns, rule);
}

/* By how much ours take longer than `expected`; 0 within noise. */
static double excess_over(
	struct isolated_values ours, double expected, double spread, const struct isolated_rule *rule)
{
	const double over = isolated_center(ours) - expected;
	/* The comparison is false for NAN, the center of no values. */
	return excess_beyond(
		fmax(rule->overrun_ns, fmax(rule->overrun_share * expected, 5 * spread)), over);
}

/* The null contestant's usual values of a figure in this block, limited by what may have changed
 * since the time before a submission was loaded. A submission can widen the spread, but not the
 * spread of that time. */
static struct isolated_usual bounded_usual(const struct isolated_block *block,
	timing_figure *figure, double most_ns, double quiet_spread_ns)
{
	const double most_spread = 4;
	const struct isolated_usual found = usual_figure(block->null, figure);
	return (struct isolated_usual){ fmin(most_ns, found.center_ns),
		fmin(most_spread * quiet_spread_ns, found.spread_ns) };
}

static double excess_of(const struct isolated_block *block, timing_figure *figure,
	struct isolated_usual expected, const struct isolated_rule *rule)
{
	cleanup_scratch double *ours = figures_of(block->calls, figure);
	return excess_over(
		values_at(ours, block->calls.count), expected.center_ns, expected.spread_ns, rule);
}

static double probe_over(const struct isolated_block *block, const struct isolated_rule *rule,
	const struct isolated_limits *limits)
{
	const double quiet = with_pace(known(block->quiet.probed_ns), rule->probe_ns, 1),
				 expected = fmin(fmin(quiet, limits->probed_ns), center_of(block->null, probed_ns));
	return excess_beyond(rule->probe_ns, center_of(block->calls, probed_ns) - expected);
}

/* The wait for other work on the GPU may take up to three times as long as before. */
static double most_rest(const struct isolated_block *block, const struct isolated_rule *rule)
{
	return with_pace(block->quiet.rest.center_ns, rule->overrun_ns, 2);
}

/* The most that the judge's own work may take for the null contestant. `output_ns`: at most, what
 * the output adds to the work without an output. */
static double most_work(const struct isolated_quiet *quiet, struct isolated_usual before,
	double output_ns, double limit_ns, const struct isolated_rule *rule)
{
	return isnan(quiet->call_ns)
		? limit_ns
		: fmin(limit_ns, with_pace(before.center_ns + output_ns, rule->overrun_ns, 1));
}

double isolated_overrun(const struct isolated_block *block, const struct isolated_rule *rule,
	const struct isolated_limits *limits)
{
	const struct isolated_quiet *quiet = &block->quiet;
	/* Before a call the judge poisons what the contestant will copy. */
	const double most_head = most_work(quiet, quiet->head, quiet->copy_ns, limits->head_ns, rule),
				 most_take = most_work(quiet, quiet->touch, quiet->take_ns, limits->take_ns, rule);
	const struct isolated_usual head =
									bounded_usual(block, head_ns, most_head, quiet->head.spread_ns),
								take = bounded_usual(
									block, touch_and_take_ns, most_take, quiet->touch.spread_ns),
								rest = bounded_usual(
									block, rest_ns, most_rest(block, rule), quiet->rest.spread_ns);
	const double behind = fmin(head.center_ns, isolated_center(block->null_heads));
	return probe_over(block, rule, limits) + excess_of(block, touch_and_take_ns, take, rule)
		+ excess_of(block, rest_ns, rest, rule)
		+ fmax(excess_of(block, head_ns, head, rule),
			excess_over(block->heads, behind, head.spread_ns, rule));
}

void isolated_samples(const struct isolated_block *block, const struct isolated_rule *rule,
	const struct isolated_limits *limits, double *samples)
{
	const double constant = isolated_constant(block, rule, limits),
				 overrun = isolated_overrun(block, rule, limits),
				 bell = isolated_least(block->bells);
	/* After a shorter touch the GPU was still the judge's: the submission has not used it, and its
	 * call cost no more than the doorbell. */
	const double idle_touch_ns = block->bells.count ? center_of(block->null, touch_ns) / 2 : 0;
	for (size_t i = 0; i < block->calls.count; i++) {
		const struct isolated_timing *call = &block->calls.at[i];
		const bool is_idle = call->touch_ns < idle_touch_ns;
		samples[i] = fmax(1, call->elapsed_ns - (is_idle ? bell : constant) + overrun);
	}
}

/* ---- a case ---- */

static double value_of(const struct isolated_block *block, const struct isolated_rule *rule,
	const struct isolated_limits *limits)
{
	cleanup_scratch double *samples = allocate_scratch(block->calls.count);
	isolated_samples(block, rule, limits, samples);
	return rule->block_estimate(values_at(samples, block->calls.count));
}

void isolated_values_of(
	struct isolated_blocks blocks, const struct isolated_rule *rule, double *values)
{
	const struct isolated_limits limits = isolated_limits_of(blocks, rule);
	for (size_t i = 0; i < blocks.count; i++)
		values[i] = value_of(&blocks.at[i], rule, &limits);
}

/* The confidence level of the interval at a look before the last. */
static const double early_level = 0.99;

static size_t last_look(const struct isolated_looks *looks)
{
	return looks->blocks[looks->count - 1];
}

/* After the last look there is one more, when a case has twice as many blocks. */
bool isolated_is_look(const struct isolated_looks *looks, size_t blocks)
{
	for (size_t i = 0; i < looks->count; i++)
		if (looks->blocks[i] == blocks)
			return true;
	return blocks >= 2 * last_look(looks);
}

/* Half of the interval that a case may have with this mean. */
static double most_half(double mean, const struct isolated_rule *rule)
{
	return rule->half_ns + rule->half_share * mean;
}

bool isolated_is_enough(struct isolated_values values, const struct isolated_rule *rule)
{
	/* Below 40 us a share is too much to ask: from job to job the constant is off by 0.1 to 0.2 us,
	 * which no number of blocks shows. */
	const double short_ns = 40e3, allowed_ns = 400, allowed_share = 0.01;
	if (!isolated_is_look(&rule->looks, values.count))
		return false;
	const double mean = isolated_mean(values);
	if (values.count >= last_look(&rule->looks))
		return values.count >= 2 * last_look(&rule->looks)
			|| isolated_half_width(values, 0.95) <= most_half(mean, rule);
	const double allowed = mean < short_ns ? allowed_ns : allowed_share * mean;
	return isolated_half_width(values, early_level) <= allowed;
}

bool isolated_may_repeat(size_t repeated, size_t blocks)
{
	return repeated < isolated_most_repeats + blocks / 4;
}

bool isolated_are_spoiled(size_t disturbed, size_t blocks)
{
	return 4 * disturbed > blocks;
}

bool isolated_is_long_enough(size_t blocks, double took_s, const struct isolated_rule *rule)
{
	return took_s >= rule->enough_s && blocks >= rule->looks.blocks[0];
}

/* Returns how much longer than before the controls took, of all blocks that no disturbance spoils.
 * They are in scratch memory that the caller frees. */
static double *pool_controls(
	struct isolated_blocks blocks, const struct isolated_rule *rule, size_t *count)
{
	size_t most = 0;
	for (size_t i = 0; i < blocks.count; i++)
		most += blocks.at[i].controls.count;
	double *overs = allocate_scratch(most);
	*count = 0;
	for (size_t i = 0; i < blocks.count; i++) {
		const struct isolated_block *block = &blocks.at[i];
		if (isolated_disturbance(block, rule) > 0)
			continue;
		for (size_t k = 0; k < block->controls.count; k++)
			overs[(*count)++] = block->controls.at[k] - block->quiet.empty_ns;
	}
	return overs;
}

/* Adds by how much each call of the null contestant differs from the center of its block. */
static void pool_by_order(
	const struct isolated_block *block, bool is_after, double *pool, size_t *count)
{
	const double center = center_of(block->null, elapsed_ns);
	const size_t first = *count;
	*count += null_by_order(block, is_after, pool + first);
	for (size_t i = first; i < *count; i++)
		pool[i] -= center;
}

/* The calls of all blocks together: a block of few calls cannot show what order costs. */
static double pooled_order_over(struct isolated_blocks blocks, const struct isolated_rule *rule)
{
	size_t most = 0, after_count = 0, before_count = 0, used = 0;
	for (size_t i = 0; i < blocks.count; i++)
		most += blocks.at[i].null.count;
	cleanup_scratch double *after = allocate_scratch(most);
	cleanup_scratch double *before = allocate_scratch(most);
	for (size_t i = 0; i < blocks.count; i++) {
		const struct isolated_block *block = &blocks.at[i];
		if (!block->null.count || isolated_disturbance(block, rule) > 0)
			continue;
		pool_by_order(block, true, after, &after_count);
		pool_by_order(block, false, before, &before_count);
		used++;
	}
	if (used < isolated_least_blocks || after_count < isolated_least_calls
		|| before_count < isolated_least_calls)
		return 0;
	return isolated_center(values_at(after, after_count))
		- isolated_center(values_at(before, before_count));
}

/* Needs the controls of four blocks, so that the center has its full breakdown point. */
double isolated_steady_disturbance(struct isolated_blocks blocks, const struct isolated_rule *rule)
{
	size_t count;
	cleanup_scratch double *controls = pool_controls(blocks, rule, &count);
	const double over = count && count >= isolated_least_blocks * rule->controls
		? isolated_center(values_at(controls, count))
		: 0;
	return excess_beyond(rule->steady_disturbance_ns, fmax(over, pooled_order_over(blocks, rule)));
}

bool isolated_delays_probes(struct isolated_blocks blocks, const struct isolated_rule *rule)
{
	const struct isolated_limits limits = isolated_limits_of(blocks, rule);
	size_t late = 0;
	for (size_t i = 0; i < blocks.count; i++)
		late += probe_over(&blocks.at[i], rule, &limits) > rule->overrun_ns;
	return 2 * late > blocks.count;
}

/* The standard deviation of what a process adds to a time, from job to job: no number of blocks
 * shows it. */
static double process_error(double time_ns, const struct isolated_rule *rule)
{
	return hypot(rule->process_ns, rule->process_share * time_ns);
}

/* What a case adds and subtracts on the way to its time. */
struct corrections {
	struct isolated_limits limits;
	double steady_ns;
};

/* Charges every call of a case. Returns how many there are. */
static size_t sample_all(struct isolated_blocks blocks, const struct isolated_rule *rule,
	const struct corrections *corrections, double *samples)
{
	size_t count = 0;
	for (size_t i = 0; i < blocks.count; i++) {
		isolated_samples(&blocks.at[i], rule, &corrections->limits, samples + count);
		count += blocks.at[i].calls.count;
	}
	for (size_t i = 0; i < count; i++)
		samples[i] += corrections->steady_ns;
	return count;
}

static void sum_up_corrections(struct isolated_blocks blocks, const struct isolated_rule *rule,
	const struct corrections *corrections, struct isolated_summary *summary)
{
	cleanup_scratch double *constants = allocate_scratch(blocks.count);
	cleanup_scratch double *overruns = allocate_scratch(blocks.count);
	cleanup_scratch double *disturbances = allocate_scratch(blocks.count);
	for (size_t i = 0; i < blocks.count; i++) {
		constants[i] = isolated_constant(&blocks.at[i], rule, &corrections->limits);
		overruns[i] = isolated_overrun(&blocks.at[i], rule, &corrections->limits);
		disturbances[i] = isolated_disturbance(&blocks.at[i], rule);
	}
	summary->constant_ns =
		fmax(1, median_in_place(constants, blocks.count) - corrections->steady_ns);
	summary->overrun_ns = isolated_mean(values_at(overruns, blocks.count));
	summary->disturbance_ns =
		isolated_mean(values_at(disturbances, blocks.count)) + corrections->steady_ns;
}

/* How noise counts in a time, so that it does not help in a tie: if half of the interval is larger
 * than allowed, the upper end is the time, with the half that is allowed. */
struct noise {
	bool is_wide;
	double extra_ns, half_ns; /* added to the mean; half of the interval then */
};

static struct noise charge_noise(double mean_ns, double half_ns, const struct isolated_rule *rule)
{
	const double most = most_half(mean_ns, rule);
	const bool is_wide = isfinite(half_ns) && half_ns > most;
	return (struct noise){ is_wide, is_wide ? half_ns : 0, is_wide ? most : half_ns };
}

/* With a single block, only its calls say how far it may be off. */
static void sum_up_time(struct isolated_values values, struct isolated_values samples,
	const struct isolated_rule *rule, struct isolated_summary *summary)
{
	const struct isolated_values units = values.count > 1 ? values : samples;
	const double std = isolated_deviation(samples), mean = isolated_mean(values),
				 process = process_error(mean, rule),
				 half = units.count > 1 ? isolated_half_width(units, 0.95) : std,
				 err = isolated_standard_error(units);
	const struct noise noise = charge_noise(mean, half, rule);
	summary->surcharge_ns = noise.extra_ns;
	summary->mean_ns = mean + noise.extra_ns;
	summary->err_ns = hypot(noise.is_wide ? fmin(err, noise.half_ns / 2) : err, process);
	summary->low_ns = fmax(1, mean - hypot(half, 2 * process));
	summary->high_ns = mean + noise.extra_ns + hypot(noise.half_ns, 2 * process);
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
	const struct corrections corrections = { isolated_limits_of(blocks, rule),
		isolated_steady_disturbance(blocks, rule) };
	struct isolated_summary summary = {
		.own_ns = isolated_median(own),
		.runs = sample_all(blocks, rule, &corrections, samples),
		.blocks = blocks.count,
	};
	cleanup_scratch double *values = allocate_scratch(blocks.count);
	isolated_values_of(blocks, rule, values);
	for (size_t i = 0; i < blocks.count; i++)
		values[i] += corrections.steady_ns;
	sum_up_time(values_at(values, blocks.count), values_at(samples, summary.runs), rule, &summary);
	sum_up_corrections(blocks, rule, &corrections, &summary);
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

/* Returns the logarithm of each pair's ratio, in scratch memory that the caller frees. */
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

struct side_time {
	double mean_ns, half_ns; /* half of its interval; INFINITY: unknown */
};

static struct side_time time_of_side(
	struct isolated_values values, const struct isolated_rule *rule)
{
	const double mean = isolated_mean(values);
	const struct noise noise = charge_noise(mean, isolated_half_width(values, 0.95), rule);
	return (struct side_time){ mean + noise.extra_ns, noise.half_ns };
}

struct isolated_comparison isolated_apart(
	struct isolated_values ours, struct isolated_values theirs, const struct isolated_rule *rule)
{
	const struct side_time our = time_of_side(ours, rule), their = time_of_side(theirs, rule);
	const double process = unseen_difference(their.mean_ns, rule);
	struct isolated_comparison apart = compare_by(log(our.mean_ns / their.mean_ns),
		hypot(hypot(our.half_ns / our.mean_ns, their.half_ns / their.mean_ns), process),
		hypot(isolated_standard_error(ours) / our.mean_ns,
			isolated_standard_error(theirs) / their.mean_ns),
		their.mean_ns);
	apart.is_apart = true;
	return apart;
}

/* Half of the interval, as a logarithm. */
static double half_of(struct isolated_comparison one)
{
	return log(one.high / one.low) / 2;
}

struct isolated_comparison isolated_compared(
	struct isolated_comparison in_turns, struct isolated_comparison apart)
{
	const double drift = 0.01; /* of a machine within a run, as a logarithm */
	const double turns_half = half_of(in_turns), apart_half = half_of(apart);
	if (!isolated_agree(in_turns, apart) || turns_half > fmax(drift, apart_half)) {
		const double half = hypot(apart_half, drift);
		apart.low = apart.ratio * exp(-half);
		apart.high = apart.ratio * exp(half);
		return apart;
	}
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
	if (ours.count >= last_look(&rule->pair_looks))
		return true;
	if (!isolated_is_look(&rule->pair_looks, ours.count))
		return false;
	cleanup_scratch double *log_ratios = logs_of(ours, theirs);
	const struct isolated_values logs = values_at(log_ratios, ours.count);
	const double half = isolated_half_width(logs, early_level);
	return half <= equal_within
		|| fabs(isolated_mean(logs)) > hypot(half, unseen_difference(isolated_mean(theirs), rule));
}
