/* Private to lib/ranking: how the best times of a ranking improved, stored in the table `records`
 * for its charts.
 *
 * Each line of a chart belongs to one user or, as line 0, to everybody. A passed ranked job is on
 * the line if it is faster than every earlier submission of that line. The order is that of
 * submission, whichever job finished first. Times therefore fall along the line, and its last job
 * is the best. */
#ifndef PODIUM_LIB_RANKING_RECORDS_H
#define PODIUM_LIB_RANKING_RECORDS_H

#include "lib/base/error.h"
#include "lib/database/database.h"
#include "lib/ranking/key.h"

#include <stdint.h>

enum { records_everybody = 0 };

/* Adds a job to its user's line and to everybody's line, if the job is a record there. A job that
 * finishes late enters the middle of a line and removes the later records that it beats. A job that
 * ran again is checked again. Runs inside the transaction that ranks the job, under its lock. */
struct record {
	const struct ranking_key *key;
	int64_t user_id, submission_id, job_id;
	double score_ns;
};
int records_insert(struct database *db, const struct record *record, struct error *error);

/* Recomputes the user's line and everybody's line from jobs, after the user gained or lost a job.
 * Runs under the same lock. */
int records_refresh(
	struct database *db, const struct ranking_key *key, int64_t user_id, struct error *error);

/* Inside a transaction: recomputes all lines of a leaderboard from its jobs. */
int records_rebuild(struct database *db, int64_t leaderboard_id, struct error *error);

#endif
