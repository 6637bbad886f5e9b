/* The environment of a job's programs. It is built from nothing, so that no variable of podium-run
 * leaks. */
#ifndef PODIUM_WORKER_RUN_SANDBOX_VARIABLES_H
#define PODIUM_WORKER_RUN_SANDBOX_VARIABLES_H

#include "lib/base/arena.h"
#include "worker/run/sandbox/account.h"

#include <stddef.h>

enum { variables_most = 40 };

struct variables {
	struct arena *arena;
	const char *list[variables_most + 1]; /* NULL at the end */
	size_t count;
};

void variables_set(struct variables *variables, const char *name, const char *value);

/* The variables that every program needs: PATH, LANG, HOME. PATH starts with the folders of
 * `programs` (NULL at the end). */
struct variables variables_basic(struct arena *arena, const struct account *account,
	const char *const *programs, const char *home);

#endif
