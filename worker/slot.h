/* A slot: one device, or one place in a cluster, one thread, one connection to the database, one
 * podium-run. It claims jobs for its device one after the other until it is told to stop. */
#ifndef PODIUM_WORKER_SLOT_H
#define PODIUM_WORKER_SLOT_H

#include "lib/config.h"
#include "lib/device.h"
#include "lib/runner.h"
#include "lib/service.h"
#include "worker/allotment.h"
#include "worker/assignment.h"
#include "worker/health.h"
#include "worker/quarantine.h"
#include "worker/vitals.h"

#include <pthread.h>

struct slot {
	const struct config *config;
	const struct device *device;
	const struct device *all;
	size_t all_count; /* the worker's, for jobs that want several */
	const struct tools *tools;
	const char *runner_program;
	struct cache *cache;     /* the worker's */
	bool hands_in;           /* podium-web ends our jobs (lib/ending.h) */
	struct cluster *cluster; /* NULL: the device is this machine's; else it is a place in it, */
	size_t number;           /* the first, second, ... of the worker's */
	int stop;                /* readable when the worker is to stop; never read by the slot */
	int drain; /* readable when the slot is to end what it runs, and to take nothing more; likewise
	            */

	pthread_t thread;
	struct beat *beat; /* whether it gets on */
	_Atomic bool has_ended;
	struct database *db;
	struct runner runner;
	struct allotment allotment; /* of a place in a cluster, in the place of what follows; */
	int64_t refused_at_ms;      /* when Slurm gave it nothing the last time it was asked; 0: it gave
	                               something */
	struct device_lock lock;
	struct health health;
	struct vitals vitals;
	int64_t checked_at_ms; /* when the device was last asked whether it works */
	struct quarantine quarantine;
	int64_t zygotes; /* that the podium-run of now has started, as far as it was said */
	int failed_jobs; /* in a row, through this machine: the more, the longer others have to take the
	                    next one */
	int failures;    /* in a row, of what a slot needs: the longer it lasts, the longer it waits */
};

/* Starts the thread of a slot whose first members are filled. */
int slot_start(struct slot *slot, struct error *error);

/* Waits until its thread has ended: soon after `stop` became readable. The job that it was running
 * is queued again. After `drain` became readable it ends by itself, when its job has. */
void slot_join(struct slot *slot);

#endif
