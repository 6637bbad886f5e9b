/* Classes in which the judge of CUDA C++ tasks keeps the times of a case's calls, and the functions
 * of statistics.h for std::vector. */
#ifndef PODIUM_ISOLATED_BLOCKS_H
#define PODIUM_ISOLATED_BLOCKS_H

#include "statistics.h"

#include <cstddef>
#include <cstdint>
#include <vector>

namespace podium
{

using Rule = isolated_rule;
using Timing = isolated_timing;
using Comparison = isolated_comparison;
using Values = std::vector<double>;

inline isolated_values view(const Values &values)
{
	return { values.data(), values.size() };
}

inline double median(const Values &values)
{
	return isolated_median(view(values));
}

inline double center(const Values &values)
{
	return isolated_center(view(values));
}

/* An isolated_block that owns its arrays. */
struct Block {
	std::vector<Timing> calls, null;
	Values heads, null_heads, bells, controls;
	Values pair_s; /* for each input: how long making it, the calls and the checks took */
	isolated_quiet quiet = {};
	double delta_ns = 0;
	std::uint64_t slowed_by = 0; /* NVML's bits at the end of the block */

	isolated_block block() const
	{
		return { .calls = { calls.data(), calls.size() },
			.null = { null.data(), null.size() },
			.heads = view(heads),
			.null_heads = view(null_heads),
			.bells = view(bells),
			.controls = view(controls),
			.quiet = quiet,
			.delta_ns = delta_ns };
	}

	double disturbance(const Rule &rule) const
	{
		const isolated_block viewed = block();
		return isolated_disturbance(&viewed, &rule);
	}

	double order_over() const
	{
		const isolated_block viewed = block();
		return isolated_order_over(&viewed);
	}

	bool constant_moved(const Rule &rule) const
	{
		const isolated_block viewed = block();
		return isolated_constant_moved(&viewed, &rule);
	}

	bool is_uneven(const Rule &rule) const
	{
		const isolated_block viewed = block();
		return isolated_is_uneven(&viewed, &rule);
	}
};

using Blocks = std::vector<Block>;

/* A view of Blocks as isolated_blocks. The Blocks must outlive the view. */
class BlocksView
{
  public:
	explicit BlocksView(const Blocks &blocks)
	{
		for (const Block &block : blocks)
			blocks_.push_back(block.block());
	}

	operator isolated_blocks() const
	{
		return { blocks_.data(), blocks_.size() };
	}

  private:
	std::vector<isolated_block> blocks_;
};

/* `others`: the case's other blocks. */
inline double overrun_of(const Block &block, const Blocks &others, const Rule &rule)
{
	std::vector<isolated_block> all = { block.block() };
	for (const Block &other : others)
		all.push_back(other.block());
	const isolated_limits limits = isolated_limits_of({ all.data(), all.size() }, &rule);
	return isolated_overrun(&all[0], &rule, &limits);
}

inline Values values_of(const Blocks &blocks, const Rule &rule)
{
	Values values(blocks.size());
	isolated_values_of(BlocksView(blocks), &rule, values.data());
	return values;
}

inline bool is_enough(const Blocks &blocks, const Rule &rule)
{
	return isolated_is_enough(view(values_of(blocks, rule)), &rule);
}

inline bool is_long_enough(const Blocks &blocks, double took_s, const Rule &rule)
{
	return isolated_is_long_enough(blocks.size(), took_s, &rule);
}

inline double steady_disturbance(const Blocks &blocks, const Rule &rule)
{
	return isolated_steady_disturbance(BlocksView(blocks), &rule);
}

inline double negligible(const Blocks &blocks, const Rule &rule)
{
	return isolated_negligible(BlocksView(blocks), &rule);
}

inline bool delays_probes(const Blocks &blocks, const Rule &rule)
{
	return isolated_delays_probes(BlocksView(blocks), &rule);
}

/* The figures of a case. `samples`: the charge of each call. */
struct Summary : isolated_summary {
	Values samples;

	/* `own`: what the submission measured itself. */
	Summary(const Blocks &blocks, const Values &own, const Rule &rule)
	{
		std::size_t calls = 0;
		for (const Block &block : blocks)
			calls += block.calls.size();
		samples.resize(calls);
		static_cast<isolated_summary &>(*this) =
			isolated_summarize(BlocksView(blocks), view(own), &rule, samples.data());
	}
};

} // namespace podium

#endif
