/* The message that tells podium-run how to run a claimed job, read from the database. */
#ifndef PODIUM_WORKER_ASSIGNMENT_H
#define PODIUM_WORKER_ASSIGNMENT_H

#include "lib/base/arena.h"
#include "lib/base/error.h"
#include "lib/database/database.h"
#include "lib/gpu/device.h"
#include "lib/job/programs.h"
#include "worker/cache.h"
#include "worker/queue.h"

#include <jansson.h>

struct assignment {
	json_t *message; /* {"job": ...} of docs/podium-run.md; the caller owns it */
	int64_t task_version_id;
	enum task_engine engine; /* in which the job runs */
	int64_t gpu_count;       /* GPUs of one model that the task's cases need; 1 for most */
	/* The total time limit of the job. podium-run ends every stage earlier. */
	int64_t limit_ms;
};

/* Reads file contents from the cache where it has them, else from the database. On success the
 * caller owns assignment->message. ERROR_SYSTEM when a file's content is missing. */
int assignment_read(struct database *db, struct arena *arena, struct cache *cache,
	const struct claim *claim, const struct device *device, const struct tools *tools,
	struct assignment *assignment, struct error *error);

struct kit_version {
	int64_t id; /* of the task version */
	const char *definition;
	enum task_engine engine;
};

/* The message of a job that builds the kit of a task version (worker/kits.h). The caller owns it.
 * NULL after an error. */
json_t *assignment_for_kit(struct database *db, struct arena *arena, struct cache *cache,
	const struct kit_version *version, int64_t job_id, const struct device *device,
	const struct tools *tools, struct error *error);

#endif
