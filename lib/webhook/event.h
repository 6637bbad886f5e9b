/* What webhooks tell, written down in the transaction that does it, as rows that podium-hooks sends
 * later: so nothing is told that did not happen, and nothing that did is lost. Where no webhook
 * wants to hear of it, nothing is written.
 *
 * What each may tell (docs/webhooks.md): the webhooks of a leaderboard what its page shows to those
 * who may see it; those of the whole site only what concerns public leaderboards. Nobody is told of
 * hidden leaderboards, dry runs, what an admin has hidden or holds, nor of times that came while a
 * ranking stood still. podium-hooks asks all of that again when it sends. */
#ifndef PODIUM_LIB_WEBHOOK_EVENT_H
#define PODIUM_LIB_WEBHOOK_EVENT_H

#include "lib/database.h"
#include "lib/error.h"
#include "lib/job.h"

#include <stdint.h>

/* Inside a transaction that has ended a job, done or failed: without its time. */
int webhook_tell_job(struct database *db, int64_t job_id, struct error *error);

/* Inside the transaction that has taken a job into the ranking: that it is ranked, and if it is now
 * the fastest there, that it is a record. */
int webhook_tell_ranked(struct database *db, int64_t job_id, struct error *error);

/* A part of a statement: the leaderboard takes submissions for its ranking, and somebody besides
 * its creator sees it. */
#define SQL_IS_OPEN(leaderboard) \
	"(" leaderboard ".visibility <> 'hidden' AND " leaderboard ".accepting AND " leaderboard \
	".archived_at IS NULL " \
	"AND (" leaderboard ".deadline IS NULL OR " leaderboard ".deadline > UTC_TIMESTAMP(3)))"

/* Looks for leaderboards that have opened or ended since that was last told, in a transaction for
 * each. Any number of programs may do so at once. */
int webhook_tell_changes(struct database *db, struct error *error);

/* A part of a statement: webhook `hook` may hear of a leaderboard. */
#define SQL_MAY_HEAR(hook, leaderboard) \
	"((" hook ".leaderboard_id = " leaderboard ".id AND " leaderboard ".visibility <> 'hidden') " \
	"OR (" hook ".leaderboard_id IS NULL AND " SQL_IS_PUBLIC(leaderboard) "))"

/* A part of a statement: the submission's results may be told at all. */
#define SQL_MAY_BE_TOLD(submission) \
	"(" submission ".hidden_at IS NULL AND " submission \
	".withdrawn_at IS NULL AND NOT " submission ".dry_run)"

#endif
