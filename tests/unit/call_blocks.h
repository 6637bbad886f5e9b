/* For tests of the statistics of the isolated engine: numbers, noise, and blocks of calls that all
 * take the same time. Times are in ns. */
#ifndef PODIUM_TESTS_UNIT_CALL_BLOCKS_H
#define PODIUM_TESTS_UNIT_CALL_BLOCKS_H

#include "harness/isolated/statistics.h"

#include "lib/base/scope.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#define VALUES(...) \
	((struct isolated_values){ (const double[]){ __VA_ARGS__ }, \
		sizeof((const double[]){ __VA_ARGS__ }) / sizeof(double) })

static const struct isolated_rule *const CUDA = &isolated_cuda_rule,
										 *const CPU = &isolated_cpu_rule;
/* The empty kernel's own time in ns. It does not belong to the constant, so every call is charged
 * for it. */
static const double EMPTY = 600;

static inline void assert_near(double value, double expected, double tolerance)
{
	if (!(fabs(value - expected) <= tolerance))
		fail_msg("%.17g is not within %g of %.17g", value, tolerance, expected);
}

static inline void assert_is(double value, double expected)
{
	assert_near(value, expected, 1e-9 * fabs(expected));
}

/* Returns normal noise (Box-Muller) from a linear congruential generator with the state `seed`. */
static inline double gauss(uint64_t *seed)
{
	double uniform[2];
	for (size_t i = 0; i < COUNT(uniform); i++) {
		*seed = *seed * 6364136223846793005u + 1442695040888963407u;
		uniform[i] = ((double)(*seed >> 11) + 0.5) / 9007199254740992.0;
	}
	return sqrt(-2 * log(uniform[0])) * cos(2 * acos(-1) * uniform[1]);
}

/* ---- blocks for the tests ---- */

enum { most_calls = 25, most_blocks = 12 };

/* A block and the memory for its values. */
struct made {
	struct isolated_timing calls[most_calls], null[most_calls];
	double heads[most_calls], null_heads[most_calls], bells[3], controls[5];
	struct isolated_block block;
};

static inline void fill(struct isolated_values *values, double *at, size_t count, double value)
{
	for (size_t i = 0; i < count; i++)
		at[i] = value;
	*values = (struct isolated_values){ at, count };
}

/* Makes a block whose calls all take `call_ns`. The calls of its null contestant, which runs an
 * empty kernel, all take `null_ns`. */
static inline void make(struct made *made, size_t count, double call_ns, double null_ns)
{
	const struct isolated_timing usual = {
		.touch_ns = 150e3, .take_ns = 30e3, .head_ns = 70e3, .rest_ns = 60e3, .probed_ns = 6e3
	};
	memset(made, 0, sizeof *made);
	for (size_t i = 0; i < count; i++) {
		made->calls[i] = made->null[i] = usual;
		made->calls[i].elapsed_ns = call_ns;
		made->null[i].elapsed_ns = null_ns;
	}
	made->block.calls = (struct isolated_timings){ made->calls, count };
	made->block.null = (struct isolated_timings){ made->null, count };
	made->block.quiet = isolated_quiet_of(made->block.null);
	made->block.quiet.call_ns = NAN;
}

/* Adds control times: empty kernels took `quiet_ns` before the submission was loaded, and take
 * `control_ns` in the block. */
static inline void control(struct made *made, size_t count, double quiet_ns, double control_ns)
{
	made->block.quiet.empty_ns = quiet_ns;
	fill(&made->block.controls, made->controls, count, control_ns);
}

/* Notes that calls of the null contestant took `call_ns` before the submission was loaded. */
static inline void calm(struct made *made, double call_ns)
{
	made->block.quiet.empty_ns = 150e3;
	made->block.quiet.call_ns = call_ns;
}

/* From its call number `first` on, the null contestant is called after the submission and takes
 * `over_ns` longer. */
static inline void delay_after(struct made *made, size_t first, double over_ns)
{
	for (size_t i = first; i < made->block.null.count; i++) {
		made->null[i].is_after = true;
		made->null[i].elapsed_ns += over_ns;
	}
}

/* Returns the time of this block in a case that consists of copies of it, just as many as a case
 * needs. */
static inline double value_of(const struct made *made, const struct isolated_rule *rule)
{
	struct isolated_block blocks[isolated_least_blocks];
	double values[isolated_least_blocks];
	for (size_t i = 0; i < isolated_least_blocks; i++)
		blocks[i] = made->block;
	isolated_values_of((struct isolated_blocks){ blocks, isolated_least_blocks }, rule, values);
	return values[0];
}

static inline struct isolated_values null_times(const struct made *made, double *at)
{
	for (size_t i = 0; i < made->block.null.count; i++)
		at[i] = made->null[i].elapsed_ns;
	return (struct isolated_values){ at, made->block.null.count };
}

static inline double constant_of(const struct made *made)
{
	const struct isolated_limits limits = { INFINITY, INFINITY, INFINITY, INFINITY };
	return isolated_constant(&made->block, CUDA, &limits);
}

static inline double overrun_of(const struct made *made)
{
	const struct isolated_limits limits =
		isolated_limits_of((struct isolated_blocks){ &made->block, 1 }, CUDA);
	return isolated_overrun(&made->block, CUDA, &limits);
}

/* Returns the figures of a case with `count` blocks like this one. */
static inline struct isolated_summary summary_of(
	const struct made *made, size_t count, const struct isolated_rule *rule)
{
	struct isolated_block blocks[most_blocks];
	double samples[most_blocks * most_calls];
	for (size_t i = 0; i < count; i++)
		blocks[i] = made->block;
	return isolated_summarize((struct isolated_blocks){ blocks, count },
		(struct isolated_values){ NULL, 0 }, rule, samples);
}

#endif
