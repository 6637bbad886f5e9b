/* Counts of finished jobs per outcome, GPU model and worker. The transaction that finishes a job
 * counts it. Deleting the job later does not reduce the counts.
 *
 * Attempts without a verdict count as well, with these outcomes:
 *
 * - lease expired: the worker stopped answering
 * - machine failed: the worker gave the job back because podium-run or the host failed
 * - gpu lost: the worker gave the job back because a GPU stopped working
 *
 * A verdict that an admin changes later keeps its original count. */
#ifndef PODIUM_LIB_DATABASE_JOB_COUNT_H
#define PODIUM_LIB_DATABASE_JOB_COUNT_H

#include "lib/base/error.h"
#include "lib/database/database.h"

#include <stdint.h>

/* Call this inside the transaction, after the statement that finishes the job. */
int job_count_end(struct database *db, int64_t job_id, struct error *error);

/* Call this inside the transaction, before the statement that takes the job from its worker. */
int job_count_attempt(
	struct database *db, int64_t job_id, const char *outcome, struct error *error);

/* A statement that counts jobs as cancelled and locks them; run it before the statement that
 * cancels them. Both statements have the same FROM and WHERE, in which j is the table of jobs. */
#define SQL_COUNT_CANCELLED(from_where) \
	"INSERT INTO job_counts (worker, gpu, outcome, jobs) " \
	"SELECT COALESCE(j.lease_owner, ''), j.gpu, 'cancelled', COUNT(DISTINCT j.id) AS more " \
	"FROM " from_where " GROUP BY COALESCE(j.lease_owner, ''), j.gpu " \
	"FOR UPDATE ON DUPLICATE KEY UPDATE jobs = jobs + VALUES(jobs)"

#endif
