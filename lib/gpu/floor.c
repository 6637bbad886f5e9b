#include "lib/gpu/floor.h"

#include "lib/base/format.h"
#include "lib/base/scope.h"
#include "lib/gpu/peaks.h"
#include "lib/task/formula.h"

#include <math.h>
#include <string.h>

/* The work of one case and the GPU that runs it. */
struct demand {
	const struct gpu_peaks *peaks; /* NULL: unknown */
	double bytes, flops;           /* NAN: unknown */
	double gpus;
	double cached_bytes; /* bytes that may stay in the cache during the call */
};

/* ---- the rules ---- */

/* The unit is right: bytes divided by GB/s are nanoseconds. Bytes that may stay in the cache need
 * no time. */
static double memory_ns(const struct demand *demand)
{
	return (demand->bytes - demand->cached_bytes) / (demand->peaks->memory_gb_s * demand->gpus);
}

/* How much faster than memory a cache can be at most. Published measurements of the L2 caches of
 * the boards in lib/gpu/peaks.c are between 2.4 times (V100) and about 6 times (L4) the memory's
 * rate. */
static const double cache_times_memory = 8;

static double cache_ns(const struct demand *demand)
{
	return demand->bytes / (cache_times_memory * demand->peaks->memory_gb_s * demand->gpus);
}

static double compute_ns(const struct demand *demand)
{
	return demand->flops / (demand->peaks->most_tflop_s * 1e3 * demand->gpus);
}

static double launch_ns(const struct demand *demand)
{
	(void)demand;
	return floor_launch_ns;
}

/* "24.5 TB/s", "3.01 GFLOP": `value` is in units of 10^9. */
static const char *figure_words(struct arena *arena, double value, const char *unit)
{
	static const char prefixes[] = "GTPE";
	const char *prefix = prefixes;
	for (; value >= 999.5 && prefix[1]; prefix++)
		value /= 1000;
	return arena_printf(arena, "%.3g %c%s", value, *prefix, unit);
}

static const char *bytes_words(struct arena *arena, double bytes)
{
	format_text text;
	format_bytes(text, bytes < 1e18 ? (uint64_t)bytes : UINT64_MAX);
	return arena_strdup(arena, text);
}

static const char *memory_words(
	struct arena *arena, const struct demand *demand, const char *time, double ns)
{
	return arena_printf(arena,
		"%s for %s would be %s; the memory of %s moves %s, and its cache saves at most %s.", time,
		bytes_words(arena, demand->bytes), figure_words(arena, demand->bytes / ns, "B/s"),
		demand->peaks->model, figure_words(arena, demand->peaks->memory_gb_s * demand->gpus, "B/s"),
		bytes_words(arena, demand->cached_bytes));
}

static const char *cache_words(
	struct arena *arena, const struct demand *demand, const char *time, double ns)
{
	return arena_printf(arena,
		"%s for %s would be %s; the memory of %s moves %s, and even its cache moves less than %s.",
		time, bytes_words(arena, demand->bytes), figure_words(arena, demand->bytes / ns, "B/s"),
		demand->peaks->model, figure_words(arena, demand->peaks->memory_gb_s * demand->gpus, "B/s"),
		figure_words(arena, cache_times_memory * demand->peaks->memory_gb_s * demand->gpus, "B/s"));
}

static const char *compute_words(
	struct arena *arena, const struct demand *demand, const char *time, double ns)
{
	return arena_printf(arena, "%s for %s would be %s; the fastest units of %s reach %s.", time,
		figure_words(arena, demand->flops / 1e9, "FLOP"),
		figure_words(arena, demand->flops / ns, "FLOP/s"), demand->peaks->model,
		figure_words(arena, demand->peaks->most_tflop_s * 1e3 * demand->gpus, "FLOP/s"));
}

