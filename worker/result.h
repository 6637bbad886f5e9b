/* podium-run's events about a job, on their way into the database.
 *
 * Pending events stay in memory until a write stores all of them in one transaction, under the
 * claim's fence. A failed write loses nothing: the next write tries again. A write may succeed
 * although its answer is lost. The stored number of events then shows that it succeeded, so no
 * event is stored twice. */
#ifndef PODIUM_WORKER_RESULT_H
#define PODIUM_WORKER_RESULT_H

#include "lib/base/error.h"
#include "lib/database/database.h"
#include "worker/queue.h"

#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>

enum { result_most_samples = 4000 }; /* for each case */

struct result {
	struct claim claim;
	json_t *pending;   /* array of events not known to be stored */
	json_t *file;      /* the parts so far of a plan or blob; NULL between files */
	size_t file_bytes; /* of all plans and blobs, packed */
	json_t *blobs;     /* array of the SHA-256 of large blobs, as hex digits */
	int64_t written;   /* number of stored events */
	/* The newest progress text. */
	char progress[65];
	char stage[16];   /* the newest stage's name */
	bool over;        /* the verdict has arrived */
	char verdict[32]; /* the verdict's name */
	/* The verdict blames this machine; such a verdict is not stored. */
	bool machine_failed;
	char reason[1024]; /* the verdict's reason, one sentence */
	/* How many zygotes podium-run had started by the verdict; SQL_NULL_INTEGER: unknown. */
	int64_t zygotes;
};

struct result result_begin(const struct claim *claim);
void result_end(struct result *result);

/* Takes over the caller's reference to an event. Ignores events of other jobs. */
void result_take(struct result *result, json_t *event);

/* Whether events wait for a write. */
bool result_is_pending(const struct result *result);

/* Stores the pending events and renews the lease. With the verdict, also completes the job. A
 * ranked job that passed then enters the ranking, or is held for review if its times are
 * implausible (lib/judging/review.h). A comparison's result is applied. ERROR_CONFLICT: the claim
 * is lost and nothing was stored. */
int result_write(struct result *result, struct database *db, int64_t lease_ms, struct error *error);

#endif
