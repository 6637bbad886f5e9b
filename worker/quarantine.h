/* The quarantine of a GPU that has stopped working: it stands in the table `gpus` with its reason,
 * and the GPU gets no jobs until an admin releases it, or its worker starts anew, and it works
 * again. */
#ifndef PODIUM_WORKER_QUARANTINE_H
#define PODIUM_WORKER_QUARANTINE_H

#include "lib/database.h"
#include "lib/device.h"
#include "lib/error.h"

#include <stdbool.h>

/* That of one device. Start with the first two members filled, all else zero. */
struct quarantine {
	const char *worker;
	const struct device *device;
	struct error reason; /* text: a sentence for admins; "": the device is not in quarantine */
	bool is_stored;      /* the database knows */
};

/* Begins it, or gives it a new reason; if the database is away, quarantine_is_over tries again. */
void quarantine_begin(
	struct quarantine *quarantine, struct database *db, const struct error *reason);
void quarantine_end(struct quarantine *quarantine);

/* The same for what passes by itself, as a cluster that does not answer: nobody has to release the
 * device, quarantine_pass ends it. Says it in the log once. */
void quarantine_wait(
	struct quarantine *quarantine, struct database *db, const struct error *reason);
void quarantine_pass(struct quarantine *quarantine, struct database *db);

bool quarantine_has_begun(const struct quarantine *quarantine);

/* ERROR_SYSTEM with a sentence while it lasts. */
int quarantine_error(const struct quarantine *quarantine, struct error *error);

/* Whether any device of a worker is in quarantine. False when the database does not say. */
bool quarantine_holds(struct database *db, const char *worker, const char *uuid);

/* Whether an admin has released the device since. */
bool quarantine_is_over(struct quarantine *quarantine, struct database *db);

#endif
