/* An allocation is one Slurm job for one place of the cluster. srun runs on this host. podium-run
 * runs on a node and has the job's GPUs.
 *
 * The worker asks for an allocation when it claims a job, and keeps it slurm_idle_s for the next
 * job. However the worker ends, the allocation ends: srun gets SIGTERM (by setpriv), and podium-run
 * sees the end of its input. At its start and while it runs, the worker finds leftover Slurm jobs
 * by name and cancels them. */
#ifndef PODIUM_WORKER_SLURM_ALLOCATION_H
#define PODIUM_WORKER_SLURM_ALLOCATION_H

#include "lib/base/error.h"
#include "lib/gpu/device.h"
#include "lib/job/programs.h"
#include "lib/job/runner.h"
#include "worker/cluster.h"
#include "worker/slurm.h"

#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>

struct slurm_allocation {
	struct cluster *cluster;
	const struct config *config;
	const struct device *place;
	const struct tools *tools;
	const char *runner_program;
	struct runner *runner; /* the slot's */
	/* The place's number among the worker's, from 1. The Slurm job's name ends with it. */
	size_t number;

	char name[96];
	struct runner_errors errors;
	bool is_open; /* the cluster may have a Slurm job for this allocation */
	/* podium-run has named its devices, which are in `given`. */
	bool is_ready;
	json_t *given; /* "device" of docs/podium-run.md */
	int64_t gpu_count, limit_min;
	int64_t ends_at_ms, idle_since_ms, asked_at_ms;
	struct slurm_job job; /* squeue's newest answer */
};

/* Call it once before the first use. The members up to `number` are filled. */
void slurm_allocation_begin(struct slurm_allocation *allocation);

/* Asks Slurm for `gpu_count` GPUs of the allocation's model, for a job of at most `limit_ms`. Does
 * nothing if the current allocation suffices. ERROR_SYSTEM when srun cannot be started. */
int slurm_allocation_ask(
	struct slurm_allocation *allocation, int64_t gpu_count, int64_t limit_ms, struct error *error);

/* Waits at most 250 ms. Returns 1 when podium-run is ready, and 0 while it is not; `progress` then
 * says why, in at most 64 bytes. ERROR_SYSTEM with a message when Slurm refuses or gives another
 * GPU. */
int slurm_allocation_wait(
	struct slurm_allocation *allocation, int wake, char progress[static 65], struct error *error);

/* Puts the allocation's devices into a job's message. */
void slurm_allocation_address(const struct slurm_allocation *allocation, json_t *message);

/* The devices' description for the table `gpus`. Its strings are valid until the allocation ends.
 */
struct device slurm_allocation_device(const struct slurm_allocation *allocation);

/* Call it when podium-run ended during a job: replaces `error` with Slurm's reason. */
void slurm_allocation_explain(struct slurm_allocation *allocation, struct error *error);

/* Call it after a job: the allocation holds a GPU without a job from now on. */
void slurm_allocation_rest(struct slurm_allocation *allocation);

/* Call it between jobs: gives the GPU back after slurm_idle_s, or when podium-run has ended. */
void slurm_allocation_look(struct slurm_allocation *allocation);

/* Gives the allocation back, or stops waiting for it. If Slurm does not answer now, cluster_look
 * cancels the Slurm job later. */
void slurm_allocation_end(struct slurm_allocation *allocation);

/* Ends the allocation and frees its memory. */
void slurm_allocation_close(struct slurm_allocation *allocation);

#endif
