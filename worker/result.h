/* What podium-run says about a job, on its way into the database.
 *
 * Events are kept until they are written; a write takes all that are there in one transaction,
 * under the claim's fence. If it fails nothing is lost: the next one tries again. A write that has
 * arrived although its answer was lost is recognized by the number of events that are stored with
 * it, and nothing of it is written twice. */
#ifndef PODIUM_WORKER_RESULT_H
#define PODIUM_WORKER_RESULT_H

#include "lib/database.h"
#include "lib/error.h"
#include "worker/queue.h"

#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>

enum { result_most_samples = 4000 }; /* of a case */

struct result {
	struct claim claim;
	json_t *pending;     /* array of events that are not known to be written */
	int64_t written;     /* events that are */
	char progress[65];   /* the newest */
	char stage[16];      /* the name of the newest */
	bool over;           /* the job's verdict has come */
	char verdict[32];    /* then its name, */
	bool machine_failed; /* whether it says that this machine is at fault; such a verdict is not
	                        written, */
	char reason[1024];   /* and its sentence */
	int64_t zygotes;     /* that podium-run had started by then; SQL_NULL_INTEGER: it did not say */
};

struct result result_begin(const struct claim *claim);
void result_end(struct result *result);

/* Takes an event over. Those of other jobs are ignored. */
void result_take(struct result *result, json_t *event);

/* Whether there is anything worth a write. */
bool result_is_pending(const struct result *result);

/* Writes what is pending and renews the lease; with the verdict the job is finished and, if it was
 * ranked and has passed, taken into the ranking, or held where its times cannot be (lib/review.h);
 * what a comparison says is heard there. ERROR_CONFLICT: the claim is lost and nothing was written.
 */
int result_write(struct result *result, struct database *db, int64_t lease_ms, struct error *error);

#endif
