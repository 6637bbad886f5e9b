/* The environment of each program of a job, on top of what every program in a sandbox gets. */
#ifndef PODIUM_WORKER_RUN_JOB_VARIABLES_H
#define PODIUM_WORKER_RUN_JOB_VARIABLES_H

#include "worker/run/job/job.h"
#include "worker/run/sandbox/variables.h"
#include "worker/run/sandbox/workspace.h"

/* For a compiler: adds the open stage's folders and hides the GPUs. */
struct variables variables_for_compiler(
	struct arena *arena, const struct job *job, const struct workspace *workspace);

/* For the programs of the isolated and the sealed engine except the judge: adds the device and the
 * caches. */
struct variables variables_for_contestant(
	struct arena *arena, const struct job *job, const struct workspace *workspace);

/* For a harness: adds the variables that harnesses read, such as the seed. */
struct variables variables_for_harness(
	struct arena *arena, const struct job *job, const struct workspace *workspace);

/* For a judge: adds its time limits, the memory limit and the UUID of the GPU. `limits_s` has a
 * number of seconds for each case file, such as "120 180". Where the sandbox has no wall for /proc,
 * also tells the judge to hide its memory. */
struct variables variables_for_judge(struct arena *arena, const struct job *job,
	const struct workspace *workspace, const char *limits_s);

#endif
