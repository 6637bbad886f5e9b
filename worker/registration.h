/* The worker's entry in the database: its name, its host, its devices, and when it was last heard
 * of. */
#ifndef PODIUM_WORKER_REGISTRATION_H
#define PODIUM_WORKER_REGISTRATION_H

#include "lib/database.h"
#include "lib/device.h"
#include "lib/error.h"
#include "worker/assignment.h"

struct registration {
	const char *name;
	const struct device *devices;
	size_t device_count;
	const struct tools *tools;
	const char *checks; /* what podium-run found on the host, as JSON; NULL: it did not look */
	int64_t protocol;   /* this program's number (sql/schema.h) */
	int64_t instance;   /* a random number that tells this process from another one of its name */
};

/* Writes the entry anew: devices that are gone are removed, unless they are in quarantine; those
 * that are there leave it. Takes the name over from a process that had it. */
int registration_write(
	struct database *db, const struct registration *registration, struct error *error);

/* Says what a device is that was known by its name alone: product, memory, driver and compute
 * capability. */
int registration_describe(
	struct database *db, const char *worker, const struct device *device, struct error *error);

/* "I am here", and what it has done (worker/figures.h); *database_ms is what time it is for the
 * database. ERROR_NOT_FOUND when there is no entry (any more), ERROR_CONFLICT when another process
 * has taken the name over since. */
int registration_renew(struct database *db, const struct registration *registration,
	int64_t *database_ms, struct error *error);

#endif
