/* Private to worker/run/sandbox: starts a program for process_run, from fork to exec. */
#ifndef PODIUM_WORKER_RUN_SANDBOX_SPAWN_H
#define PODIUM_WORKER_RUN_SANDBOX_SPAWN_H

#include "lib/base/error.h"
#include "worker/run/sandbox/process.h"
#include "worker/run/sandbox/zygote.h"

enum spawn_pipe { SPAWN_OUTPUT, SPAWN_ERRORS, SPAWN_RESULT, SPAWN_PIPES };

struct child {
	pid_t pid;
	int pipes[SPAWN_PIPES]; /* our ends, non-blocking; -1: none */
};

extern const struct child child_none;

/* Returns when exec has succeeded. On failure, the message names the failed step. The program gets
 * `channels` after the standard descriptors and the result pipe. The caller's numbers for them must
 * be at least spawn_above, and the caller still owns them. */
int spawn(const struct process *process, const struct sandbox *sandbox, const int *channels,
	size_t channel_count, struct child *child, struct error *error);

void spawn_close(struct child *child); /* closes the pipes */

#endif
