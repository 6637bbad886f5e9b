/* The floor: the least time that a call can take on a GPU. docs/administration.md has the rules and
 * their reasons.
 *
 * A floor that rejected honest kernels would be worse than none. Where facts are unknown, each rule
 * therefore decides in favor of the submission. The CPU has no floor. A GPU that is not in
 * lib/gpu/peaks.c has only the floor of a launch. */
#ifndef PODIUM_LIB_GPU_FLOOR_H
#define PODIUM_LIB_GPU_FLOOR_H

#include "lib/base/arena.h"
#include "lib/base/interval.h"

#include <stdbool.h>

enum {
	floor_launch_ns = 500, /* no kernel launches and finishes faster */
	/* On the CPU, the shortest calls without work in two blocks differ by so much, and the judge
	 * subtracts such a call (moved_ns in harness/isolated/statistics_rule.c). */
	floor_cpu_ns = 5000,
};

/* The least time that can be told from nothing on this model. A shorter time counts as this in a
 * score. */
double floor_resolved_ns(const char *gpu);
/* The same if the time is not above it, else NAN. Every page, file and terminal then shows
 * "< 0.5 µs" (format_score, format_measured). A score is not above it only if all its cases were
 * shorter. */
double floor_reached_ns(const char *gpu, double ns);
/* The 95 % interval of a time on this model; unknown if the time is not above it, because an
 * interval around a time that cannot be told from nothing would say too much. */
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
