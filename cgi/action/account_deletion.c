#include "cgi/action/account_deletion.h"

#include "cgi/action/cancellation.h"
#include "lib/account/audit.h"
#include "lib/account/team.h"
#include "lib/account/user.h"
#include "lib/base/format.h"
#include "lib/base/scope.h"
#include "lib/database/blob.h"
#include "lib/job/job.h"
#include "lib/ranking/head_to_head.h"
#include "lib/ranking/key.h"
#include "lib/ranking/ranking.h"

#include <string.h>

static const char INSTEAD_OF_SOURCE[] =
	"This source was deleted together with its author's account.\n";

/* ---- what the user has ---- */

/* A submission of a deleted account stays if it has a ranked result j, whether or not the result
 * counts now: otherwise its author could take unlucky measurements out of the mean of a file. */
#define JOBS_THAT_STAY \
	"jobs j ON j.submission_id = s.id AND NOT s.practice AND " SQL_HAS_SCORE("s", "j") " "

static const struct column EXTENT_COLUMNS[] = {
	INTEGER(struct account_extent, places),
	INTEGER(struct account_extent, kept),
	INTEGER(struct account_extent, deleted),
	INTEGER(struct account_extent, unfinished),
	INTEGER(struct account_extent, tokens),
	INTEGER(struct account_extent, seats),
	INTEGER(struct account_extent, leaderboards),
	INTEGER(struct account_extent, invites),
	INTEGER(struct account_extent, webhooks),
};
static const struct statement EXTENT = SELECT(struct account_extent, EXTENT_COLUMNS,
	"SELECT (SELECT COUNT(*) FROM ranking r WHERE r.user_id = u.id) AS places, "
	"own.kept, own.deleted, "
	"(SELECT COUNT(*) FROM jobs j WHERE j.user_id = u.id "
	"AND j.state IN ('queued', 'running')) AS unfinished, "
	"(SELECT COUNT(*) FROM api_tokens t WHERE t.user_id = u.id) AS tokens, "
	"(SELECT COUNT(*) FROM leaderboard_members m WHERE m.user_id = u.id) AS seats, "
	"(SELECT COUNT(*) FROM leaderboards l WHERE l.creator_id = u.id) AS leaderboards, "
	"(SELECT COUNT(*) FROM invites i WHERE i.created_by = u.id) AS invites, "
	"(SELECT COUNT(*) FROM webhooks h WHERE h.created_by = u.id) AS webhooks "
	"FROM users u CROSS JOIN (SELECT COUNT(DISTINCT j.submission_id) AS kept, "
	"  COUNT(DISTINCT s.id) - COUNT(DISTINCT j.submission_id) AS deleted "
	"  FROM submissions s LEFT JOIN " JOBS_THAT_STAY
	"  WHERE s.user_id = ? AND NOT s.dry_run) own WHERE u.id = ?");

int account_extent(struct database *db, struct arena *arena, int64_t user_id,
	struct account_extent *extent, struct error *error)
{
	return database_row(db, arena, &EXTENT, extent, error, "ii", user_id, user_id);
}

/* ---- steps of the deletion ---- */

struct owner {
	int64_t id;
	const char *name, *role;
	int64_t deleted_at_ms;
};
static const struct column OWNER_COLUMNS[] = {
	INTEGER(struct owner, id),
	TEXT(struct owner, name),
	TEXT(struct owner, role),
	TIME(struct owner, deleted_at_ms),
};
static const struct statement LOCK_OWNER = SELECT(struct owner, OWNER_COLUMNS,
	"SELECT id, name, role, deleted_at AS deleted_at_ms FROM users WHERE id = ? FOR UPDATE");

struct id_row {
	int64_t id;
};
static const struct column ID_COLUMNS[] = { INTEGER(struct id_row, id) };
/* Locks all admins, so that the last two cannot delete themselves at the same moment. */
static const struct statement LOCK_ADMINS = SELECT(struct id_row, ID_COLUMNS,
	"SELECT id FROM users WHERE role = 'admin' AND banned_at IS NULL "
	"AND deleted_at IS NULL FOR UPDATE");
