/* How the best times of a ranking came about, kept in the table `records` for its charts.
 *
 * A line belongs to a user, or, under the number 0, to everybody. It has every passed ranked job
 * that was faster than all of its line that were submitted before it, whenever they ended; so times
 * fall along it, and its last is the best. */
#ifndef PODIUM_LIB_RECORDS_H
#define PODIUM_LIB_RECORDS_H

#include "lib/database.h"
#include "lib/error.h"
#include "lib/ranking.h"

#include <stdint.h>

enum { records_everybody = 0 };

/* Inside the transaction that ranks a job, under its lock: takes the job into its user's line and
 * everybody's where it belongs there, also in the middle. A job that is there already and ran again
 * is looked at anew. */
struct record {
	const struct ranking_key *key;
	int64_t user_id, submission_id, job_id;
	double score_ns;
};
int records_insert(struct database *db, const struct record *record, struct error *error);

/* Under the same lock: makes the lines of a user and of everybody anew, from jobs, after one of the
 * user's has come or gone. */
int records_renew(
	struct database *db, const struct ranking_key *key, int64_t user_id, struct error *error);

/* Inside a transaction: recomputes all lines of a leaderboard from its jobs. Gives the same rows.
 */
int records_rebuild(struct database *db, int64_t leaderboard_id, struct error *error);

#endif
