/* A slot: one device or one place in a cluster, with its thread, its database connection and its
 * podium-run. It claims and runs jobs for its device, one after another, until the worker stops. */
#ifndef PODIUM_WORKER_SLOT_H
#define PODIUM_WORKER_SLOT_H

#include "lib/base/config.h"
#include "lib/base/service.h"
#include "lib/gpu/device.h"
#include "lib/job/runner.h"
#include "worker/assignment.h"
#include "worker/gpu_health.h"
#include "worker/kits.h"
#include "worker/known_blobs.h"
#include "worker/quarantine.h"
#include "worker/slurm_allocation.h"
#include "worker/vitals.h"

#include <pthread.h>

struct slot {
	const struct config *config;
	const struct device *device;
	/* All devices of the worker, for jobs that need several. */
	const struct device *all;
	size_t all_count;
	const struct tools *tools;
	const char *runner_program;
	/* Why this host may run no job; NULL: it may (lib/base/required_walls.h). */
	const char *obstacle;
	struct cache *cache;       /* shared by all slots of the worker */
	struct kit_turn *kit_turn; /* the same */
	bool hands_in;             /* podium-web completes our jobs (lib/judging/job_completion.h) */
	/* NULL: the device is this machine's. Otherwise the device is a place in this cluster. */
	struct cluster *cluster;
	size_t number; /* the place's number among the worker's, from 1 */
	/* Readable when the worker stops; the slot never reads it. */
	int stop;
	/* Readable when the slot must finish its job and claim no more; the slot never reads it. */
	int drain;

	pthread_t thread;
	struct beat *beat; /* for the service manager: shows that the slot makes progress */
	_Atomic bool has_ended;
	struct database *db;
	struct runner runner;
	/* Used for a place in a cluster; `lock`, `kits`, `health` and `vitals` are used for a local
	 * device. */
	struct slurm_allocation allocation;
	/* When Slurm last refused an allocation; 0: the last request succeeded. */
	int64_t refused_at_ms;
	struct device_lock lock;
	int64_t locked_out_ms; /* since when another process has had the lock; 0: it has not */
	bool says_it_waits;    /* pages show that another process has the lock */
	struct kits kits;
	struct known_blobs known_blobs;
	struct gpu_health health;
	struct vitals vitals;
	int64_t checked_at_ms; /* when the device's health was last checked */
	struct quarantine quarantine;
	int64_t zygotes; /* zygotes that the current podium-run reported */
	/* Consecutive jobs that failed through this machine. Each one lengthens the pause before the
	 * next claim, so that other workers can take the job. */
	int failed_jobs;
	bool has_full_disk; /* as counted in FIGURE_FULL_DISKS */
	/* Consecutive failures of something the slot needs. Each one lengthens the pause. */
	int failures;
};

/* Starts the slot's thread. The caller has filled the members above `thread`. */
int slot_start(struct slot *slot, struct error *error);

/* Joins the slot's thread. The thread ends soon after `stop` becomes readable, and its job is
 * queued again. After `drain` becomes readable, the thread ends when its job has finished. */
void slot_join(struct slot *slot);

#endif
