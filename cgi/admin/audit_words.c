/* The words that the panel shows for the actions of the audit log. */
#include "cgi/admin/admin.h"
#include "lib/base/scope.h"

#include <string.h>

const char *audit_words(const char *action)
{
	static const struct {
		const char *action, *words;
	} all[] = {
		{ "account.delete", "Deleted own account" },
		{ "announcement.end", "Ended announcement" },
		{ "announcement.make", "Made announcement" },
		{ "contest.change", "Changed contest" },
		{ "contest.create", "Created contest" },
		{ "contest.final", "Declared standings final" },
		{ "contest.register", "Registered contestant" },
		{ "contest.reopen", "Reopened standings" },
		{ "contest.unregister", "Removed contestant" },
		{ "gpu.release", "Released GPU" },
		{ "intake.start", "Accepted submissions again" },
		{ "intake.stop", "Stopped submissions" },
		{ "invite.create", "Created invite code" },
		{ "invite.revoke", "Revoked invite code" },
		{ "leaderboard.clone", "Cloned leaderboard" },
		{ "leaderboard.create", "Created leaderboard" },
		{ "leaderboard.delete", "Deleted leaderboard" },
		{ "leaderboard.disqualify", "Disqualified user" },
		{ "leaderboard.dryrun", "Started dry run" },
		{ "leaderboard.extend", "Changed user's deadline" },
		{ "leaderboard.publish", "Published leaderboard" },
		{ "leaderboard.readmit", "Readmitted member" },
		{ "leaderboard.remove", "Removed member" },
		{ "leaderboard.role", "Changed role on leaderboard" },
		{ "leaderboard.switch", "Switched version" },
		{ "leaderboard.update", "Changed leaderboard" },
		{ "question.answer", "Answered question" },
		{ "rejudging.apply", "Applied rejudging" },
		{ "rejudging.discard", "Discarded rejudging" },
		{ "rejudging.start", "Started rejudging" },
		{ "review.reject", "Rejected held result" },
		{ "review.release", "Released held result" },
		{ "submission.cancel", "Cancelled submission" },
		{ "submission.disqualify", "Disqualified submission" },
		{ "submission.for_user", "Submitted for user" },
		{ "submission.hide", "Hid submission" },
		{ "submission.hold", "Held submission" },
		{ "submission.note", "Noted on submission" },
		{ "submission.show", "Showed submission again" },
		{ "team.add", "Added member to team" },
		{ "team.create", "Created team" },
		{ "team.join", "Joined team" },
		{ "team.leave", "Left team" },
		{ "team.remove", "Removed member from team" },
		{ "user.add", "Added user" },
		{ "user.add_factor", "Added second factor" },
		{ "user.ban", "Banned user" },
		{ "user.invite", "Created account" },
		{ "user.link", "Made password link" },
		{ "user.link_identity", "Linked identity" },
		{ "user.mail", "Changed e-mail" },
		{ "user.password", "Changed password" },
		{ "user.recovery_code", "Used recovery code" },
		{ "user.recovery_codes", "Made recovery codes" },
		{ "user.refuse_passkey", "Refused passkey" },
		{ "user.remove_factor", "Removed second factor" },
		{ "user.role", "Changed role" },
		{ "user.unban", "Lifted ban" },
		{ "user.unlink_identity", "Unlinked identity" },
		{ "webhook.change", "Changed webhook" },
		{ "webhook.create", "Created webhook" },
		{ "webhook.delete", "Deleted webhook" },
		{ "webhook.pause", "Paused webhook" },
		{ "webhook.resume", "Resumed webhook" },
		{ "webhook.rotate", "Replaced webhook secret" },
		{ "webhook.test", "Tested webhook" },
		{ "worker.drain", "Drained worker" },
		{ "worker.invite", "Invited worker" },
		{ "worker.pause", "Paused worker" },
		{ "worker.quarantine", "Quarantined device" },
		{ "worker.resume", "Resumed worker" },
		{ "worker.revoke", "Revoked worker" },
	};
	for (size_t i = 0; i < COUNT(all); i++)
		if (strcmp(all[i].action, action) == 0)
			return all[i].words;
	return action;
}
