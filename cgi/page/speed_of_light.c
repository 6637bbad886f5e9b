#include "cgi/page/speed_of_light.h"

#include "lib/gpu/peaks.h"

#include <math.h>

/* A score of 1 ns would need a certain percentage of the peak rates. This percentage divided by
 * 100, and by the number of GPUs, is the bound in ns. */
struct speed_of_light speed_of_light(struct arena *arena, const struct task *task, const char *gpu)
{
	const struct gpu_peaks *peaks = peaks_find(gpu);
	struct speed_of_light light = { .ns = NAN };
	if (!peaks)
		return light;
	const struct rates rates = rates_of_score(task, 1, gpu);
	double gpus = task_most_ranks(task), memory_ns = rates.memory_percent / 100 / gpus,
		   compute_ns = rates.compute_percent / 100 / gpus;
	if (!isfinite(memory_ns) && !isfinite(compute_ns))
		return light;
	bool memory = !isfinite(compute_ns) || memory_ns >= compute_ns;
	light.ns = memory ? memory_ns : compute_ns;
	light.limit = memory ? "memory" : peaks_number_name(rates.type);
	light.peak = memory ? arena_printf(arena, "%.3g TB/s", peaks->memory_gb_s / 1e3)
						: arena_printf(arena, "%.4g TFLOP/s", peaks->tflop_s[rates.type]);
	return light;
}

double least_time_of_case(const struct task *task, size_t index, const char *gpu)
{
	const struct rates rates =
		rates_of_case(task->flops, task->bytes, task->benchmarks[index], 1, gpu);
	return fmax(rates.memory_percent, rates.compute_percent) / 100
		/ task_most_ranks(task); /* fmax ignores NAN, an unknown peak */
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
