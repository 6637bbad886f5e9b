/* Whether a time is one that a GPU can reach: docs/administration.md has the rules and their
 * reasons.
 *
 * A floor that held honest kernels would be worse than none, so each rule counts in favour of the
 * submission whatever is not known. No floor is known for a CPU, nor, beside the time of a launch,
 * for a GPU that lib/peaks.h does not have. */
#ifndef PODIUM_LIB_FLOOR_H
#define PODIUM_LIB_FLOOR_H

#include "lib/arena.h"

#include <stdbool.h>

enum { floor_launch_ns = 500 }; /* no kernel is launched and has ended sooner */

struct floor_case {
	const char *flops, *bytes; /* the task's formulas; NULL: not given */
	const char *case_line;     /* with multi_gpu its `world_size` says how many GPUs there were */
	const char *gpu;           /* model, "H200" */
	bool warm; /* inputs may have lain in the cache before: the engine `custom` sees to nothing */
};

/* The least time of a call in ns, before any grace; 0: anything goes. */
double floor_ns(const struct floor_case *one);

/* NULL when a call may take `ns`; else a sentence with the numbers that speak against it. */
const char *floor_objection(struct arena *arena, const struct floor_case *one, double ns);

#endif
