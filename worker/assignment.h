/* What podium-run must know to run a claimed job, read from the database. */
#ifndef PODIUM_WORKER_ASSIGNMENT_H
#define PODIUM_WORKER_ASSIGNMENT_H

#include "lib/arena.h"
#include "lib/database.h"
#include "lib/device.h"
#include "lib/error.h"
#include "lib/tools.h"
#include "worker/cache.h"
#include "worker/queue.h"

#include <jansson.h>

struct assignment {
	json_t *message;   /* {"job": ...} of docs/podium-run.md; the caller owns it */
	int64_t gpu_count; /* how many GPUs of one model the task's cases want; 1 for most */
	int64_t limit_ms;  /* podium-run ends every stage by itself before all of this has passed */
};

/* What files say is taken from the cache, where it is there. */
int assignment_read(struct database *db, struct arena *arena, struct cache *cache,
	const struct claim *claim, const struct device *device, const struct tools *tools,
	struct assignment *assignment, struct error *error);

#endif
