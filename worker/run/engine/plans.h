/* Private to worker/run/engine: the plans that the judge of the sealed engine has saved. */
#ifndef PODIUM_WORKER_RUN_ENGINE_PLANS_H
#define PODIUM_WORKER_RUN_ENGINE_PLANS_H

#include "worker/run/engine/stage.h"

/* The folder for plans, below a stage's tmp/. */
#define PLANS_FOLDER "plans"

/* Sends the saved plans of the stage's cases, up to the index `count`, their blobs, and the machine
 * code of their kernels as an artifact. Call it while the judge's stage is open. Skips what cannot
 * be read: a result counts without its plans. */
void plans_send(struct run *run, const struct stage *stage, size_t count);

#endif
