/* Records: each result that was faster than all that were ranked before it, in the order in which their jobs ended; and baselines:
 * what the task's own samples and templates take, from submissions that are one of them, byte for byte. Both are kept beside
 * the ranking (lib/ranking.h), in the same transactions. */
#ifndef PODIUM_LIB_RECORD_H
#define PODIUM_LIB_RECORD_H

#include "lib/ranking.h"

/* A part of a statement: a job and its submission that a ranking takes in. */
#define SQL_IS_RANKED(submission, job) \
	"(" submission ".mode = 'ranked' AND " job ".state = 'done' AND " job ".verdict = 'passed' AND " job ".score_ns IS NOT NULL " \
	"AND NOT " SQL_IS_HELD(job) ")"

/* While the ranking is locked: takes a job that has come into it for a record if it is one. A job that ran before, or ended
 * before the newest record, changes what came after it, so then all records of the ranking are found anew. */
int record_take(struct database *db, struct arena *arena, const struct ranking_key *key, int64_t job_id, struct error *error);

/* All of a leaderboard, from its jobs. */
int record_rebuild(struct database *db, int64_t leaderboard_id, struct error *error);

#endif
