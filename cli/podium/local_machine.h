/* Finds what this machine needs to run a job: podium-run, devices, Python or nvcc. Searches where a
 * worker searches. */
#ifndef PODIUM_CLI_PODIUM_LOCAL_MACHINE_H
#define PODIUM_CLI_PODIUM_LOCAL_MACHINE_H

#include "cli/podium/interrupt.h"
#include "cli/podium/progress.h"
#include "lib/base/arena.h"
#include "lib/base/config.h"
#include "lib/base/error.h"
#include "lib/gpu/device.h"
#include "lib/job/programs.h"
#include "lib/task/task.h"

#include <stddef.h>

enum { local_machine_most_devices = 16 };

struct local_machine {
	const char *runner; /* podium-run */
	/* The devices for the job: all of one model, sorted by UUID. Most tasks use one device. */
	const struct device *devices[local_machine_most_devices];
	struct device_lock locks[local_machine_most_devices];
	size_t device_count, lock_count;
	struct tools tools;
};

/* Finds everything that the task needs. `gpu` is a UUID or "cpu"; NULL takes the driver's first
 * device, else the CPU. The error says what is missing. Finding a Python takes as long as importing
 * torch. An interrupt stops the search; the function then returns 0. */
int local_machine_find(struct arena *arena, const struct config *config, const struct task *task,
	const char *gpu, struct interrupt *interrupt, struct local_machine *local, struct error *error);

/* Waits until no worker measures on these devices, and keeps workers off them until
 * local_machine_unlock. An interrupt stops the wait; the function then returns 0. */
int local_machine_lock(struct local_machine *local, const struct config *config,
	struct interrupt *interrupt, struct progress *progress, struct error *error);
void local_machine_unlock(struct local_machine *local);

/* Returns the UUIDs of all devices, separated by commas. */
const char *local_machine_uuids(struct arena *arena, const struct local_machine *local);

#endif
