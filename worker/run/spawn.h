/* Starts the child of process_run: everything that happens between fork and exec. */
#ifndef PODIUM_RUN_SPAWN_H
#define PODIUM_RUN_SPAWN_H

#include "lib/error.h"
#include "worker/run/process.h"

#include <jansson.h>

enum spawn_pipe { SPAWN_OUTPUT, SPAWN_ERRORS, SPAWN_RESULT, SPAWN_PIPES };

struct child {
	pid_t pid;
	int pipes[SPAWN_PIPES]; /* our ends, which do not block; -1: none */
};

/* Returns when the program has been exec'ed; if that fails, the sentence says which step did. */
int spawn(const struct process *process, struct child *child, struct error *error);

/* The limits of a program, as [[what, most], ...]. The caller owns it. */
json_t *spawn_limits(const struct process *process);

void spawn_close(struct child *child); /* the pipes */

#endif
