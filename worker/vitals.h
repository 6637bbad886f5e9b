/* A GPU's temperature, clocks and error count, stored once a minute for the admins' chart of the
 * last day. The slot reads them between jobs, so that reading disturbs no measurement. */
#ifndef PODIUM_WORKER_VITALS_H
#define PODIUM_WORKER_VITALS_H

#include "lib/database/database.h"
#include "worker/gpu_health.h"

#include <stdint.h>

struct vitals { /* initialize with zero */
	int64_t kept_at_ms;
};

/* Stores a row if the last one is a minute old or an error was reported. Does nothing if the device
 * is the CPU. The next call repeats a write that failed; no job depends on it. */
void vitals_keep(struct vitals *vitals, struct database *db, const char *worker,
	const struct device *device, struct gpu_health *health);

#endif
