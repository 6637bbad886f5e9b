/* Cancels submissions. */
#ifndef PODIUM_CGI_ACTION_CANCELLATION_H
#define PODIUM_CGI_ACTION_CANCELLATION_H

#include "lib/base/error.h"
#include "lib/database/database.h"
#include "lib/leaderboard/leaderboard.h"

#include <stdint.h>

/* Numbers of the submission's jobs by their state before the cancellation. */
struct cancellation {
	int64_t waiting, running, ended;
};

/* Cancels the submission's queued and running jobs; a finished job keeps its result. A queued job
 * ends immediately. The worker of a running job notices within a second and stops it.
 * SQL_IS_STOPPING (lib/job/job.h) is true for a running job until its worker has stopped it. The
 * reason stored with the jobs names the actor. `owner_id` is the author; if the actor is somebody
 * else, also a member of the author's team, the audit log gets an entry. */
int submission_cancel(struct database *db, int64_t submission_id, int64_t owner_id,
	const struct actor *actor, struct cancellation *cancellation, struct error *error);

#endif
