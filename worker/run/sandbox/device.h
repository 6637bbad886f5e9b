/* Which nodes of /dev a program on GPUs needs. */
#ifndef PODIUM_RUN_SANDBOX_DEVICE_H
#define PODIUM_RUN_SANDBOX_DEVICE_H

#include "lib/arena.h"

#include <stdbool.h>
#include <stddef.h>

enum { sandbox_most_devices = 128 };

/* The names below /dev for these GPUs (uuids with commas between them; NULL or "": none): those of
 * the driver, and the node of each. Where the driver does not tell which node a uuid belongs to, or
 * for a part of a GPU (MIG), all of them. `is_profiled`: what profilers use beside. Returns how
 * many; they live in the arena. */
size_t sandbox_devices(struct arena *arena, const char *gpus, bool is_profiled,
	const char *names[static sandbox_most_devices]);

/* The minor number in the driver's text about a GPU, /proc/driver/nvidia/gpus/.../information, if
 * it is the one with that uuid, which need not end with a NUL; else -1. */
int sandbox_device_minor(const char *information, const char *uuid, size_t length);

#endif
