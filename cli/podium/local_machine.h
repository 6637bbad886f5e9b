/* What this machine runs a job with: podium-run, a device or several, a Python or nvcc, found as a
 * worker finds them. */
#ifndef PODIUM_CLI_PODIUM_HERE_H
#define PODIUM_CLI_PODIUM_HERE_H

#include "cli/podium/interrupt.h"
#include "cli/podium/progress.h"
#include "lib/arena.h"
#include "lib/config.h"
#include "lib/device.h"
#include "lib/error.h"
#include "lib/task.h"
#include "lib/tools.h"

#include <stddef.h>

enum { here_most_devices = 16 };

struct here {
	const char *runner;                              /* podium-run */
	const struct device *devices[here_most_devices]; /* of one model, by UUID; one for most tasks */
	struct device_lock locks[here_most_devices];
	size_t device_count, lock_count;
	struct tools tools;
};

/* Finds everything that the task needs; `gpu` is a UUID, "cpu", or NULL: the driver's first, else
 * the CPU. The error says what is missing. Looking for a Python takes as long as importing torch
 * does; an interrupt ends it, then 0 is returned. */
int here_find(struct arena *arena, const struct config *config, const struct task *task,
	const char *gpu, struct interrupt *interrupt, struct here *here, struct error *error);

/* Waits until no worker measures on these devices, and keeps workers from it until here_unlock. An
 * interrupt ends the waiting; then 0 is returned. */
int here_lock(struct here *here, const struct config *config, struct interrupt *interrupt,
	struct progress *progress, struct error *error);
void here_unlock(struct here *here);

/* The UUIDs of all devices, with commas between them. */
const char *here_uuids(struct arena *arena, const struct here *here);

#endif
