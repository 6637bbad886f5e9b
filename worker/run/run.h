/* Runs one job: reads its message, runs its stages and sends its events. */
#ifndef PODIUM_WORKER_RUN_RUN_H
#define PODIUM_WORKER_RUN_RUN_H

#include "worker/run/job/inbox.h"
#include "worker/run/machine.h"
#include "worker/run/sandbox/zygote.h"

/* Runs one job from its message to its verdict. False when podium-run must not take another job. */
bool run_job(const json_t *message, int base, const struct sandbox_host *host,
	struct machine *machine, struct zygote zygotes[ZYGOTES], struct inbox *inbox,
	struct events *events);

#endif
