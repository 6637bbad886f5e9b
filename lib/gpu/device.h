/* The devices of this machine: its NVIDIA GPUs, and the CPU. */
#ifndef PODIUM_LIB_GPU_DEVICE_H
#define PODIUM_LIB_GPU_DEVICE_H

#include "lib/base/arena.h"
#include "lib/base/error.h"
#include "lib/task/task.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct device {
	const char *model;   /* the model that leaderboards choose: "H200", "RTX4090", "CPU" */
	const char *product; /* "NVIDIA H200"; for the CPU the processor's name */
	const char *uuid;    /* "GPU-..."; "CPU" */
	const char *driver;  /* "580.95.05"; empty for the CPU */
	const char *compute_capability; /* "9.0"; empty for the CPU */
	int64_t memory_bytes;
	int node; /* N of /dev/nvidiaN; -1: unknown, or none */
};

bool device_is_cpu(const struct device *device);

/* For qsort of pointers to devices. Programs that lock several devices lock them in this order, so
 * that no two programs wait for each other. */
int device_compare_uuid(const void *left, const void *right);

/* Whether devices of this model can run tasks in this language. */
bool gpu_runs_language(const char *model, enum task_language language);

/* All GPUs that the driver shows, in its order. The CPU is added if `with_cpu` is set or there is
 * no GPU. A GPU that does not answer is left out, with a warning in the log. */
void devices_find(struct arena *arena, bool with_cpu, struct device **devices, size_t *count);

/* The short name of a product, without the maker's words, memory sizes and SXM sockets. Other
 * sockets stay, because such boards are not equally fast. Examples: "NVIDIA H100 80GB HBM3" is
 * H100, "NVIDIA H100 PCIe" is H100-PCIe, "NVIDIA GeForce RTX 4090" is RTX4090. */
const char *device_model(struct arena *arena, const char *product);

/* The lock of a device, so that two programs on one machine never measure on it at the same time.
 * The lock files are in `directory` (empty: /run/lock, else /tmp).
 *
 * A program that waits for the device already holds a second lock, the turn. Taking the device
 * needs the turn, so a program that has just released the device cannot take it again before the
 * one that waits. */
struct device_lock {
	int turn, use;
	bool has_turn;
};
int device_lock_open(struct device_lock *lock, const struct device *device, const char *directory,
	struct error *error);
bool device_lock_try(struct device_lock *lock); /* false: another process has it; try again soon */
void device_lock_release(struct device_lock *lock);
void device_lock_close(
	struct device_lock *lock); /* closes open descriptors (>= 0) and sets them to -1 */

/* "AMD EPYC 9654 96-Core Processor"; "unknown processor". */
const char *machine_processor(struct arena *arena);
int64_t machine_memory_bytes(void);

#endif