static const struct statement UNFINISHED = SELECT(struct id_row, ID_COLUMNS,
	"SELECT DISTINCT s.id FROM submissions s JOIN jobs j ON j.submission_id = s.id "
	"WHERE s.user_id = ? AND j.state IN ('queued', 'running') "
	"ORDER BY s.id");

/* Locks the blobs of the user's sources, as leaderboard_delete does for a leaderboard. Another
 * transaction that wants to use one of these blobs waits. Afterwards it stores the blob again if
 * this transaction deleted it. */
struct used_blob {
	struct blob_value sha256;
};
static const struct column USED_COLUMNS[] = { BLOB(struct used_blob, sha256) };
static const struct statement LOCK_BLOBS = SELECT(struct used_blob, USED_COLUMNS,
	"SELECT b.sha256 FROM (SELECT DISTINCT sha256 FROM submissions WHERE user_id = ?) u "
	"STRAIGHT_JOIN blobs b ON b.sha256 = u.sha256 FOR UPDATE");
static const struct statement DELETE_BLOB =
	COMMAND("DELETE FROM blobs WHERE sha256 = ? AND NOT EXISTS (SELECT 1 FROM submissions s "
			"WHERE s.sha256 = blobs.sha256) "
			"AND NOT EXISTS (SELECT 1 FROM task_files f WHERE f.sha256 = blobs.sha256)");

/* Detaches baselines from the user's dry runs, so that the task keeps its baselines when the
 * submissions of the dry runs are deleted. */
static const struct statement KEEP_BASELINES =
	COMMAND("UPDATE baselines b JOIN jobs j ON j.id = b.job_id "
			"JOIN submissions s ON s.id = j.submission_id AND s.dry_run "
			"SET b.job_id = NULL, b.submission_id = NULL WHERE s.user_id = ?");
static const struct statement MARK_SUBMISSIONS =
	COMMAND("UPDATE submissions s STRAIGHT_JOIN " JOBS_THAT_STAY
			"SET s.deleted_sha256 = s.sha256 WHERE s.user_id = ?");
static const struct statement DELETE_SUBMISSIONS =
	COMMAND("DELETE FROM submissions WHERE user_id = ? AND deleted_sha256 IS NULL");
static const struct statement EMPTY_SUBMISSIONS =
	COMMAND("UPDATE submissions SET file_name = 'deleted.txt', sha256 = ?, note = '', "
			"admin_note = NULL WHERE user_id = ?");

/* Statements that empty or delete the user's other rows; each binds the user's ID. Jobs of
 * rejudgings and comparisons name no user, so the statements find the stages of these jobs through
 * the user's submissions and jobs. */
#define OF_JOBS "stages t JOIN jobs own ON own.id = t.job_id"
#define OF_REJUDGINGS \
	"stages t JOIN jobs j ON j.id = t.job_id JOIN rejudged_jobs r ON r.id = j.rejudged_id " \
	"JOIN submissions own ON own.id = r.submission_id"
#define OF_COMPARISONS(side) \
	"stages t JOIN jobs j ON j.id = t.job_id JOIN comparisons c ON c.id = j.comparison_id " \
	"JOIN jobs own ON own.id = c." side "_job_id"
#define OF_CHALLENGES OF_COMPARISONS("challenger")
#define OF_DEFENCES OF_COMPARISONS("incumbent")
#define EMPTY_STAGES(from) \
	COMMAND("UPDATE " from " SET t.command = '', t.stdout = '', t.stderr = '', t.kernels = NULL " \
			"WHERE own.user_id = ?")
#define DELETE_PLANS(from) \
	COMMAND("DELETE x FROM " from " JOIN plans x ON x.stage_id = t.id WHERE own.user_id = ?")
