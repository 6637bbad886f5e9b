/* What the host of podium-run offers for judging, what it lacks, what that costs, and how to mend
 * it. */
#ifndef PODIUM_RUN_HOST_H
#define PODIUM_RUN_HOST_H

#include "lib/arena.h"

#include <jansson.h>
#include <stdbool.h>
#include <stdio.h>

enum host_state {
	HOST_GOOD,
	HOST_WARNING, /* jobs run, but something is slower, less exact or less safe than it could be */
	HOST_FAULT,   /* something does not work at all until it is mended */
};

/* What one look at the host has found. */
struct host_finding {
	enum host_state state;
	const char *found; /* "8.0 GB of swap", in the arena or constant; NULL: there is nothing to say
	                      of it here */
};

struct host {
	struct arena *arena;
	const char *root;      /* before every path of /proc, /sys and /dev; "" but in tests */
	const char *directory; /* where jobs are unpacked */
};

/* One thing to look at. What it costs and how to mend it is for what is not good. */
struct host_check {
	const char *name;
	struct host_finding (*look)(const struct host *host);
	const char *costs, *mend;
};

/* Looks at everything:
 *
 *	[{"name": "swap", "state": "good" | "warning" | "fault", "found": "none"},
 *	 {"name": "core dumps", "state": "warning", "found": "...", "costs": "...", "mend": "..."}, ...]
 *
 * The caller owns the array. */
json_t *host_checks(const struct host *host);

/* Adds the walls of the sandbox, as sandbox_walls() tells them; one that does not stand is a
 * warning. */
void host_add_walls(json_t *checks, const json_t *walls);

/* The same in words for people, with the interpreter for Python tasks (NULL: there is none). False
 * if there is a fault. */
bool host_say(const json_t *checks, const char *account, const char *python, FILE *out);

/* Those of the GPUs and their driver; host_gpu.c. `count` of them. */
extern const struct host_check host_gpu_checks[];
extern const size_t host_gpu_check_count;

/* ---- for looks ---- */

struct host_finding host_found(const struct host *host, enum host_state state, const char *format,
	...) __attribute__((format(printf, 3, 4)));

/* The beginning of a file below the root, without blanks at its end; NULL if it cannot be read. */
const char *host_file(const struct host *host, const char *path);

#endif
