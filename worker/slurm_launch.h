/* The command line of srun, which starts podium-run on a node of the cluster. srun gets the words
 * directly; no shell reads them. */
#ifndef PODIUM_WORKER_SLURM_LAUNCH_H
#define PODIUM_WORKER_SLURM_LAUNCH_H

#include "lib/base/error.h"
#include "lib/job/programs.h"
#include "lib/job/runner.h"
#include "worker/cluster.h"

#include <stdint.h>

/* What srun starts in a Slurm job, and what that job asks for. */
struct slurm_launch {
	struct cluster *cluster;
	const struct config *config;
	const char *model; /* of the GPUs */
	const struct tools *tools;
	const char *runner_program;
	const char *name; /* of the Slurm job */
	int64_t gpu_count, limit_min;
};

/* Starts srun as the runner's child. ERROR_SYSTEM with a message on failure. */
int slurm_launch(const struct slurm_launch *launch, struct runner *runner,
	struct runner_errors *errors, struct error *error);

/* The value of an srun option: the model's setting, else the cluster's, else NULL. */
const char *slurm_launch_option(const struct slurm_launch *launch, const char *name);

/* The Slurm job's time limit in minutes, for a job of at most `limit_ms`. */
int64_t slurm_launch_limit_min(const struct slurm_launch *launch, int64_t limit_ms);

#endif
