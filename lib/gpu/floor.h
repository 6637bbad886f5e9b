/* The floor: the least time that a call can take on a GPU. A faster result is held for review.
 * docs/administration.md has the rules and their reasons.
 *
 * Rejecting an honest kernel would be worse than having no floor. Where facts are unknown, each
 * rule therefore decides in favor of the submission. The CPU has no floor. For a GPU that is not in
 * lib/gpu/peaks.c, only the time of a launch is a floor. */
#ifndef PODIUM_LIB_GPU_FLOOR_H
#define PODIUM_LIB_GPU_FLOOR_H

#include "lib/base/arena.h"
#include "lib/base/interval.h"

#include <stdbool.h>

enum {
	floor_launch_ns = 500, /* no kernel launches and finishes faster */
	/* On the CPU, the constant that the judge subtracts from each call may differ by this much
	 * within a block (moved_ns in harness/isolated/statistics_rule.c). A shorter time could be
	 * noise. */
	floor_cpu_ns = 5000,
};

/* The shortest time that Podium can distinguish from 0 on this model. A shorter time counts as this
 * time in a score. */
double floor_resolved_ns(const char *gpu);
/* floor_resolved_ns if `ns` is not above it, else NAN. Pages, files and terminals then show "< 0.5
 * µs" (format_score, format_measured). A score is that short only if all its cases are. */
double floor_reached_ns(const char *gpu, double ns);
/* The 95 % interval of a time on this model. The interval is unknown if the time is not above
 * floor_resolved_ns, because such a time may be anything from 0 on. */
struct interval floor_interval_of(const char *gpu, double ns, double err_ns);

struct floor_case {
	const char *flops, *bytes; /* the task's formulas; NULL: not given */
	const char *case_line;     /* with multi_gpu its `world_size` is the number of GPUs */
	const char *gpu;           /* model, "H200" */
	bool warm; /* inputs may be in the cache already: the engine `custom` does not flush it */
};

/* The least time of a call in ns, without the tolerance that floor_objection allows; 0: no
 * floor. */
double floor_ns(const struct floor_case *one);

/* NULL if a call can take `ns`; else a sentence with the numbers that contradict it. */
const char *floor_objection(struct arena *arena, const struct floor_case *one, double ns);

#endif
