/* The worker's row in the database: its name, its host, its devices, and when it was last seen. */
#ifndef PODIUM_WORKER_REGISTRATION_H
#define PODIUM_WORKER_REGISTRATION_H

#include "lib/base/error.h"
#include "lib/database/database.h"
#include "lib/gpu/device.h"
#include "worker/assignment.h"

#include <stdbool.h>

struct registration {
	const char *name;
	const struct device *devices;
	size_t device_count;
	const struct tools *tools;
	const char *checks; /* podium-run's host checks as JSON; NULL: none were made */
	int64_t protocol;   /* this program's protocol number (sql/schema.h) */
	int64_t instance;   /* random; tells this process from others of its name */
};

/* Writes the worker's row and its devices, and takes the name over from an earlier process. Removes
 * devices that are gone, unless they are in quarantine. Ends the quarantine of devices that are
 * present. */
int registration_write(
	struct database *db, const struct registration *registration, struct error *error);

/* Stores a device's product, memory, driver and compute capability once they are known. */
int registration_describe(
	struct database *db, const char *worker, const struct device *device, struct error *error);

/* Stores whether the worker waits for a device that another process on the machine has locked. */
int registration_wait(struct database *db, const char *worker, const struct device *device,
	bool waits, struct error *error);

/* Renews the worker's "last seen" and stores its counters (worker/figures.h). *database_ms gets the
 * database's clock. ERROR_NOT_FOUND when the row is gone, ERROR_CONFLICT when another process has
 * taken the name over. */
int registration_renew(struct database *db, const struct registration *registration,
	int64_t *database_ms, struct error *error);

#endif
