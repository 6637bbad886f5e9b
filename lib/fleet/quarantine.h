/* GPUs that have stopped working: in quarantine they get no jobs until they are released, here or
 * by a new start of their worker. The worker that has such a GPU looks at it again before it takes
 * a job, and puts it back if it must. */
#ifndef PODIUM_LIB_GPU_H
#define PODIUM_LIB_GPU_H

#include "lib/arena.h"
#include "lib/database.h"
#include "lib/error.h"
#include "lib/leaderboard.h"

#include <stddef.h>
#include <stdint.h>

struct quarantined_gpu {
	const char *worker, *model, *uuid;
	const char *reason; /* a sentence */
	int64_t since_ms;
};

/* All of them, the newest first. */
extern const struct statement
	gpus_quarantine; /* the question, to be a part of another one; binds nothing */
int gpus_quarantined(struct database *db, struct arena *arena, struct quarantined_gpu **gpus,
	size_t *count, struct error *error);

/* ERROR_NOT_FOUND when no GPU of that name is in quarantine. */
int gpu_release(struct database *db, const char *uuid, const struct actor *by, struct error *error);

#endif
