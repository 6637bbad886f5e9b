/* Starts the child of process_run: everything that happens between fork and exec. */
#ifndef PODIUM_RUN_SPAWN_H
#define PODIUM_RUN_SPAWN_H

#include "lib/error.h"
#include "worker/run/process.h"

enum spawn_pipe { SPAWN_OUTPUT, SPAWN_ERRORS, SPAWN_RESULT, SPAWN_PIPES };

struct child {
	pid_t pid;
	int pipes[SPAWN_PIPES]; /* our ends, which do not block; -1: none */
};

extern const struct child child_none;

/* The descriptors that a program starts with, at the places 0, 1, 2 and so on; each lies above
 * those places. */
enum {
	spawn_most_channels = process_most_together - 1,
	spawn_most_descriptors = 4 + spawn_most_channels,
	spawn_above = 10
};
struct spawn_descriptors {
	int list[spawn_most_descriptors];
	size_t count;
};

/* Returns when the program has been exec'ed; if that fails, the sentence says which step did.
 * `channels` follow its standard descriptors and its result pipe; they lie above spawn_above and
 * stay the caller's. */
int spawn(const struct process *process, const struct sandbox *sandbox, const int *channels,
	size_t channel_count, struct child *child, struct error *error);

/* Adds to an entry what is this program's own: its folder and its limit. */
void spawn_complete(
	const struct process *process, const struct sandbox *sandbox, struct sandbox_entry *entry);

void spawn_close(struct child *child); /* the pipes */

#endif
