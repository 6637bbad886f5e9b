/* Checks of podium-run's host: what it offers for judging, what it lacks, what that costs, and how
 * to fix it. */
#ifndef PODIUM_WORKER_RUN_HOST_H
#define PODIUM_WORKER_RUN_HOST_H

#include "lib/base/arena.h"

#include <jansson.h>
#include <stdbool.h>
#include <stdio.h>

enum host_state {
	HOST_GOOD,
	HOST_WARNING, /* jobs run, but slower, less exactly or less safely than they could */
	HOST_FAULT,   /* something does not work until it is fixed */
};

/* The result of one check. */
struct host_finding {
	enum host_state state;
	/* Such as "the governor is powersave", in the arena or constant. NULL: the check does not apply
	 * to this host. */
	const char *found;
};

struct host {
	struct arena *arena;
	const char *root;      /* prefix of every path in /proc, /sys and /dev; "" except in tests */
	const char *directory; /* the folder that jobs are unpacked in */
};

/* One check. `costs` and `mend` are reported unless the finding is good. */
struct host_check {
	const char *name;
	struct host_finding (*look)(const struct host *host);
	const char *costs, *mend;
};

/* Runs all checks:
 *
 *     [{"name": "swap", "state": "good" | "warning" | "fault", "found": "none"},
 *      {"name": "core dumps", "state": "warning", "found": "...", "costs": "...",
 *       "mend": "..."}, ...]
 *
 * The caller owns the array. */
json_t *host_checks(const struct host *host);

/* Adds a check for each wall of the sandbox, from what sandbox_walls() returned. A missing wall is
 * a warning, or a fault if jobs require the wall and `accepted` does not name it
 * (lib/base/required_walls.h). `accepted` NULL: jobs require no wall. */
void host_add_walls(json_t *checks, const json_t *walls, const char *accepted);

/* Prints the checks and the interpreter for Python tasks (NULL: none) for people. False if there is
 * a fault. */
bool host_say(const json_t *checks, const char *account, const char *python, FILE *out);

/* The `count` checks of the GPUs and their driver; host_gpu.c. */
extern const struct host_check host_gpu_checks[];
extern const size_t host_gpu_check_count;

/* ---- for checks ---- */

struct host_finding host_found(const struct host *host, enum host_state state, const char *format,
	...) __attribute__((format(printf, 3, 4)));

/* The first 16 KiB of a file below `root`, without trailing blanks; NULL if it cannot be read. */
const char *host_file(const struct host *host, const char *path);

#endif
