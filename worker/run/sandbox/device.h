/* Private to worker/run/sandbox: the nodes in /dev that a program on GPUs needs. */
#ifndef PODIUM_WORKER_RUN_SANDBOX_DEVICE_H
#define PODIUM_WORKER_RUN_SANDBOX_DEVICE_H

#include "lib/base/arena.h"

#include <stdbool.h>
#include <stddef.h>

enum { sandbox_most_devices = 128 };

/* Lists the names in /dev for these GPUs: the driver's nodes and each GPU's node. If one GPU's node
 * is unknown, as for a MIG slice, lists the nodes of all GPUs. `gpus`: UUIDs separated by commas;
 * NULL or "": none. `is_profiled` adds the profilers' nodes. Returns the number of names, which
 * live in the arena. */
size_t sandbox_devices(struct arena *arena, const char *gpus, bool is_profiled,
	const char *names[static sandbox_most_devices]);

/* Reads the minor number from the driver's text about a GPU,
 * /proc/driver/nvidia/gpus/.../information. Returns -1 if the GPU has another UUID. `uuid` need not
 * end with a NUL. */
int sandbox_device_minor(const char *information, const char *uuid, size_t length);

#endif
