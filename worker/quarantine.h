/* The quarantine of a GPU that has stopped working. The table `gpus` has the reason. The GPU gets
 * no jobs until an admin releases it or its worker restarts, and then only if the GPU works again.
 */
#ifndef PODIUM_WORKER_QUARANTINE_H
#define PODIUM_WORKER_QUARANTINE_H

#include "lib/base/error.h"
#include "lib/database/database.h"
#include "lib/gpu/device.h"

#include <stdbool.h>

/* One device's quarantine. Fill the first two members and set all others to zero. */
struct quarantine {
	const char *worker;
	const struct device *device;
	struct error reason; /* a sentence for admins; "": no quarantine */
	bool is_stored;      /* the database has the reason */
};

/* Starts the quarantine, or replaces its reason. If the database is away, quarantine_is_over stores
 * the reason later. */
void quarantine_begin(
	struct quarantine *quarantine, struct database *db, const struct error *reason);
void quarantine_end(struct quarantine *quarantine);

/* quarantine_wait takes a device out of service for a temporary reason, such as a cluster that does
 * not answer. Each new reason is logged once. quarantine_pass returns the device to service, so no
 * admin has to release it. */
void quarantine_wait(
	struct quarantine *quarantine, struct database *db, const struct error *reason);
void quarantine_pass(struct quarantine *quarantine, struct database *db);

/* Keeps a device out of service for a reason that lasts as long as the worker runs, even if an
 * admin releases the device. Call it again from time to time. */
void quarantine_keep(
	struct quarantine *quarantine, struct database *db, const struct error *reason);

bool quarantine_has_begun(const struct quarantine *quarantine);

/* ERROR_SYSTEM with a message while the quarantine lasts. */
int quarantine_error(const struct quarantine *quarantine, struct error *error);

/* Whether the database has the device `uuid` of the worker `worker` in quarantine. False when the
 * database does not answer. */
bool quarantine_holds(struct database *db, const char *worker, const char *uuid);

/* Whether an admin has released the device. Stores the reason first if the database does not have
 * it. */
bool quarantine_is_over(struct quarantine *quarantine, struct database *db);

#endif
