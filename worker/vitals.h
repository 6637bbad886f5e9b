/* A GPU's temperature, clocks and reported errors, once a minute, for the admins' picture of its
 * last day. They are read between jobs, as its health is, so that nothing disturbs what is timed.
 */
#ifndef PODIUM_WORKER_VITALS_H
#define PODIUM_WORKER_VITALS_H

#include "lib/database.h"
#include "worker/health.h"

#include <stdint.h>

struct vitals {
	int64_t kept_at_ms;
}; /* start with zero */

/* Stores a row if the last one is a minute old, or an error was reported. Nothing is kept of a CPU.
 * What cannot be stored is tried again with the next call; nobody's job depends on it. */
void vitals_keep(struct vitals *vitals, struct database *db, const char *worker,
	const struct device *device, struct health *health);

#endif
