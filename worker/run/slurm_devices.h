/* Finds and locks the devices that a scheduler such as Slurm has given to this process.
 *
 * Slurm names GPUs in CUDA_VISIBLE_DEVICES, by UUID or by number. If the cluster hides the other
 * GPUs (ConstrainDevices), the numbers count the GPUs that the process can see. Otherwise they are
 * the N of /dev/nvidiaN. SLURM_STEP_GPUS and SLURM_JOB_GPUS always name the N of /dev/nvidiaN.
 * Source: gres.conf(5), srun(1). */
#ifndef PODIUM_WORKER_RUN_SLURM_DEVICES_H
#define PODIUM_WORKER_RUN_SLURM_DEVICES_H

#include "lib/base/error.h"

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>

/* CUDA_VISIBLE_DEVICES, and SLURM_STEP_GPUS or else SLURM_JOB_GPUS. NULL: not set. */
struct slurm_device_words {
	const char *visible, *nodes;
};
struct slurm_device_words slurm_device_words(void);

/* Chooses the given GPUs among `there` GPUs of the driver, by UUID or node number. Fills `chosen`
 * with their indexes and *count with their number; 0 means the CPU. ERROR_SYSTEM when the driver
 * does not show one of them, or when there are more than slurm_devices_most. */
enum { slurm_devices_most = 16 };
struct slurm_gpu {
	const char *uuid;
	int node;
};
int slurm_devices_choose(const struct slurm_device_words *words, const struct slurm_gpu *gpus,
	size_t there, size_t chosen[static slurm_devices_most], size_t *count, struct error *error);

/* Finds the devices and locks them until the process ends. Waits while another process on this host
 * measures on them (lib/gpu/device.h). While waiting, the function calls `waits` once a second;
 * `waits` returns false to give up. `locks` is the folder of the locks, "" the default one.
 * *devices is "device" of the event "ready" (docs/podium-run.md), which the caller owns. */
int slurm_devices_take(const char *locks, bool (*waits)(void *context), void *context,
	json_t **devices, struct error *error);

#endif
