/* The statistics of a case: blocks of calls, the constant that is subtracted, intervals, and when
 * to stop. What podium_statistics.py is to the judge in Python; a test holds the two against each
 * other, and docs/judge.md gives the reasons. All times are ns. */
#ifndef PODIUM_ISOLATED_BLOCKS_H
#define PODIUM_ISOLATED_BLOCKS_H

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <numbers>
#include <numeric>
#include <optional>
#include <utility>
#include <vector>

namespace podium
{

using Values = std::vector<double>;

/* For whose mean a relative half-width is too much to ask: 0.4 us are enough, since from job to job
 * the constant is off by 0.1 to 0.2 us, which no number of blocks shows. */
constexpr double short_ns = 40'000, enough_ns = 400, enough = 0.01;
constexpr int most_repeats = 6;  /* of blocks */
constexpr int most_attempts = 3; /* at a case */
constexpr std::size_t most_samples = 4000;
constexpr double enough_ratio = 0.0025; /* half-width of the logarithm of a ratio */

/* How a case is measured on a kind of device. */
struct Rule {
	std::size_t calls; /* of a block */
	std::vector<std::size_t>
		looks; /* numbers of blocks after which it may end; the last one always ends it */
	std::vector<std::size_t> pair_looks; /* the same for pairs of blocks in a comparison */
	double most_s;                       /* for the blocks of a case */
	std::size_t least_warm_calls, most_warm_calls; /* verified, not counted; */
	double warm_s;                                 /* between the two: for so long */
	std::size_t bells; /* of a block: calls that show what the bell alone costs */
	double wait_ns; /* most for which the judge waits behind a null's call, which is done sooner */
	double overrun_ns,
		overrun;     /* noise of the judge's own work: ns, a share; infinite: not looked at */
	double empty_ns; /* what the empty kernel of the constant takes itself: no part of it */
	std::size_t calibrations; /* blocks of empty kernels before a submission is loaded */
	double process_ns,
		process; /* standard deviation of what a process adds to its calls: ns, a share */
	double
		open_before_ns; /* so long before a call usually ends its gate opens: when its GPU begins */
	std::size_t controls; /* of a block: the null's empty kernel among the calls */
	double disturbance_ns,
		steady_disturbance_ns; /* by which that may be longer than in the beginning: in a block, and
	                     on average over the blocks of a case */
	double moved_ns,
		moved; /* by which the constant may move between the halves of a block: ns, a share */
	double (*usual)(Values);  /* of the null's calls: what of them is the constant */
	double (*center)(Values); /* of the calls: what of them is the value of a block */
};

inline double median(Values values)
{
	std::sort(values.begin(), values.end());
	std::size_t middle = values.size() / 2;
	return values.size() % 2 ? values[middle] : (values[middle - 1] + values[middle]) / 2;
}

/* Hodges and Lehmann's: the median of the means of all pairs, each value with itself as well. Of
 * normal noise it leaves two thirds of what the median leaves, and of even noise a third; a quarter
 * of the values may be anything. */
inline double center(Values values)
{
	Values means;
	means.reserve(values.size() * (values.size() + 1) / 2);
	for (std::size_t i = 0; i < values.size(); i++)
		for (std::size_t k = i; k < values.size(); k++)
			means.push_back((values[i] + values[k]) / 2);
	return median(std::move(means));
}

/* Nothing makes a call shorter than it is, but on a machine whose processors others use as well
 * much makes it longer, and a constant that is too large is a charge that is too small. */
inline double least(Values values)
{
	return *std::min_element(values.begin(), values.end());
}

constexpr double no_limit = std::numeric_limits<double>::infinity(), not_looked_at = no_limit;
inline const Rule cuda_rule = { 13, { 6, 7, 8, 10, 12, 16, 20, 26, 34, 46, 60, 76 },
	{ 12, 16, 20, 26, 32, 38 }, 60, 8, 100, 0.05, 2, 50e6, 20'000, 0.15, 600, 40, 200, 0.0008,
	20'000, 3, 3000, 2000, 500, 0.03, center, center };
/* For trying things out: a case ends within seconds. Who works on after its call does so on another
 * core, unseen. */
inline const Rule cpu_rule = { 5, { 4 }, { 2, 4 }, 2, 1, 1, 0, 0, 0, not_looked_at, not_looked_at,
	0, 0, 0, 0, 0, 0, 0, 0, 5000, 0.5, least, median };
constexpr std::size_t least_calls = 3, least_blocks = 4,
					  least_controls = 3; /* with fewer blocks, the page says so */

inline double mean(const Values &values)
{
	return std::accumulate(values.begin(), values.end(), 0.0) / static_cast<double>(values.size());
}

/* The standard deviation of the sample. */
inline double deviation(const Values &values)
{
	double middle = mean(values), squares = 0;
	for (double value : values)
		squares += (value - middle) * (value - middle);
	return values.size() > 1 ? std::sqrt(squares / static_cast<double>(values.size() - 1)) : 0;
}

/* ---- Student's t ---- */

/* The probability that |T| <= t: the finite sums of Abramowitz and Stegun, 26.7.3 and 26.7.4. */
inline double within(double t, std::size_t freedom)
{
	bool odd = freedom % 2;
	double angle = std::atan(t / std::sqrt(static_cast<double>(freedom))), cosine = std::cos(angle),
		   sine = std::sin(angle);
	double term = odd ? cosine : 1, total = term;
	for (std::size_t k = odd ? 3 : 2; k + 1 < freedom; k += 2) {
		term *= cosine * cosine * static_cast<double>(k - 1) / static_cast<double>(k);
		total += term;
	}
	return odd ? 2 / std::numbers::pi * (angle + (freedom > 1 ? sine * total : 0)) : sine * total;
}

/* The t that |T| stays below with this probability. */
inline double t_quantile(double level, std::size_t freedom)
{
	double low = 0, high = 1;
	while (within(high, freedom) < level)
		high *= 2;
	for (int i = 0; i < 80; i++) {
		double middle = (low + high) / 2;
		(within(middle, freedom) < level ? low : high) = middle;
	}
	return high;
}

/* Of their mean. */
inline double standard_error(const Values &values)
{
	return deviation(values) / std::sqrt(static_cast<double>(values.size()));
}

/* Of the interval for their mean; infinite for a single one. */
inline double half_width(const Values &values, double level = 0.95)
{
	if (values.size() < 2)
		return std::numeric_limits<double>::infinity();
	return t_quantile(level, values.size() - 1) * standard_error(values);
}

/* ---- blocks ---- */

/* One call: from the end of the judge's own work to "done"; then until the GPU had done the least
 * that there is for the judge; then until the output was copied. */
struct Timed {
	double elapsed_ns, touch_ns = 0, take_ns = 0;
	double head_ns = 0;    /* how long the GPU was at the judge's own work before */
	double rest_ns = 0;    /* until nobody else wanted a turn on the GPU any more */
	bool is_after = false; /* one of the null: it came right behind the submission's with the same
	                          input, not before */
};

using Calls = std::vector<Timed>;

inline Values figures_of(const Calls &calls, double Timed::*figure)
{
	Values made;
	for (const Timed &call : calls)
		made.push_back(call.*figure);
	return made;
}

inline Values elapsed_of(const Calls &calls)
{
	return figures_of(calls, &Timed::elapsed_ns);
}

/* Calls of one case in a row, the null contestant's between them. */
struct Block {
	Calls calls, null; /* those that count, and the null's */
	Values heads,
		null_heads;      /* how long the judge's own work before the next call took, after each */
	Values bells;        /* what the bell alone costs */
	Values controls;     /* what the null's empty kernel costs now, */
	double quiet_ns = 0; /* and what it cost before any submission was loaded */
	double delta_ns = 0; /* what a call of this contestant costs more than one of the null */
	std::uint64_t slowed_by = 0; /* NVML's bits at its end */

	/* What is subtracted from a call. `most`: by most_constant. */
	double constant(const Rule &rule, double most = no_limit) const
	{
		return std::min(most, plain_constant(rule) - beyond(control_over(), rule));
	}

	/* The same where nobody disturbs. */
	double plain_constant(const Rule &rule) const
	{
		return usual_null(rule) + delta_ns - rule.empty_ns;
	}

	/* By how much what the null takes may differ where nobody disturbs. */
	double noise(const Rule &rule) const
	{
		return std::max(rule.disturbance_ns, rule.moved * quiet_ns);
	}

	/* By how much the null's calls are longer because somebody keeps the device busy meanwhile, who
	 * would like them to be; 0 within noise. */
	double disturbance(const Rule &rule) const
	{
		return std::max(beyond(control_over(), rule), beyond(order_over(), rule));
	}

	/* By how much the empty kernels took longer than in the beginning; 0 where there are too few to
	 * say. */
	double control_over() const
	{
		return controls.size() >= least_controls ? median(controls) - quiet_ns : 0;
	}

	/* By how much the null's calls are longer behind one of the submission's than before one; 0
	 * where there are too few to say, or where empty kernels are not looked at either. */
	double order_over() const
	{
		Values after = null_by_order(true), before = null_by_order(false);
		bool can_say = controls.size() >= least_controls
			&& std::min(after.size(), before.size()) >= least_controls;
		return can_say ? median(after) - median(before) : 0;
	}

	/* Whether it is another in the second half of the block. */
	bool constant_moved(const Rule &rule) const
	{
		auto half = static_cast<std::ptrdiff_t>(null.size() / 2);
		if (half < 2)
			return false;
		Values all = elapsed_of(null);
		double before = median({ all.begin(), all.begin() + half }),
			   after = median({ all.end() - half, all.end() });
		return std::abs(before - after) > std::max(rule.moved_ns, rule.moved * usual_null(rule));
	}

	/* What the contestant kept the device busy with before and after its calls, per call; 0 within
	 * noise. */
	double overrun(const Rule &rule) const
	{
		return excess(takes_of(calls), takes_of(null), rule)
			+ excess(figures_of(calls, &Timed::rest_ns), figures_of(null, &Timed::rest_ns), rule)
			+ std::max(
				excess(figures_of(calls, &Timed::head_ns), figures_of(null, &Timed::head_ns), rule),
				excess(heads, null_heads, rule));
	}

	/* Whether the device was still the judge's when this call had ended: the contestant has not
	 * computed on it, and what its call cost is not what a call costs that does. */
	bool is_idle(const Timed &call) const
	{
		return !bells.empty() && call.touch_ns < median(figures_of(null, &Timed::touch_ns)) / 2;
	}

	/* What each call is charged. */
	Values samples(const Rule &rule, double most = no_limit) const
	{
		double usual = constant(rule, most), over = overrun(rule),
			   bell = bells.empty() ? 0 : median(bells);
		Values made;
		for (const Timed &call : calls)
			made.push_back(std::max(1.0, call.elapsed_ns - (is_idle(call) ? bell : usual) + over));
		return made;
	}

	double value(const Rule &rule, double most = no_limit) const
	{
		return rule.center(samples(rule, most));
	}

  private:
	double beyond(double over, const Rule &rule) const
	{
		return over > noise(rule) ? over : 0;
	}

	Values null_by_order(bool is_after) const
	{
		Values made;
		for (const Timed &call : null)
			if (call.is_after == is_after)
				made.push_back(call.elapsed_ns);
		return made;
	}

	/* Somebody who makes the null's calls longer knows that one follows when he was called first,
	 * and not when none does. */
	double usual_null(const Rule &rule) const
	{
		return rule.usual(beyond(order_over(), rule) > 0 ? null_by_order(false) : elapsed_of(null));
	}

	static Values takes_of(const Calls &calls)
	{
		Values made;
		for (const Timed &call : calls)
			made.push_back(call.touch_ns + call.take_ns);
		return made;
	}

	/* By how much the one is longer than the other; 0 within noise. */
	static double excess(const Values &ours, const Values &usual, const Rule &rule)
	{
		if (ours.empty() || usual.empty() || rule.overrun_ns == not_looked_at)
			return 0;
		double expected = median(usual), over = median(ours) - expected;
		Values off;
		for (double one : usual)
			off.push_back(std::abs(one - expected));
		return over > std::max({ rule.overrun_ns, rule.overrun * expected, 5 * median(off) }) ? over
																							  : 0;
	}
};

using Blocks = std::vector<Block>;

/* What may be subtracted in any block of a case. Somebody who keeps the null's calls from the GPU
 * in some blocks, and empty kernels by chance in others, would have blocks in which he takes no
 * time. */
inline double most_constant(const Blocks &blocks, const Rule &rule)
{
	double most = no_limit;
	for (const Block &block : blocks)
		if (rule.controls)
			most = std::min(most, block.plain_constant(rule) + block.noise(rule));
	return most;
}

inline Values values_of(const Blocks &blocks, const Rule &rule)
{
	double most = most_constant(blocks, rule);
	Values values;
	for (const Block &block : blocks)
		values.push_back(block.value(rule, most));
	return values;
}

/* Whether the mean of these blocks is known well enough. */
inline bool is_known(const Values &values, double level)
{
	double middle = mean(values), allowed = middle < short_ns ? enough_ns : enough * middle;
	return half_width(values, level) <= allowed;
}

/* How sure one must be to end at this look; nothing where it is none. */
inline std::optional<double> level_at(const std::vector<std::size_t> &looks, std::size_t count)
{
	if (std::find(looks.begin(), looks.end(), count) == looks.end())
		return std::nullopt;
	return count == looks.back() ? 0.95 : 0.99;
}

/* Whether a case may end after these blocks. */
inline bool is_enough(const Values &values, const Rule &rule)
{
	if (values.size() >= rule.looks.back())
		return true;
	auto level = level_at(rule.looks, values.size());
	return level && is_known(values, *level);
}

/* What is too little to show in one block, and shows in all of them together; 0 within noise. */
inline double steady_disturbance(const Blocks &blocks, const Rule &rule)
{
	Values controls, orders;
	for (const Block &block : blocks)
		if (block.disturbance(rule) == 0 && block.controls.size() >= least_controls) {
			controls.push_back(block.control_over());
			orders.push_back(block.order_over());
		}
	double steady = controls.size() >= least_blocks ? std::max(mean(controls), mean(orders)) : 0;
	return steady > rule.steady_disturbance_ns ? steady : 0;
}

/* The standard deviation of what the process adds to a time, from job to job: no number of blocks
 * shows it. */
inline double process_error(double time_ns, const Rule &rule)
{
	return std::hypot(rule.process_ns, rule.process * time_ns);
}

/* The figures of a case. */
struct Summary {
	Values samples;
	double mean_ns, std_ns, err_ns, low_ns, high_ns, median_ns, best_ns, worst_ns, constant_ns,
		overrun_ns, disturbance_ns;
	std::optional<double> own_ns;
	std::size_t runs, blocks;

	/* `own`: what the contestant measured itself. */
	Summary(const Blocks &all, const Values &own, const Rule &rule)
	{
		Values values, constants, overruns, disturbances;
		double steady = steady_disturbance(all, rule), most = most_constant(all, rule);
		for (const Block &block : all) {
			Values sampled = block.samples(rule, most);
			values.push_back(rule.center(sampled) + steady);
			for (double sample : sampled)
				samples.push_back(sample + steady);
			constants.push_back(block.constant(rule, most));
			overruns.push_back(block.overrun(rule));
			disturbances.push_back(block.disturbance(rule));
		}
		/* With one block there is nothing but its calls to say how far it may be off. */
		const Values &units = values.size() > 1 ? values : samples;
		mean_ns = mean(values);
		std_ns = deviation(samples);
		err_ns = std::hypot(standard_error(units), process_error(mean_ns, rule));
		double half = half_width(units);
		half = std::hypot(std::isfinite(half) ? half : std_ns, 2 * process_error(mean_ns, rule));
		low_ns = std::max(1.0, mean_ns - half);
		high_ns = mean_ns + half;
		median_ns = median(samples);
		auto [best, worst] = std::minmax_element(values.begin(), values.end());
		best_ns = *best;
		worst_ns = *worst;
		constant_ns = std::max(1.0, median(constants) - steady);
		overrun_ns = mean(overruns);
		disturbance_ns = mean(disturbances) + steady;
		if (!own.empty())
			own_ns = median(own);
		runs = samples.size();
		blocks = all.size();
	}
};

/* At most so many of them, evenly. */
inline Values thinned(const Values &samples, std::size_t most = most_samples)
{
	if (samples.size() <= most)
		return samples;
	Values made;
	for (std::size_t i = 0; i < most; i++)
		made.push_back(samples[i * samples.size() / most]);
	return made;
}

/* ---- comparisons ---- */

inline Values logs_of(const Values &ours, const Values &theirs)
{
	Values logs;
	for (std::size_t i = 0; i < ours.size(); i++)
		logs.push_back(std::log(ours[i] / theirs[i]));
	return logs;
}

/* By how much two processes with the same submission differ, as a logarithm, with 95 %: no number
 * of blocks shows it. `rival_ns`: what the other one takes. */
inline double unseen(double rival_ns, const Rule &rule)
{
	return 2 * process_error(rival_ns, rule) / rival_ns;
}

/* How much longer the entry takes than the rival. */
struct Comparison {
	double ratio, low, high, err, rival_ns;
	bool is_apart = false; /* each by itself */

	/* `log`: the logarithm of the ratio; `half`: half of its 95 % interval; `standard_error`: its
	 * own */
	Comparison(double log, double half, double standard_error, double rival)
		: ratio(std::exp(log)), err(standard_error), rival_ns(rival)
	{
		half = std::isfinite(half) ? half : std::numbers::ln2;
		low = std::exp(log - half);
		high = std::exp(log + half);
	}

	/* Whether one ratio can be meant. */
	bool agrees_with(const Comparison &other) const
	{
		return low <= other.high && other.low <= high;
	}
};

/* Of pairs of blocks with the same inputs. */
inline Comparison in_turns(const Values &ours, const Values &theirs, const Rule &rule)
{
	Values logs = logs_of(ours, theirs);
	double rival = mean(theirs);
	return { mean(logs), std::hypot(half_width(logs), unseen(rival, rule)), standard_error(logs),
		rival };
}

/* Of blocks of each by itself, as many as it took. */
inline Comparison apart(const Values &ours, const Values &theirs, const Rule &rule)
{
	double our = mean(ours), their = mean(theirs);
	return { std::log(our / their),
		std::hypot(half_width(ours) / our, half_width(theirs) / their, unseen(their, rule)),
		std::hypot(standard_error(ours) / our, standard_error(theirs) / their), their };
}

/* What drifts meets both alike in turns; but then each can slow the other down, who is not called,
 * and by itself it cannot. So the ratio is the one nearer to 1, and its interval holds both:
 * neither a drift nor a trick makes one faster. */
inline Comparison compared(const Comparison &in_turns, Comparison apart)
{
	apart.is_apart = true;
	Comparison found =
		std::abs(std::log(apart.ratio)) < std::abs(std::log(in_turns.ratio)) ? apart : in_turns;
	found.low = std::min(in_turns.low, apart.low);
	found.high = std::max(in_turns.high, apart.high);
	return found;
}

/* Whether a comparison may end after these pairs of blocks: one is faster for sure, or they are the
 * same within 0.25 %. */
inline bool is_decided(const Values &ours, const Values &theirs, const Rule &rule)
{
	if (ours.size() >= rule.pair_looks.back())
		return true;
	auto level = level_at(rule.pair_looks, ours.size());
	if (!level)
		return false;
	Values logs = logs_of(ours, theirs);
	double half = half_width(logs, *level);
	return half <= enough_ratio
		|| std::abs(mean(logs)) > std::hypot(half, unseen(mean(theirs), rule));
}

} // namespace podium

#endif
