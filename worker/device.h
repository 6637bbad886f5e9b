/* The devices of this machine: its NVIDIA GPUs, and the CPU. */
#ifndef PODIUM_WORKER_DEVICE_H
#define PODIUM_WORKER_DEVICE_H

#include "lib/arena.h"
#include "lib/error.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct device {
	const char *model;              /* what leaderboards choose: "H200", "RTX4090", "CPU" */
	const char *product;            /* "NVIDIA H200"; for the CPU the processor's name */
	const char *uuid;               /* "GPU-..."; "CPU" */
	const char *driver;             /* "580.95.05"; empty for the CPU */
	const char *compute_capability; /* "9.0"; empty for the CPU */
	int64_t memory_bytes;
};

/* All GPUs that the driver shows, in its order, and the CPU where there is none or `with_cpu` says so. A GPU that
 * does not answer is left out with a warning in the log. */
void devices_find(struct arena *arena, bool with_cpu, struct device **devices, size_t *count);

/* The short name of a product: the maker's words, memory sizes and SXM sockets go, the rest stays, since
 * boards of one name but another socket are not equally fast. "NVIDIA H100 80GB HBM3" is H100,
 * "NVIDIA H100 PCIe" is H100-PCIe, "NVIDIA GeForce RTX 4090" is RTX4090. */
const char *device_model(struct arena *arena, const char *product);

/* Locks of devices, so that two workers of one machine never measure on one device at the same time. The lock
 * file lies in `directory` (empty: /run/lock, else /tmp). A descriptor, or ERROR_SYSTEM. */
int device_lock_open(const struct device *device, const char *directory, struct error *error);
bool device_lock_try(int lock); /* false: somebody else has it */
void device_lock_release(int lock);

/* "AMD EPYC 9654 96-Core Processor"; "unknown processor". */
const char *machine_processor(struct arena *arena);
int64_t machine_memory_bytes(void);

#endif
