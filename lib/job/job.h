/* What the pages, the commands and the worker must agree on about the rows of `jobs`. */
#ifndef PODIUM_LIB_JOB_H
#define PODIUM_LIB_JOB_H

#include "lib/visibility.h"

/* Attempts that come to nothing through no fault of the submission; after the last the job has
 * failed. */
enum { job_most_attempts = 3 };

/* What is said to a worker about a job that it had claimed; the job's number fills it. */
#define JOB_IS_LOST \
	"Job %lld is no longer this worker's: its lease ran out, or it was cancelled, paused or " \
	"deleted."

/* How the reason of a job ends whose worker was not heard of any more. */
#define JOB_STOPPED_ANSWERING " stopped answering."

/* A part of a statement: a cancelled job whose worker has not let go of it yet, which takes it a
 * second or two. If the worker is dead, its lease ends. */
#define SQL_IS_STOPPING(job) \
	"(" job ".state = 'cancelled' AND COALESCE(" job ".lease_expires > UTC_TIMESTAMP(3), FALSE))"

/* A part of a statement: a result that has passed and is not ranked before an admin has looked at
 * it (lib/review.h). One of a rejudging is none before it is applied. */
#define SQL_IS_HELD(job) \
	"(" job ".held_at IS NOT NULL AND " job ".released_by IS NULL AND " job \
	".verdict = 'passed' AND " job ".submission_id IS NOT NULL)"

/* A part of a statement: a job of mode ranked that has passed and has a time. */
#define SQL_HAS_SCORE(submission, job) \
	"(" submission ".mode = 'ranked' AND " job ".state = 'done' AND " job \
	".verdict = 'passed' AND " job ".score_ns IS NOT NULL AND NOT " SQL_IS_HELD(job) ")"

/* A part of a statement: one that belongs into the ranking. Practice never does, nor what its
 * author has withdrawn or an admin hidden; what ended after a freeze does not before that is
 * lifted. */
#define SQL_IS_RANKED(submission, job) \
	"(" SQL_HAS_SCORE(submission, job) " AND " submission ".withdrawn_at IS NULL AND " submission \
									   ".hidden_at IS NULL " \
									   "AND NOT " submission \
									   ".practice AND NOT EXISTS (SELECT 1 FROM leaderboards " \
	                                   "still WHERE still.id = " submission ".leaderboard_id " \
									   "AND " SQL_IS_WITHHELD("still", job) "))"

#endif
