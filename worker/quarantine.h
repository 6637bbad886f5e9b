/* The quarantine of a GPU that has stopped working: it stands in the table `gpus` with its reason, and the GPU gets no
 * jobs until an admin releases it, or its worker starts anew, and it works again. */
#ifndef PODIUM_WORKER_QUARANTINE_H
#define PODIUM_WORKER_QUARANTINE_H

#include "lib/database.h"
#include "lib/error.h"
#include "worker/queue.h"

#include <stdbool.h>

enum { quarantine_most_lost = 3 };

/* `reason`: a sentence for admins. One that is in quarantine already keeps its time. */
int quarantine_put(struct database *db, const char *worker, const char *uuid, const char *reason, struct error *error);

/* Whether it was released since it was put there. */
int quarantine_is_over(struct database *db, const char *worker, const char *uuid, bool *is_over, struct error *error);

/* Gives a job back that a GPU was lost under, so that another one takes it. That is no attempt of the job; but one that
 * has lost quarantine_most_lost GPUs fails, so that it does not take all of them along. ERROR_CONFLICT as queue_hold. */
int quarantine_give_back(struct database *db, const struct claim *claim, const char *reason, struct error *error);

#endif
