/* Who may see a leaderboard and everything that belongs to it: its task, rankings, submissions,
 * sources, files, comparisons and rows of the queue. Everyone else gets "not found".
 *
 * - public: everybody
 * - closed: its members (cgi/action/invite.h), and who has a right on it (right.h)
 * - hidden: who has a right on it
 *
 * Every statement that reads on behalf of a visitor includes SQL_MAY_SEE in its WHERE or ON clause.
 * The one `?` of SQL_MAY_SEE is the visitor's users.id, 0: not signed in. For a public leaderboard
 * the condition needs no lookup in other tables. */
#ifndef PODIUM_LIB_LEADERBOARD_VISIBILITY_H
#define PODIUM_LIB_LEADERBOARD_VISIBILITY_H

#include "lib/leaderboard/right.h"

#define SQL_MAY_SEE(leaderboard) \
	"(" leaderboard \
	".visibility = 'public' OR EXISTS (SELECT 1 FROM users seer WHERE seer.id = ? " \
	"AND (" SQL_RIGHT_OF("seer", leaderboard) " > 0 OR (" leaderboard ".visibility = 'closed' " \
											  "AND EXISTS (SELECT 1 FROM leaderboard_members " \
											  "seat WHERE seat.leaderboard_id = " leaderboard \
											  ".id AND seat.user_id = seer.id)))))"

/* Like SQL_MAY_SEE for a visitor who is not signed in, but without a `?`. */
#define SQL_IS_PUBLIC(leaderboard) "(" leaderboard ".visibility = 'public')"

/* A part of a statement, true or false: the job finished after the public ranking was frozen, and
 * the freeze has not been lifted. Only the job's author and who may read all of the leaderboard may
 * then see its times. */
#define SQL_IS_WITHHELD(leaderboard, job) \
	"COALESCE(" leaderboard ".frozen_at < " job ".finished_at, FALSE)"

/* ---- parts of a statement, each with one `?`: the visitor's users.id, 0: not signed in ---- */

/* The visitor is the author of the submission, or may read all of its leaderboard. */
#define SQL_IS_READER(submission, leaderboard) \
	"EXISTS (SELECT 1 FROM users reader WHERE reader.id = ? AND (reader.id = " submission \
	".user_id OR " SQL_RIGHT_OF("reader", leaderboard) " > 0))"

/* The visitor may see the submission. Only its readers see hidden submissions and those of a dry
 * run. */
#define SQL_IS_SHOWN(submission, leaderboard) \
	"((" submission ".hidden_at IS NULL AND NOT " submission \
	".dry_run) OR " SQL_IS_READER(submission, leaderboard) ")"

/* The visitor may see the submission's page. Only its readers see that of a dry run
 * (lib/leaderboard/dry_run.h). Everyone else gets "not found". */
#define SQL_MAY_SEE_TRIAL(submission, leaderboard) \
	"(NOT " submission ".dry_run OR " SQL_IS_READER(submission, leaderboard) ")"

/* The deadline has passed, also for users with a later one (lib/judging/exception.h). Without a
 * `?`. */
#define SQL_IS_OVER(leaderboard) \
	"(COALESCE(" leaderboard \
	".deadline <= UTC_TIMESTAMP(3), FALSE) AND NOT EXISTS (SELECT 1 FROM " \
	"leaderboard_extensions late WHERE late.leaderboard_id = " leaderboard \
	".id AND late.deadline > UTC_TIMESTAMP(3)))"

/* The visitor, who may see the submission, may also see its source. */
#define SQL_MAY_SEE_SOURCE(submission, leaderboard) \
	"((" SQL_IS_OVER(leaderboard) " AND " leaderboard \
								  ".sources_public_after_deadline AND NOT " submission \
								  ".dry_run) OR " SQL_IS_READER(submission, leaderboard) ")"

/* The visitor, who may see the submission, may also see the times of this job. Times that are held
 * for review or that a freeze withholds are only for the submission's readers. */
#define SQL_MAY_SEE_TIMES(submission, leaderboard, job) \
	"(NOT (" SQL_WAITS_FOR_REVIEW(job) " OR " SQL_IS_WITHHELD( \
		leaderboard, job) ") OR " SQL_IS_READER(submission, leaderboard) ")"
#define SQL_WAITS_FOR_REVIEW(job) "(" job ".held_at IS NOT NULL AND " job ".released_by IS NULL)"

#endif
