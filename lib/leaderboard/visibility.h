/* Who may see a leaderboard and everything that belongs to it: its task, rankings, submissions,
 * sources, files, comparisons and rows of the queue. Everyone else gets "not found".
 *
 * - public: everybody
 * - closed: its members (cgi/action/invite.h), the people of teams among them, its creator and
 *   admins
 * - hidden: its creator and admins
 *
 * Every statement that reads on behalf of a visitor includes SQL_MAY_SEE in its WHERE or ON clause.
 * The one `?` of SQL_MAY_SEE is the visitor's users.id, 0: not signed in. For a public leaderboard
 * the condition needs no lookup in other tables. */
#ifndef PODIUM_LIB_LEADERBOARD_VISIBILITY_H
#define PODIUM_LIB_LEADERBOARD_VISIBILITY_H

#include "lib/account/team.h"

#define SQL_MAY_SEE(leaderboard) \
	"(" leaderboard \
	".visibility = 'public' OR EXISTS (SELECT 1 FROM users seer WHERE seer.id = ? " \
	"AND (seer.role = 'admin' OR seer.id = " leaderboard ".creator_id OR (" leaderboard \
	".visibility = 'closed' " \
	"AND EXISTS (SELECT 1 FROM leaderboard_members seat WHERE seat.leaderboard_id = " leaderboard \
	".id AND " SQL_ACTS_FOR("seer.id", "seat.user_id") ")))))"

/* Like SQL_MAY_SEE for a visitor who is not signed in, but without a `?`. */
#define SQL_IS_PUBLIC(leaderboard) "(" leaderboard ".visibility = 'public')"

/* A part of a statement, true or false: the job finished after the public ranking was frozen, and
 * the freeze has not been lifted. Only the job's author, the leaderboard's creator and admins may
 * then see its times. */
#define SQL_IS_WITHHELD(leaderboard, job) \
	"COALESCE(" leaderboard ".frozen_at < " job ".finished_at, FALSE)"

/* ---- parts of a statement, each with one `?`: the visitor's users.id, 0: not signed in ---- */

/* The visitor acts for the author of the submission (lib/account/team.h), or is an admin. "The
 * author" below means the same. */
#define SQL_IS_OWNER(submission) \
	"EXISTS (SELECT 1 FROM users owner WHERE owner.id = ? AND (owner.role = 'admin' " \
	"OR " SQL_ACTS_FOR("owner.id", submission ".user_id") "))"

/* The visitor may see the submission. Only the author and admins see hidden submissions and those
 * of a dry run. */
#define SQL_IS_SHOWN(submission) \
	"((" submission ".hidden_at IS NULL AND NOT " submission \
	".dry_run) OR " SQL_IS_OWNER(submission) ")"

/* The visitor may see the submission's page. Only the author, the leaderboard's creator and admins
 * see that of a dry run (lib/leaderboard/dry_run.h). Everyone else gets "not found". */
#define SQL_MAY_SEE_TRIAL(submission, leaderboard) \
	"(NOT " submission ".dry_run OR EXISTS (SELECT 1 FROM users tester WHERE tester.id = ? " \
	"AND (tester.id = " leaderboard ".creator_id OR tester.role = 'admin' OR " SQL_ACTS_FOR( \
		"tester.id", submission ".user_id") ")))"

/* The visitor, who may see the submission, may also see its source. */
#define SQL_MAY_SEE_SOURCE(submission, leaderboard) \
	"((" leaderboard ".deadline <= UTC_TIMESTAMP(3) AND " leaderboard \
	".sources_public_after_deadline AND NOT " submission \
	".dry_run) OR " SQL_IS_OWNER(submission) ")"

/* The visitor, who may see the submission, may also see the times of this job. Times that are held
 * for review are only for the author and admins. Times that a freeze withholds are also for the
 * leaderboard's creator. */
#define SQL_MAY_SEE_TIMES(submission, leaderboard, job) \
	"(NOT (" SQL_WAITS_FOR_REVIEW(job) " OR " SQL_IS_WITHHELD(leaderboard, \
		job) ") " \
			 "OR EXISTS (SELECT 1 FROM users reader WHERE reader.id = ? AND (" SQL_ACTS_FOR( \
				 "reader.id", \
				 submission ".user_id") " OR reader.role = 'admin' OR (reader.id = " leaderboard \
										".creator_id AND NOT " SQL_WAITS_FOR_REVIEW(job) "))))"
#define SQL_WAITS_FOR_REVIEW(job) "(" job ".held_at IS NOT NULL AND " job ".released_by IS NULL)"

#endif
