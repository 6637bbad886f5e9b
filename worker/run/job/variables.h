/* The environment that a job's programs get: built from nothing, so that nothing of podium-run's
 * own leaks into them. */
#ifndef PODIUM_RUN_VARIABLES_H
#define PODIUM_RUN_VARIABLES_H

#include "lib/arena.h"
#include "worker/run/account.h"
#include "worker/run/job.h"
#include "worker/run/workspace.h"

enum { variables_most = 40 };

struct variables {
	struct arena *arena;
	const char *list[variables_most + 1]; /* NULL at the end */
	size_t count;
};

void variables_set(struct variables *variables, const char *name, const char *value);

/* What every program needs: PATH (with the folders of `programs`, NULL at the end, in front), LANG,
 * HOME. */
struct variables variables_basic(struct arena *arena, const struct account *account,
	const char *const *programs, const char *home);

/* For a compiler: the folders of the open stage, and no GPU. */
struct variables variables_for_compiler(
	struct arena *arena, const struct job *job, const struct workspace *workspace);

/* For a contestant of the isolated engine: also the device and the caches. */
struct variables variables_for_contestant(
	struct arena *arena, const struct job *job, const struct workspace *workspace);

/* For a harness: also what harnesses ask for, the seed among it. */
struct variables variables_for_harness(
	struct arena *arena, const struct job *job, const struct workspace *workspace);

/* For a judge of the isolated engine: also its limits of time ("120 180": a number of seconds for
 * each case file), the name of the GPU, and whether it must see to it itself that no other program
 * of its user looks into it. */
struct variables variables_for_judge(struct arena *arena, const struct job *job,
	const struct workspace *workspace, const char *limits_s);

#endif
