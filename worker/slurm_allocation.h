/* What Slurm has given to a place of the cluster: one Slurm job, which is srun here and podium-run
 * on a node, with its GPUs.
 *
 * It is asked for when a job is there, is kept for the next one as long as the settings say
 * (slurm_idle_s), and ends with the worker, however that ends: srun gets SIGTERM when its parent
 * dies, podium-run the end of its input, and what is left all the same is cancelled by its name
 * when the worker starts again. */
#ifndef PODIUM_WORKER_ALLOTMENT_H
#define PODIUM_WORKER_ALLOTMENT_H

#include "lib/device.h"
#include "lib/error.h"
#include "lib/runner.h"
#include "lib/tools.h"
#include "worker/cluster.h"
#include "worker/slurm.h"

#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>

struct allotment {
	struct cluster *cluster;
	const struct config *config;
	const struct device *place;
	const struct tools *tools;
	const char *runner_program;
	struct runner *runner; /* the slot's */
	size_t number; /* of the place among all of the worker's, from 1: the end of the Slurm job's
	                  name */

	char name[96];
	struct runner_errors errors;
	bool is_open;  /* something of it may be in the cluster */
	bool is_ready; /* podium-run has said which devices it has, */
	json_t *given; /* which is this ("device" of docs/podium-run.md) */
	int64_t gpu_count, limit_min;
	int64_t ends_at_ms, idle_since_ms, asked_at_ms;
	struct slurm_job job; /* as squeue told it last */
};

/* Before the first use, when the members up to `number` are filled. */
void allotment_begin(struct allotment *allotment);

/* Asks Slurm for so many GPUs of the place's model for a job that takes `limit_ms` at most, unless
 * what it has is enough. ERROR_SYSTEM when srun cannot be started. */
int allotment_ask(
	struct allotment *allotment, int64_t gpu_count, int64_t limit_ms, struct error *error);

/* Waits a moment. 1: podium-run is ready, 0: not yet, and `progress` says why in at most 64 bytes,
 * ERROR_SYSTEM: Slurm gives nothing, or not what was asked for, and the sentence says why. */
int allotment_wait(
	struct allotment *allotment, int wake, char progress[static 65], struct error *error);

/* Puts the devices that it has into the message of a job. */
void allotment_address(const struct allotment *allotment, json_t *message);

/* The devices in words for the table `gpus`; valid until the end. */
struct device allotment_device(const struct allotment *allotment);

/* podium-run has ended in the middle of a job, and `error` says what the pipe says of it: says
 * instead why Slurm ended it. */
void allotment_explain(struct allotment *allotment, struct error *error);

/* From now on it holds a GPU without a job. */
void allotment_rest(struct allotment *allotment);

/* Between jobs: gives the GPU back when it has rested long enough, or podium-run is not there any
 * more. */
void allotment_look(struct allotment *allotment);

/* Gives it back, or ends the waiting for it. Nothing of it is left in the cluster then, or once
 * Slurm answers again. */
void allotment_end(struct allotment *allotment);

/* The same for good. */
void allotment_close(struct allotment *allotment);

#endif
