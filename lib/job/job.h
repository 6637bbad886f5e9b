/* Facts about the rows of `jobs` on which pages, commands and the worker must agree. */
#ifndef PODIUM_LIB_JOB_JOB_H
#define PODIUM_LIB_JOB_JOB_H

#include "lib/leaderboard/visibility.h"

/* A job fails after this many attempts that failed through no fault of the submission. */
enum { job_most_attempts = 3 };

/* The error for a worker that has lost its claim; %lld is the job's number. */
#define JOB_IS_LOST \
	"Job %lld no longer belongs to this worker: its lease expired, or it was cancelled, paused " \
	"or deleted."

/* The end of a job's reason when its worker stopped renewing the lease. */
#define JOB_STOPPED_ANSWERING " stopped answering."

/* SQL condition: a cancelled job that its worker is still stopping, which takes a second or two. If
 * the worker is dead, this ends when the lease expires. */
#define SQL_IS_STOPPING(job) \
	"(" job ".state = 'cancelled' AND COALESCE(" job ".lease_expires > UTC_TIMESTAMP(3), FALSE))"

/* SQL condition: a passed result that is not ranked until an admin has reviewed it
 * (lib/judging/review.h). A new result of a rejudging counts as held only after the rejudging was
 * applied. */
#define SQL_IS_HELD(job) \
	"(" job ".held_at IS NOT NULL AND " job ".released_by IS NULL AND " job \
	".verdict = 'passed' AND " job ".submission_id IS NOT NULL)"

/* SQL expression: the number of a case in the task's list, from 1, as pages show it. `index` is the
 * number of the case within its stage, from 0. The two differ if the task ranks by the last
 * benchmark: the stages profile, ranked and compare then run only that benchmark (task_first_ranked
 * in lib/task/task.h). */
#define SQL_CASE_NUMBER(index, stage, version) \
	"(" index " + IF(" stage ".name IN ('profile', 'ranked', 'compare') AND JSON_VALUE(" version \
	".definition, '$.ranking_by') = 'last', GREATEST(JSON_LENGTH(" version \
	".definition, '$.benchmarks'), 1), 1))"

/* SQL condition: a job of mode ranked that has passed, has a score and is not held for review. */
#define SQL_HAS_SCORE(submission, job) \
	"(" submission ".mode = 'ranked' AND " job ".state = 'done' AND " job \
	".verdict = 'passed' AND " job ".score_ns IS NOT NULL AND NOT " SQL_IS_HELD(job) ")"

/* SQL expression: the engine that a task version now uses for a GPU model; NULL: none is stored. */
#define SQL_ENGINE_OF(version_id, gpu_model) \
	"(SELECT te.engine FROM task_engines te WHERE te.task_version_id = " version_id \
	" AND te.gpu IN ('', " gpu_model ") ORDER BY te.gpu DESC LIMIT 1)"

/* SQL condition: a job that ran on another engine than its task version now uses for its GPU model.
 * FALSE if one of the two engines is unknown, as for old results. */
#define SQL_HAS_OTHER_ENGINE(submission, job) \
	"COALESCE(" job \
	".engine <> " SQL_ENGINE_OF(submission ".task_version_id", job ".gpu") ", FALSE)"

/* SQL expression: the reason why a submission, or its author on the leaderboard, is disqualified;
 * NULL: neither is (lib/judging/exception.h). */
#define SQL_DISQUALIFICATION(submission) \
	"(SELECT dq.reason FROM disqualifications dq WHERE dq.leaderboard_id = " submission \
	".leaderboard_id AND dq.user_id = " submission \
	".user_id AND dq.submission_id IN (0, " submission \
	".id) ORDER BY dq.submission_id DESC LIMIT 1)"

/* Three SQL conditions. SQL_IS_RANKED: the job belongs in the ranking. It has a score
 * (SQL_HAS_SCORE) and none of these reasons excludes it:
 * - practice
 * - a withdrawn, disqualified or hidden submission
 * - another engine than the task version now uses
 * - a device that waits for its check (leaderboard_gpus.closed_at)
 * - it finished after a freeze that has not been lifted
 *
 * SQL_IS_ELIGIBLE: none of these reasons excludes it. SQL_IS_MEASURED leaves out three of the
 * reasons: withdrawn, disqualified, and a closed device. Such results still count in the time of
 * their file, so that nobody can withdraw an unlucky one. */
#define SQL_IS_RANKED(submission, job) \
	"(" SQL_HAS_SCORE(submission, job) " AND " SQL_IS_ELIGIBLE(submission, job) ")"
#define SQL_IS_ELIGIBLE(submission, job) \
	"(" submission \
	".withdrawn_at IS NULL AND " SQL_DISQUALIFICATION(submission) " IS NULL AND " SQL_IS_MEASURED( \
		submission, job) " AND NOT EXISTS (SELECT 1 FROM leaderboard_gpus shut " \
						 "WHERE shut.leaderboard_id = " submission \
						 ".leaderboard_id AND shut.gpu = " job \
						 ".gpu AND shut.closed_at IS NOT NULL))"
#define SQL_IS_MEASURED(submission, job) \
	"(" submission ".hidden_at IS NULL AND NOT " submission \
	".practice AND NOT " SQL_HAS_OTHER_ENGINE( \
		submission, job) " AND NOT EXISTS (SELECT 1 FROM " \
						 "leaderboards still WHERE still.id = " submission \
						 ".leaderboard_id AND " SQL_IS_WITHHELD("still", job) "))"

#endif
