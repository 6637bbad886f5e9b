/* Who may see a leaderboard, and with it all that belongs to it: its task, rankings, submissions,
 * sources, files, comparisons and rows of the queue. To everybody else it does not exist: an
 * address of it answers as if there were none.
 *
 * public: everybody · closed: its members (lib/invite.h), its creator and admins · hidden: its
 * creator and admins.
 *
 * Every statement that reads on behalf of a visitor asks it, as a part of its WHERE or ON clause.
 * It has one `?`, the visitor's users.id, 0 for nobody. For a public leaderboard nothing further is
 * looked up. */
#ifndef PODIUM_LIB_VISIBILITY_H
#define PODIUM_LIB_VISIBILITY_H

#define SQL_MAY_SEE(leaderboard) \
	"(" leaderboard \
	".visibility = 'public' OR EXISTS (SELECT 1 FROM users seer WHERE seer.id = ? " \
	"AND (seer.role = 'admin' OR seer.id = " leaderboard ".creator_id OR (" leaderboard \
	".visibility = 'closed' " \
	"AND EXISTS (SELECT 1 FROM leaderboard_members seat WHERE seat.leaderboard_id = " leaderboard \
	".id AND seat.user_id = seer.id)))))"

/* The same for nobody, without a `?`. */
#define SQL_IS_PUBLIC(leaderboard) "(" leaderboard ".visibility = 'public')"

/* A part of a statement, true or false: the job ended while the leaderboard's public ranking stood
 * still, so its times are its author's, the creator's and admins' until the freeze is lifted. */
#define SQL_IS_WITHHELD(leaderboard, job) \
	"COALESCE(" leaderboard ".frozen_at < " job ".finished_at, FALSE)"

/* Parts of a statement, each with one `?`, the visitor's users.id, 0 for nobody. */

/* The visitor is the author of the submission, or an admin. */
#define SQL_IS_OWNER(submission) \
	"EXISTS (SELECT 1 FROM users owner WHERE owner.id = ? AND (owner.id = " submission \
	".user_id OR owner.role = 'admin'))"

/* What an admin has hidden, or a dry run has handed in, is its author's and admins'. */
#define SQL_IS_SHOWN(submission) \
	"((" submission ".hidden_at IS NULL AND NOT " submission \
	".dry_run) OR " SQL_IS_OWNER(submission) ")"

/* The page of what a dry run has handed in (lib/dry_run.h) is also the leaderboard's creator's; to
 * all others there is no such submission. */
#define SQL_MAY_SEE_TRIAL(submission, leaderboard) \
	"(NOT " submission ".dry_run OR EXISTS (SELECT 1 FROM users tester WHERE tester.id = ? " \
	"AND (tester.id IN (" submission ".user_id, " leaderboard \
	".creator_id) OR tester.role = 'admin')))"

/* The source of a submission that the visitor may see. */
#define SQL_MAY_SEE_SOURCE(submission, leaderboard) \
	"((" leaderboard ".deadline <= UTC_TIMESTAMP(3) AND " leaderboard \
	".sources_public_after_deadline AND NOT " submission \
	".dry_run) OR " SQL_IS_OWNER(submission) ")"

/* The times of a job of such a submission: not those that an admin doubts, nor those that came
 * while the ranking stood still. */
#define SQL_MAY_SEE_TIMES(submission, leaderboard, job) \
	"(NOT ((" job ".held_at IS NOT NULL AND " job ".released_by IS NULL) OR " SQL_IS_WITHHELD( \
		leaderboard, job) ") OR " SQL_IS_OWNER(submission) ")"

#endif