#define OF_STAGES_OF_USER "JOIN stages t ON t.id = x.stage_id JOIN jobs own ON own.id = t.job_id "
static const struct statement LEFTOVERS[] = {
	EMPTY_STAGES(OF_JOBS),
	EMPTY_STAGES(OF_REJUDGINGS),
	EMPTY_STAGES(OF_CHALLENGES),
	EMPTY_STAGES(OF_DEFENCES),
	DELETE_PLANS(OF_JOBS),
	DELETE_PLANS(OF_REJUDGINGS),
	DELETE_PLANS(OF_CHALLENGES),
	DELETE_PLANS(OF_DEFENCES),
	COMMAND("DELETE x FROM artifacts x " OF_STAGES_OF_USER "WHERE own.user_id = ?"),
	COMMAND("UPDATE measurements x " OF_STAGES_OF_USER
			"SET x.report = NULL WHERE own.user_id = ? AND x.report IS NOT NULL"),
	COMMAND("DELETE FROM sessions WHERE user_id = ?"),
	COMMAND("DELETE FROM api_tokens WHERE user_id = ?"),
	COMMAND("DELETE FROM idempotency_keys WHERE user_id = ?"),
	COMMAND("DELETE FROM password_links WHERE user_id = ?"),
	COMMAND("DELETE FROM mail_addresses WHERE user_id = ?"),
	/* Waiting warnings stay: whoever takes an account over must not stop them by deleting it. */
	COMMAND("DELETE FROM mails WHERE user_id = ? AND NOT (kind IN ('changed', 'security') "
			"AND state = 'waiting')"),
	COMMAND("UPDATE mails m JOIN users u ON u.id = m.user_id SET m.user_name = u.name "
			"WHERE u.id = ?"),
	COMMAND("DELETE FROM terminals WHERE user_id = ?"),
	COMMAND("DELETE FROM identities WHERE user_id = ?"),
	COMMAND("DELETE FROM questions WHERE user_id = ? AND NOT for_all"),
	COMMAND("DELETE FROM authenticator_apps WHERE user_id = ?"),
	COMMAND("DELETE FROM passkeys WHERE user_id = ?"),
	COMMAND("DELETE FROM recovery_codes WHERE user_id = ?"),
	COMMAND("DELETE FROM source_sketches WHERE user_id = ?"),
	COMMAND("DELETE FROM invite_uses WHERE user_id = ?"),
	COMMAND("DELETE FROM overtakings WHERE ? IN (user_id, by_user_id)"),
	COMMAND("DELETE FROM uploads WHERE creator_id = ?"),
	COMMAND("DELETE FROM leaderboard_members WHERE user_id = ?"),
	COMMAND("DELETE FROM leaderboard_removals WHERE user_id = ?"),
	COMMAND("DELETE FROM leaderboard_roles WHERE user_id = ?"),
	COMMAND("DELETE FROM leaderboard_extensions WHERE user_id = ?"),
	COMMAND("UPDATE disqualifications SET reason = '' WHERE user_id = ?"),
	COMMAND("DELETE FROM user_days WHERE user_id = ?"),
	COMMAND("UPDATE invites SET note = '' WHERE created_by = ?"),
	COMMAND("DELETE d FROM webhooks h JOIN webhook_deliveries d ON d.webhook_id = h.id "
			"WHERE h.created_by = ?"),
	COMMAND("DELETE FROM webhooks WHERE created_by = ?"),
	COMMAND("DELETE e, d FROM users u JOIN webhook_events e ON CONVERT(u.name USING utf8mb4) "
			"COLLATE utf8mb4_bin IN "
			"(JSON_VALUE(e.data, '$.user'), JSON_VALUE(e.data, '$.user_before')) "
			"LEFT JOIN webhook_deliveries d ON d.event_id = e.id WHERE u.id = ?"),
	/* the rate-limit counters whose subject contains the user's name */
	COMMAND("DELETE r FROM users u STRAIGHT_JOIN rate_limits r ON r.subject IN (CONCAT('login as "
			"', u.name), CONCAT('make tokens ', u.name), "
			"CONCAT('export ', u.name), CONCAT('terminal code ', u.name), "
			"CONCAT('change password ', u.name), CONCAT('delete account ', u.name), "
			"CONCAT('invite code ', u.name), CONCAT('change webhooks ', u.name), "
			"CONCAT('change address ', u.name), CONCAT('ask questions ', u.name), "
			"CONCAT('second factor ', u.name), CONCAT('second factor in a day ', u.name), "
			"CONCAT('confirm password ', u.name), CONCAT('contest code ', u.name), "
			"CONCAT('make teams ', u.name), CONCAT('team code ', u.name), "
			"CONCAT('unfrozen ranking ', u.name)) "
			"WHERE u.id = ?"),
	COMMAND("DELETE r FROM users u STRAIGHT_JOIN rate_limits r ON LEFT(r.subject, 12 + "
			"LENGTH(u.name)) = CONCAT('login pair ', u.name, ' ') WHERE u.id = ?"),
};

