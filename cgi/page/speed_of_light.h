/* The speed of light: the lower bound for a task's times that follows from a GPU's peak rates. */
#ifndef PODIUM_CGI_PAGE_SPEED_OF_LIGHT_H
#define PODIUM_CGI_PAGE_SPEED_OF_LIGHT_H

#include "lib/base/arena.h"
#include "lib/task/task.h"

#include <stddef.h>

/* The shortest time in which the GPU's peak rates (lib/gpu/peaks.h) allow the task's work. The
 * task itself states how much work that is. The bounds of the ranked benchmarks are combined as
 * task_score combines their times. */
struct speed_of_light {
	double ns;         /* bound for a score; NAN: unknown */
	const char *limit; /* "memory", the number type "fp16", or "memory and fp16" */
	const char *peak;  /* "4.80 TB/s", "989 TFLOP/s" */
};

struct speed_of_light speed_of_light(struct arena *arena, const struct task *task, const char *gpu);

/* Returns the bound of one benchmark of the task, in ns; NAN: unknown. */
double least_time_of_case(const struct task *task, size_t index, const char *gpu);

/* Formats the share of the peak that a score reaches: "71.3 %"; "" if unknown. */
const char *share_of_peak(struct arena *arena, const struct speed_of_light *light, double score_ns);

#endif
