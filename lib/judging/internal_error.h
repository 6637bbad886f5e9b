/* Internal errors of a leaderboard's jobs: the platform or the task failed, not the submission. The
 * leaderboard's creator and admins see the number of errors until one of them marks them as seen.
 */
#ifndef PODIUM_LIB_JUDGING_INTERNAL_ERROR_H
#define PODIUM_LIB_JUDGING_INTERNAL_ERROR_H

#include "lib/base/arena.h"
#include "lib/base/error.h"
#include "lib/database/database.h"

#include <stdint.h>

/* Counts a job that ends with an internal error, in the transaction that ends the job. */
int internal_error_note(struct database *db, int64_t job_id, struct error *error);

struct internal_errors {
	const char *leaderboard;
	int64_t errors, since_ms;
	int64_t newest_job_id, submission_id; /* submission_id: its page shows the job; 0: deleted */
};

/* The unseen errors of the leaderboards that a user created. An admin also gets those of
 * leaderboards without a creator, or of all leaderboards if `all` is 1. A statement for a bundle
 * with three parameters: the user, whether the user is an admin, and `all`. */
extern const struct statement internal_errors_reading;

/* The same for one leaderboard, with one parameter: its name. */
extern const struct statement internal_errors_of_leaderboard;

/* Marks the errors of the leaderboard as seen. */
int internal_errors_seen(struct database *db, int64_t leaderboard_id, struct error *error);

#endif