/* Statements that replace the user's name where a column has the name instead of an ID. Each binds
 * the user's ID and name. */
#define FORGET_NAME(table, column) \
	COMMAND("UPDATE " table " SET " column " = CONCAT('" DELETED_USER_PREFIX "', ?) WHERE " column \
			" = ?")
static const struct statement NAMES[] = {
	FORGET_NAME("announcements", "made_by"),
	FORGET_NAME("rejudgings", "made_by"),
	FORGET_NAME("rejudgings", "ended_by"),
	FORGET_NAME("dry_runs", "started_by"),
	FORGET_NAME("pauses", "paused_by"),
	FORGET_NAME("leaderboard_roles", "given_by"),
	FORGET_NAME("leaderboard_extensions", "given_by"),
	FORGET_NAME("disqualifications", "given_by"),
	FORGET_NAME("intake_stops", "stopped_by"),
	FORGET_NAME("password_links", "made_by"),
};

static const struct statement FORGET_USER =
	COMMAND("UPDATE users SET name = CONCAT('" DELETED_USER_PREFIX
			"', id), password_hash = '', role = 'participant', must_change_password = FALSE, "
			"deleted_at = UTC_TIMESTAMP(3) WHERE id = ?");

static int lock_owner(struct database *db, struct arena *arena, int64_t user_id,
	struct owner *owner, struct error *error)
{
	struct id_row *admins;
	size_t count;
	int rc = database_row(db, arena, &LOCK_OWNER, owner, error, "i", user_id);
	if (rc || strcmp(owner->role, role_name(ROLE_ADMIN)) != 0)
		return rc || owner->deleted_at_ms == TIME_NULL
			? rc
			: fail(error, ERROR_CONFLICT, "This account was deleted already.");
	rc = database_rows(db, arena, &LOCK_ADMINS, &admins, &count, error, "");
	if (rc || count > 1)
		return rc;
	return fail(error, ERROR_CONFLICT,
		"You are the only admin and the site needs one, so nothing was deleted. Make another user "
		"an admin first.");
}

/* Cancels the user's queued and running jobs. submission_cancel waits while another transaction
 * finishes one of these jobs. Each result is therefore either ranked before the deletion or
 * discarded. */
static int cancel_unfinished(
	struct database *db, struct arena *arena, const struct owner *owner, struct error *error)
{
	struct id_row *submissions;
	size_t count;
	struct actor actor = { owner->id, owner->name, "" };
	struct cancellation cancellation;
	int rc = database_rows(db, arena, &UNFINISHED, &submissions, &count, error, "i", owner->id);
	for (size_t i = 0; i < count && !rc; i++)
		rc = submission_cancel(db, submissions[i].id, owner->id, &actor, &cancellation, error);
	return rc ? rc : head_to_head_withdraw_user(db, owner->id, error);
}

