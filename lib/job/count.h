/* How many jobs ended how, on which model, by which worker: counted in the transaction that ends
 * them, and never down, also when the jobs are deleted later. An attempt that came to nothing is
 * counted as well:
 *
 *     lease expired   its worker stopped answering
 *     machine failed  its worker gave it back because podium-run or the host failed
 *     gpu lost        its worker gave it back because a GPU stopped working
 *
 * A verdict that an admin changes later stays counted as it was. */
#ifndef PODIUM_LIB_JOB_COUNT_H
#define PODIUM_LIB_JOB_COUNT_H

#include "lib/database.h"
#include "lib/error.h"

#include <stdint.h>

/* Inside the transaction, behind the statement that has ended the job. */
int job_count_end(struct database *db, int64_t job_id, struct error *error);

/* Inside the transaction, before the statement that takes the job from its worker. */
int job_count_attempt(
	struct database *db, int64_t job_id, const char *outcome, struct error *error);

/* Before a statement that cancels several jobs at once: counts and locks them. A part of a
 * statement: FROM and WHERE are those of the statement that follows, its table of jobs is j. */
#define SQL_COUNT_CANCELLED(from_where) \
	"INSERT INTO job_counts (worker, gpu, outcome, jobs) " \
	"SELECT COALESCE(j.lease_owner, ''), j.gpu, 'cancelled', COUNT(DISTINCT j.id) AS more " \
	"FROM " from_where " GROUP BY COALESCE(j.lease_owner, ''), j.gpu " \
	"FOR UPDATE ON DUPLICATE KEY UPDATE jobs = jobs + VALUES(jobs)"

#endif