static const char *launch_words(
	struct arena *arena, const struct demand *demand, const char *time, double ns)
{
	(void)demand, (void)ns;
	format_text least;
	format_duration_ns(least, floor_launch_ns);
	return arena_printf(
		arena, "%s is less than any kernel takes: launch and run take at least %s.", time, least);
}

/* A time breaks a rule if time * grace is below least_ns. The first broken rule gives the sentence.
 * `grace` covers inexact datasheets: H200's memory is 2.4 % faster than stated. Compute figures
 * assume a clock that a GPU may exceed for a while, H200 by 8 %. */
static const struct rule {
	double (*least_ns)(const struct demand *demand);
	double grace;
	bool needs_peaks;
	const char *(*words)(
		struct arena *arena, const struct demand *demand, const char *time, double ns);
} RULES[] = {
	{ memory_ns, 1.05, true, memory_words },
	{ cache_ns, 1.05, true, cache_words },
	{ compute_ns, 1.10, true, compute_words },
	{ launch_ns, 1, false, launch_words },
};

/* Returns 0 if the facts that the rule needs are unknown. */
static double least_ns(const struct rule *rule, const struct demand *demand)
{
	double ns = rule->needs_peaks && !demand->peaks ? 0 : rule->least_ns(demand);
	return ns > 0 ? ns : 0;
}

/* ---- a case ---- */

static double gpus_of_case(const char *case_line)
{
	double gpus;
	return formula_evaluate("world_size", case_line, &gpus, NULL) == 0 && gpus > 1 ? gpus : 1;
}

/* Returns how many bytes of a call need not move between cache and memory. The outputs may stay in
 * the cache, so the cache's size counts once. If the cache is warm, the inputs may have been there
 * before the call, so the size counts twice. */
static double cached_bytes(const struct floor_case *one, const struct demand *demand)
{
	return demand->peaks ? demand->peaks->l2_mib * 1024 * 1024 * demand->gpus * (one->warm ? 2 : 1)
						 : 0;
}

static struct demand demand_of(const struct floor_case *one)
{
	struct demand demand = {
		.peaks = peaks_find(one->gpu),
		.bytes = peaks_evaluate(one->bytes, one->case_line),
		.flops = peaks_evaluate(one->flops, one->case_line),
		.gpus = gpus_of_case(one->case_line),
	};
	demand.cached_bytes = cached_bytes(one, &demand);
	return demand;
}

static bool is_cpu(const char *gpu)
{
	return strcmp(gpu, "CPU") == 0;
}

double floor_resolved_ns(const char *gpu)
{
	return is_cpu(gpu) ? floor_cpu_ns : floor_launch_ns;
}

double floor_reached_ns(const char *gpu, double ns)
{
	/* The sum in a mean may be off by a rounding error. */
	const double floor_ns = floor_resolved_ns(gpu);
	return ns <= floor_ns * (1 + 1e-9) ? floor_ns : NAN;
}

struct interval floor_interval_of(const char *gpu, double ns, double err_ns)
{
	return interval_of(floor_reached_ns(gpu, ns) > 0 ? NAN : ns, err_ns);
}

static bool has_no_floor(const struct floor_case *one)
{
	return is_cpu(one->gpu);
}

double floor_ns(const struct floor_case *one)
{
	const struct demand demand = demand_of(one);
	double most = 0;
	for (size_t i = 0; i < COUNT(RULES) && !has_no_floor(one); i++)
		most = fmax(most, least_ns(&RULES[i], &demand));
	return most;
}

const char *floor_objection(struct arena *arena, const struct floor_case *one, double ns)
{
	const struct demand demand = demand_of(one);
	if (has_no_floor(one) || isnan(ns))
		return NULL;
	format_text time;
	format_duration_ns(time, ns);
	for (size_t i = 0; i < COUNT(RULES); i++)
		if (ns * RULES[i].grace < least_ns(&RULES[i], &demand))
			return RULES[i].words(arena, &demand, time, ns);
	return NULL;
}
