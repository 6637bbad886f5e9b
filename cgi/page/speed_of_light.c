#include "cgi/page/speed_of_light.h"

#include "lib/gpu/peaks.h"

#include <math.h>

/* A time of 1 ns would need a certain percentage of the peak rates. This percentage divided by 100,
 * and by the number of GPUs, is the bound in ns. */
static double bound_ns(double percent, const struct task *task)
{
	return percent / 100 / task_most_ranks(task);
}

/* What limits the benchmarks that rank. */
struct limits {
	bool memory, compute;
	enum number_type type;
};

static double least_time(
	const struct task *task, size_t index, const char *gpu, struct limits *limits)
{
	const struct rates rates =
		rates_of_case(task->flops, task->bytes, task->benchmarks[index], 1, gpu);
	double memory_ns = bound_ns(rates.memory_percent, task),
		   compute_ns = bound_ns(rates.compute_percent, task);
	bool is_memory = !isfinite(compute_ns) || memory_ns >= compute_ns;
	limits->memory |= is_memory;
	limits->compute |= !is_memory;
	if (!is_memory)
		limits->type = rates.type;
	return fmax(memory_ns, compute_ns); /* fmax ignores NAN, an unknown peak */
}

double least_time_of_case(const struct task *task, size_t index, const char *gpu)
{
	struct limits limits = { 0 };
	return least_time(task, index, gpu, &limits);
}

static void name_limits(struct arena *arena, struct speed_of_light *light,
	const struct gpu_peaks *peaks, const struct limits *limits)
{
	const char *both = limits->memory && limits->compute ? " and " : "";
	light->limit = arena_printf(arena, "%s%s%s", limits->memory ? "memory" : "", both,
		limits->compute ? peaks_number_name(limits->type) : "");
	const char *memory =
		limits->memory ? arena_printf(arena, "%.3g TB/s", peaks->memory_gb_s / 1e3) : "";
	light->peak = limits->compute
		? arena_printf(arena, "%s%s%.4g TFLOP/s", memory, both, peaks->tflop_s[limits->type])
		: memory;
}

struct speed_of_light speed_of_light(struct arena *arena, const struct task *task, const char *gpu)
{
	const struct gpu_peaks *peaks = peaks_find(gpu);
	struct speed_of_light light = { .ns = NAN };
	struct limits limits = { 0 };
	size_t first = task_first_ranked(task), count = task->benchmark_count - first;
	double sum = 0, logarithms = 0;
	if (!peaks || !task->benchmark_count)
		return light;
	for (size_t i = first; i < task->benchmark_count; i++) {
		double least_ns = least_time(task, i, gpu, &limits);
		sum += least_ns;
		logarithms += log(least_ns);
	}
	light.ns =
		task->ranking_by == RANKING_BY_GEOM ? exp(logarithms / (double)count) : sum / (double)count;
	if (isfinite(light.ns))
		name_limits(arena, &light, peaks, &limits);
	return light;
}

const char *share_of_peak(struct arena *arena, const struct speed_of_light *light, double score_ns)
{
	double percent = 100 * light->ns / score_ns;
	if (!isfinite(percent))
		return "";
	if (percent < .005)
		return "<0.01 %";
	return arena_printf(arena,
		percent < 9.95        ? "%.2f %%"
			: percent < 999.5 ? "%.1f %%"
							  : "%.0f %%",
		percent);
}
