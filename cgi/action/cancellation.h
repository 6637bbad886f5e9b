/* Cancels submissions. */
#ifndef PODIUM_CGI_ACTION_CANCELLATION_H
#define PODIUM_CGI_ACTION_CANCELLATION_H

#include "lib/base/error.h"
#include "lib/database/database.h"
#include "lib/leaderboard/leaderboard.h"

#include <stdint.h>

struct cancellation {
	int64_t waiting, running, ended;
}; /* the submission's jobs by their previous state */

/* Cancels the submission's queued and running jobs; a finished job keeps its result. A queued job
 * ends immediately. The worker of a running job notices within a second and stops it. Until then
 * SQL_IS_STOPPING (lib/job/job.h) is true. The jobs' reason names the actor. If the actor is not
 * the author, `owner_id`, the audit log gets an entry. */
int submission_cancel(struct database *db, int64_t submission_id, int64_t owner_id,
	const struct actor *actor, struct cancellation *cancellation, struct error *error);

#endif
