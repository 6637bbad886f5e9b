/* GPUs that have stopped working. A quarantined GPU gets no jobs until an admin releases it or its
 * worker restarts. The worker then checks the GPU before it takes a job, and quarantines the GPU
 * again if it still fails. */
#ifndef PODIUM_LIB_FLEET_QUARANTINE_H
#define PODIUM_LIB_FLEET_QUARANTINE_H

#include "lib/base/arena.h"
#include "lib/base/error.h"
#include "lib/database/database.h"
#include "lib/leaderboard/leaderboard.h"

#include <stddef.h>
#include <stdint.h>

struct quarantined_gpu {
	const char *worker, *model, *uuid;
	const char *reason; /* a sentence */
	int64_t since_ms;
};

/* Lists all quarantined GPUs, the newest first. The statement has no parameters, so it can be sent
 * to the server together with others (struct bundle). */
extern const struct statement gpus_quarantine;
int gpus_quarantined(struct database *db, struct arena *arena, struct quarantined_gpu **gpus,
	size_t *count, struct error *error);

/* Releases a GPU. ERROR_NOT_FOUND: no GPU with this UUID is in quarantine. */
int gpu_release(struct database *db, const char *uuid, const struct actor *by, struct error *error);

#endif
