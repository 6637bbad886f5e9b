/* Ending a submission before it has ended by itself. */
#ifndef PODIUM_LIB_CANCELLATION_H
#define PODIUM_LIB_CANCELLATION_H

#include "lib/database.h"
#include "lib/error.h"
#include "lib/leaderboard.h"

#include <stdint.h>

struct cancellation {
	int64_t waiting, running, ended;
}; /* the submission's jobs as they were */

/* Cancels every job of the submission that is queued or running; a job that has ended keeps its
 * result, however close that was. A queued job ends at once. A running one is taken from its
 * worker, which notices within a second and stops it; until it has, SQL_IS_STOPPING (lib/job.h)
 * holds. The jobs' reason says by whom; if that is not the author, `owner_id`, the audit log gets
 * an entry. */
int submission_cancel(struct database *db, int64_t submission_id, int64_t owner_id,
	const struct actor *actor, struct cancellation *cancellation, struct error *error);

#endif
