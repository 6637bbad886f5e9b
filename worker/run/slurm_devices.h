/* The devices that a scheduler has given to this process, where podium-run was started through one:
 * which they are, and their locks.
 *
 * Slurm names GPUs in CUDA_VISIBLE_DEVICES, by their UUIDs or by numbers. Numbers count the GPUs
 * that the process can see at all, where the cluster hides the others (ConstrainDevices), and else
 * are the N of /dev/nvidiaN, which SLURM_STEP_GPUS and SLURM_JOB_GPUS always name. Source:
 * gres.conf(5), srun(1). */
#ifndef PODIUM_RUN_ALLOTTED_H
#define PODIUM_RUN_ALLOTTED_H

#include "lib/error.h"

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>

/* What the environment says; NULL where a variable is not there. */
struct allotted_words {
	const char *visible, *nodes;
};
struct allotted_words allotted_words(void);

/* Which of `there` GPUs they are, by UUIDs and numbers of nodes as the driver shows them. Fills
 * `chosen` with their indexes and *count with how many they are: 0 means the CPU. ERROR_SYSTEM when
 * the driver does not show one of them. */
enum { allotted_most = 16 };
struct allotted_gpu {
	const char *uuid;
	int node;
};
int allotted_choose(const struct allotted_words *words, const struct allotted_gpu *gpus,
	size_t there, size_t chosen[static allotted_most], size_t *count, struct error *error);

/* Finds them, and waits until nobody else on this host measures on them (lib/device.h; `locks` is
 * the folder, "" the usual one); they stay locked until the process ends. While it waits, it calls
 * `waits` once a second, which may say false to give up. *devices is "device" of the event "ready"
 * (docs/podium-run.md), which the caller owns. */
int allotted_take(const char *locks, bool (*waits)(void *context), void *context, json_t **devices,
	struct error *error);

#endif