/* Deletes the user's submissions, except those that stay, which it empties. Deletes their sources
 * unless another submission or a task uses them. */
static int delete_submissions(
	struct database *db, struct arena *arena, int64_t user_id, struct error *error)
{
	unsigned char sha256[sha256_bytes];
	struct used_blob *blobs;
	size_t count;
	int rc = database_rows(db, arena, &LOCK_BLOBS, &blobs, &count, error, "i", user_id);
	if (!rc)
		rc = database_execute(db, &KEEP_BASELINES, error, "i", user_id);
	if (!rc)
		rc = database_execute(db, &MARK_SUBMISSIONS, error, "i", user_id);
	if (!rc)
		rc = database_execute(db, &DELETE_SUBMISSIONS, error, "i", user_id);
	if (!rc)
		rc = blob_put(db, INSTEAD_OF_SOURCE, strlen(INSTEAD_OF_SOURCE), sha256, error);
	if (!rc)
		rc = database_execute(db, &EMPTY_SUBMISSIONS, error, "bi", sha256, sizeof sha256, user_id);
	for (size_t i = 0; i < count && !rc; i++)
		rc = database_execute(
			db, &DELETE_BLOB, error, "b", blobs[i].sha256.bytes, blobs[i].sha256.length);
	return rc;
}

static int repair_rankings(struct database *db, const struct ranking_key *keys, size_t count,
	int64_t user_id, struct error *error)
{
	int rc = 0;
	for (size_t i = 0; i < count && !rc; i++)
		rc = ranking_after_deletion(db, &keys[i], user_id, error);
	return rc;
}

static int audit_account_deletion(struct database *db, struct arena *arena, int64_t user_id,
	const struct account_extent *extent, struct error *error)
{
	const char *name = arena_printf(arena, DELETED_USER_PREFIX "%lld", (long long)user_id);
	return audit(db, user_id, name, "", "account.delete", name,
		arena_printf(arena,
			"Deleted by its owner, with %s and %s; kept with their times, without sources: %s.",
			plural(arena, extent->deleted, "submission"),
			plural(arena, extent->tokens, "API token"), plural(arena, extent->kept, "submission")),
		error);
}

static int delete_leftovers(struct database *db, const struct owner *owner, struct error *error)
{
	int rc = 0;
	for (size_t i = 0; i < COUNT(LEFTOVERS) && !rc; i++)
		rc = database_execute(db, &LEFTOVERS[i], error, "i", owner->id);
	for (size_t i = 0; i < COUNT(NAMES) && !rc; i++)
		rc = database_execute(db, &NAMES[i], error, "is", owner->id, owner->name);
	return rc ? rc : database_execute(db, &FORGET_USER, error, "i", owner->id);
}

static int delete_account(struct database *db, void *context, struct error *error)
{
	cleanup_arena struct arena *arena = arena_new();
	const int64_t user_id = *(const int64_t *)context;
	struct owner owner;
	struct account_extent extent;
	struct ranking_key *rankings;
	size_t ranking_count;
	int rc = lock_owner(db, arena, user_id, &owner, error);
	if (!rc)
		rc = team_forget_member(db, arena, user_id, error);
	if (!rc)
		rc = cancel_unfinished(db, arena, &owner, error);
	if (!rc)
		rc = account_extent(db, arena, user_id, &extent, error);
	if (!rc)
		rc = ranking_lock_of_user(db, arena, user_id, &rankings, &ranking_count, error);
	if (!rc)
		rc = delete_submissions(db, arena, user_id, error);
	if (!rc)
		rc = repair_rankings(db, rankings, ranking_count, user_id, error);
	if (!rc)
		rc = delete_leftovers(db, &owner, error);
	return rc ? rc : audit_account_deletion(db, arena, user_id, &extent, error);
}

int account_delete(struct database *db, int64_t user_id, struct error *error)
{
	return database_transaction(db, delete_account, &user_id, error);
}
