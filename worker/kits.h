/* Builds the kits of CUDA C++ tasks before a job needs them. A kit is what all submissions to a
 * version of a task share (worker/run/engine/isolated_cu.h). A job that finds no kit waits for its
 * compilation, about 20 s.
 *
 * An idle slot asks its podium-run for one kit after the other. A worker builds one kit at a time,
 * and only while none of its slots runs a job: a build must not delay or disturb a job. If a job
 * comes, the build ends, unless this slot's job needs the same kit. podium-run keeps kits in a
 * folder that the worker's slots share, so only the first slot compiles. */
#ifndef PODIUM_WORKER_KITS_H
#define PODIUM_WORKER_KITS_H

#include "lib/base/config.h"
#include "lib/gpu/device.h"
#include "lib/job/runner.h"
#include "worker/assignment.h"

#include <stdatomic.h>

/* Shared by the slots of a worker. */
struct kit_turn {
	_Atomic int jobs; /* the jobs that the worker runs */
	_Atomic bool is_building;
};

struct kits { /* of one slot */
	/* Filled in by the slot. */
	struct kit_turn *turn;
	struct database *db;
	struct cache *cache;
	const struct config *config;
	const struct device *device;
	const struct tools *tools;
	struct runner *runner;

	int64_t look_at_ms; /* when to look for versions without a kit */
	int64_t building;   /* the task version whose kit podium-run builds; 0: none */
	int64_t job;        /* the number of the newest build's job */
	enum task_engine engine;
	int64_t begun_ms;
	/* The newest versions that this podium-run was asked for, as a ring. */
	int64_t asked[32];
	size_t asked_count;
};

/* Call it when the slot has no job: starts a build, or notices that one has ended. */
void kits_idle(struct kits *kits);

/* Cancels the build. A later call of kits_idle starts it again from the beginning. */
void kits_cancel(struct kits *kits);

/* Call it before a job is sent to podium-run: cancels the build unless the job needs that kit. If
 * it does, podium-run first finishes the build and then starts the job. */
void kits_yield(struct kits *kits, const struct assignment *assignment);

/* Call it when podium-run has started, because it knows no kits yet. */
void kits_forget(struct kits *kits);

#endif
