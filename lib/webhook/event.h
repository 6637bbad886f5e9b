/* Writes the events of webhooks, in the transaction that causes them. podium-hooks sends them
 * later. No event is therefore sent for a change that was rolled back, and none is lost. Nothing
 * is written when no webhook wants the event.
 *
 * A leaderboard's webhooks get what its page shows to its visitors. The site's webhooks get only
 * public leaderboards (docs/webhooks.md).
 *
 * These cause no event, and podium-hooks checks that again before it sends:
 * - hidden leaderboards, dry runs, and hidden or withdrawn submissions
 * - results that are held for review: only the event `job`, which has no time
 * - results that finished while the ranking was frozen: only the event `job` */
#ifndef PODIUM_LIB_WEBHOOK_EVENT_H
#define PODIUM_LIB_WEBHOOK_EVENT_H

#include "lib/base/error.h"
#include "lib/database/database.h"
#include "lib/job/job.h"

#include <stdint.h>

/* Call this in the transaction that finished a job, done or failed. The event does not contain
 * the measured time. */
int webhook_tell_job(struct database *db, int64_t job_id, struct error *error);

/* Call this in the transaction that ranked a job. Writes the event `ranked`, and `record` if the
 * result is now the fastest. */
int webhook_tell_ranked(struct database *db, int64_t job_id, struct error *error);

/* Call these in the transaction that stored a question, or an answer for all. A question may be
 * private, so `asked` contains no text and no name. */
int webhook_tell_asked(struct database *db, int64_t question_id, struct error *error);
int webhook_tell_answered(struct database *db, int64_t question_id, struct error *error);

/* Call this in the transaction that notes that an announcement on a leaderboard has begun. */
int webhook_tell_announced(struct database *db, int64_t announcement_id, struct error *error);

/* SQL condition: the leaderboard takes ranked submissions and is not hidden. */
#define SQL_IS_OPEN(leaderboard) \
	"(" leaderboard ".visibility <> 'hidden' AND " leaderboard ".accepting AND " leaderboard \
	".archived_at IS NULL " \
	"AND (" leaderboard ".deadline IS NULL OR " leaderboard ".deadline > UTC_TIMESTAMP(3)))"

/* Writes events for leaderboards that opened or ended since the last call, one transaction each.
 * Several programs may call this at the same time. */
int webhook_tell_changes(struct database *db, struct error *error);

/* Call this in the transaction that notes a contest's start or end, or declares its standings
 * final. The event goes to the site's webhooks, if they may see the problem, and to the webhooks of
 * one problem: the first public one, or else the first that is not hidden. */
enum webhook_contest_event {
	WEBHOOK_CONTEST_STARTED,
	WEBHOOK_CONTEST_ENDED,
	WEBHOOK_STANDINGS_FINAL
};
int webhook_tell_contest(
	struct database *db, enum webhook_contest_event event, int64_t contest_id, struct error *error);

/* SQL condition: the webhook `hook` may receive events of the leaderboard. */
#define SQL_MAY_HEAR(hook, leaderboard) \
	"((" hook ".leaderboard_id = " leaderboard ".id AND " leaderboard ".visibility <> 'hidden') " \
	"OR (" hook ".leaderboard_id IS NULL AND " SQL_IS_PUBLIC(leaderboard) "))"

/* SQL condition: events may mention the submission's results. */
#define SQL_MAY_BE_TOLD(submission) \
	"(" submission ".hidden_at IS NULL AND " submission \
	".withdrawn_at IS NULL AND NOT " submission ".dry_run)"

#endif
