/* The charges of a block's calls, and how much the submission disturbed the judge's measurements.
 */
#include "statistics_inside.h"

#include <math.h>
#include <stdlib.h>

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
	double *figures = isolated_scratch(calls.count);
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
	return isolated_usual_of(values_at(figures, calls.count));
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

/* Writes elapsed_ns of the null contestant's calls into `elapsed`: only of the calls after the
 * submission's, or only of those before. Returns how many there are. */
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
	cleanup_scratch double *after = isolated_scratch(block->null.count);
	cleanup_scratch double *before = isolated_scratch(block->null.count);
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

/* How much the null contestant's times may differ although nobody disturbs them. */
static double block_noise(const struct isolated_block *block, const struct isolated_rule *rule)
{
	return fmax(rule->disturbance_ns, rule->moved_share * block->quiet.empty_ns);
}

static double excess_beyond(double limit, double over)
{
	return over > limit ? over : 0;
}

/* A call of the null contestant before a submission was loaded, plus the copy of the outputs. */
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

/* How long a call of the null contestant takes. A submission that is called first knows that the
 * null contestant follows, and could delay it. So if the calls after the submission's take longer
 * than noise, only the calls before count. In a disturbed block the estimate is at most quiet_call,
 * without an allowance for noise: isolated_steady_disturbance leaves such blocks out, so nothing
 * else would limit how much noise the submission can add. */
static double null_estimate(const struct isolated_block *block, const struct isolated_rule *rule)
{
	cleanup_scratch double *elapsed = figures_of(block->null, elapsed_ns);
	size_t count = block->null.count;
	if (excess_beyond(block_noise(block, rule), isolated_order_over(block)) > 0)
		count = null_by_order(block, false, elapsed);
	const double estimate = rule->null_estimate(values_at(elapsed, count));
	return isolated_disturbance(block, rule) > 0 ? fmin(quiet_call(block), estimate) : estimate;
}

/* The judge's own work before a call: the smaller of the heads before the null contestant's calls
 * and the heads after them. */
static double null_head(const struct isolated_block *block)
{
	return fmin(center_of(block->null, head_ns), isolated_center(block->null_heads));
}

/* The constant of a block, before the other blocks limit it. */
static double own_constant(const struct isolated_block *block, const struct isolated_rule *rule)
{
	return null_estimate(block, rule) + block->delta_ns - rule->empty_ns;
}

/* The most that a figure of the null contestant may be in a block, from the figure's least value.
 * It may grow by allowed_share, because a machine changes its pace within seconds and slows all
 * calls of a block. */
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
		/* The center of no heads is NAN, which fmin ignores. */
		head = fmin(head, null_head(block));
		take = fmin(take, center_of(block->null, touch_and_take_ns));
		probed = fmin(probed, center_of(block->null, probed_ns));
	}
	/* With fewer blocks than this, a steady disturbance would not show, so the limit allows no
	 * noise. A submission can cause that by using up the time limit in calls that do not count. */
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
	return fabs(center - isolated_median_in_place(figures, calls.count))
		> fmax(noise_ns, rule->moved_share * center);
}

bool isolated_is_uneven(const struct isolated_block *block, const struct isolated_rule *rule)
{
	const double noise_ns = fmax(
		block_noise(block, rule), isolated_negligible((struct isolated_blocks){ block, 1 }, rule));
	return are_uneven(block->calls, noise_ns, rule) || are_uneven(block->null, noise_ns, rule);
}

/* How much longer `ours` takes than `expected`; 0 within noise. */
static double excess_over(
	struct isolated_values ours, double expected, double spread, const struct isolated_rule *rule)
{
	const double over = isolated_center(ours) - expected;
	/* The center of no values is NAN, for which excess_beyond returns 0. */
	return excess_beyond(
		fmax(rule->overrun_ns, fmax(rule->overrun_share * expected, 5 * spread)), over);
}

/* The null contestant's usual values of a figure in this block, at most `most_ns` and four times
 * `quiet_spread_ns`, the spread before a submission was loaded. A submission can widen the spread
 * in the block, but not that one. */
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

/* The most that the judge accepts as the null contestant's rest: three times what it was before a
 * submission was loaded, or overrun_ns more. */
static double most_rest(const struct isolated_block *block, const struct isolated_rule *rule)
{
	return with_pace(block->quiet.rest.center_ns, rule->overrun_ns, 2);
}

/* The most that the judge accepts as the null contestant's figure for the judge's own work.
 * `before`: the figure before a submission was loaded, with no output; `output_ns`: the most that
 * an output adds. */
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
	/* The head poisons the place of the output, which takes no longer than to copy the output. */
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
	/* A shorter touch shows that the GPU did not switch contexts. Then the submission has not used
	 * the GPU, and only the doorbell's cost is subtracted from the call. */
	const double idle_touch_ns = block->bells.count ? center_of(block->null, touch_ns) / 2 : 0;
	for (size_t i = 0; i < block->calls.count; i++) {
		const struct isolated_timing *call = &block->calls.at[i];
		const bool is_idle = call->touch_ns < idle_touch_ns;
		samples[i] = fmax(1, call->elapsed_ns - (is_idle ? bell : constant) + overrun);
	}
}

/* ---- the blocks of a case together ---- */

/* Returns how much longer each control took than an empty kernel before a submission was loaded,
 * for all undisturbed blocks. The result is in scratch memory that the caller frees. */
static double *pool_controls(
	struct isolated_blocks blocks, const struct isolated_rule *rule, size_t *count)
{
	size_t most = 0;
	for (size_t i = 0; i < blocks.count; i++)
		most += blocks.at[i].controls.count;
	double *overs = isolated_scratch(most);
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

/* Appends to `pool` how much each null call of this order differs from the center of the block's
 * null calls. */
static void pool_by_order(
	const struct isolated_block *block, bool is_after, double *pool, size_t *count)
{
	const double center = center_of(block->null, elapsed_ns);
	const size_t first = *count;
	*count += null_by_order(block, is_after, pool + first);
	for (size_t i = first; i < *count; i++)
		pool[i] -= center;
}

/* isolated_order_over for the calls of all undisturbed blocks together, because a single block has
 * too few calls to show a small difference. */
static double pooled_order_over(struct isolated_blocks blocks, const struct isolated_rule *rule)
{
	size_t most = 0, after_count = 0, before_count = 0, used = 0;
	for (size_t i = 0; i < blocks.count; i++)
		most += blocks.at[i].null.count;
	cleanup_scratch double *after = isolated_scratch(most);
	cleanup_scratch double *before = isolated_scratch(most);
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

/* The center of few controls tolerates too few outliers, so controls count only if there are as
 * many as in four blocks. */
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
