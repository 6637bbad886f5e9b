/* Who may see a leaderboard and everything that belongs to it: its task, rankings, submissions,
 * sources, files, comparisons and rows of the queue. Everyone else gets "not found".
 *
 * - public: everybody
 * - closed: its members (cgi/action/invite.h), the people in teams that are members, and users who
 *   have a right on it (right.h). A person who was removed from it cannot see it, even if a team of
 *   theirs is a member.
 * - hidden: users who have a right on it
 *
 * Every statement that reads on behalf of a visitor includes SQL_MAY_SEE in its WHERE or ON clause.
 * The one `?` of SQL_MAY_SEE is the visitor's users.id, 0: not signed in. For a public leaderboard
 * the condition needs no lookup in other tables. */
#ifndef PODIUM_LIB_LEADERBOARD_VISIBILITY_H
#define PODIUM_LIB_LEADERBOARD_VISIBILITY_H

#include "lib/account/team.h"
#include "lib/leaderboard/freeze.h"
#include "lib/leaderboard/right.h"
#include "lib/leaderboard/source_policy.h"

#define SQL_MAY_SEE(leaderboard) SQL_SEES("?", leaderboard)
/* SQL_MAY_SEE for another user than the visitor. `user_id` is an expression of users.id. */
#define SQL_SEES(user_id, leaderboard) \
	"(" leaderboard \
	".visibility = 'public' OR EXISTS (SELECT 1 FROM users seer WHERE seer.id = " user_id " " \
	"AND (" SQL_RIGHT_OF( \
		"seer", leaderboard) " > 0 OR (" leaderboard ".visibility = 'closed' " \
							 "AND " SQL_HAS_OWN("seer.id", "leaderboard_members", "seat", \
								 "seat.leaderboard_id = " leaderboard \
								 ".id AND NOT EXISTS (SELECT 1 FROM leaderboard_removals gone " \
								 "WHERE gone.leaderboard_id = " leaderboard \
								 ".id AND gone.user_id = seer.id)") "))))"

/* SQL condition: the user, a row of users, may answer questions about the leaderboard
 * (lib/question/question.h). Everybody with a right on it may, even the jury. SQL_MAY_ANSWER is the
 * same for the visitor, the one `?`. */
#define SQL_ANSWERS(user, leaderboard) "(" SQL_RIGHT_OF(user, leaderboard) " > 0)"
#define SQL_MAY_ANSWER(leaderboard) \
	"EXISTS (SELECT 1 FROM users answerer WHERE answerer.id = ? AND " SQL_ANSWERS( \
		"answerer", leaderboard) ")"

/* Like SQL_MAY_SEE for a visitor who is not signed in, but without a `?`. */
#define SQL_IS_PUBLIC(leaderboard) "(" leaderboard ".visibility = 'public')"

/* ---- SQL conditions with one `?`: the visitor's users.id, 0: not signed in ---- */

/* SQL_READS: the user, a row of users, acts for the author of the submission (lib/account/team.h),
 * or may read all of its leaderboard. It has no `?`. SQL_IS_READER is the same for the visitor. */
#define SQL_READS(user, submission, leaderboard) \
	"(" SQL_ACTS_FOR(user ".id", submission ".user_id") " OR " SQL_RIGHT_OF( \
		user, leaderboard) " > 0)"
#define SQL_IS_READER(submission, leaderboard) \
	"EXISTS (SELECT 1 FROM users reader WHERE reader.id = ? AND " SQL_READS( \
		"reader", submission, leaderboard) ")"

/* The visitor may see the submission. Only its readers see hidden submissions and those of a dry
 * run. */
#define SQL_IS_SHOWN(submission, leaderboard) \
	"((" submission ".hidden_at IS NULL AND NOT " submission \
	".dry_run) OR " SQL_IS_READER(submission, leaderboard) ")"

/* The visitor may see the submission's page. Only its readers see the page of a dry run's
 * submission (lib/leaderboard/dry_run.h). Everyone else gets "not found". */
#define SQL_MAY_SEE_TRIAL(submission, leaderboard) \
	"(NOT " submission ".dry_run OR " SQL_IS_READER(submission, leaderboard) ")"

/* The visitor, who may see the submission, may also see its source (source_policy.h). */
#define SQL_MAY_SEE_SOURCE(submission, leaderboard) \
	"((NOT " submission ".dry_run AND " SQL_SOURCES_ARE_OPEN( \
		leaderboard) ") " \
					 "OR EXISTS (SELECT 1 FROM users reader WHERE reader.id = ? AND (" SQL_READS( \
						 "reader", submission, \
						 leaderboard) " OR (NOT " submission \
									  ".dry_run AND " SQL_SOURCES_ARE_OPEN_TO( \
										  "reader", leaderboard) "))))"

/* The visitor, who may see the submission, may also see the times of this job. Times that are held
 * for review or that a freeze withholds are only for the submission's readers. */
#define SQL_MAY_SEE_TIMES(submission, leaderboard, job) \
	"(NOT (" SQL_WAITS_FOR_REVIEW(job) " OR " SQL_IS_WITHHELD( \
		leaderboard, job) ") OR " SQL_IS_READER(submission, leaderboard) ")"
/* The visitor, who may see the submission, may also see the state and the verdict of this job. */
#define SQL_MAY_SEE_RESULT(submission, leaderboard, job) \
	"(NOT " SQL_IS_WITHHELD(leaderboard, job) " OR " SQL_IS_READER(submission, leaderboard) ")"
#define SQL_WAITS_FOR_REVIEW(job) "(" job ".held_at IS NOT NULL AND " job ".released_by IS NULL)"

#endif
