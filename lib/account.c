#include "lib/account.h"

#include "lib/blob.h"
#include "lib/cancellation.h"
#include "lib/comparison.h"
#include "lib/scope.h"
#include "lib/user.h"

#include <string.h>

static const char INSTEAD_OF_SOURCE[] = "This source was deleted together with its author's account.\n";

/* ---- what there is ---- */

static const struct column EXTENT_COLUMNS[] = {
	INTEGER(struct account_extent, places), INTEGER(struct account_extent, kept), INTEGER(struct account_extent, deleted),
	INTEGER(struct account_extent, unfinished), INTEGER(struct account_extent, tokens), INTEGER(struct account_extent, leaderboards),
};
static const struct statement EXTENT = SELECT(struct account_extent, EXTENT_COLUMNS,
	"SELECT COUNT(r.submission_id) AS places, COUNT(DISTINCT r.submission_id) AS kept, "
	"(SELECT COUNT(*) FROM submissions s WHERE s.user_id = u.id AND NOT s.dry_run) - COUNT(DISTINCT r.submission_id) AS deleted, "
	"(SELECT COUNT(*) FROM jobs j WHERE j.user_id = u.id AND j.state IN ('queued', 'running')) AS unfinished, "
	"(SELECT COUNT(*) FROM api_tokens t WHERE t.user_id = u.id) AS tokens, "
	"(SELECT COUNT(*) FROM leaderboards l WHERE l.creator_id = u.id) AS leaderboards "
	"FROM users u LEFT JOIN ranking r ON r.user_id = u.id WHERE u.id = ? GROUP BY u.id");

int account_extent(struct database *db, struct arena *arena, int64_t user_id, struct account_extent *extent,
	struct error *error)
{
	return database_row(db, arena, &EXTENT, extent, error, "i", user_id);
}

/* ---- steps of the deletion ---- */

struct owner { int64_t id; const char *name, *role; int64_t deleted_at_ms; };
static const struct column OWNER_COLUMNS[] = {
	INTEGER(struct owner, id), TEXT(struct owner, name), TEXT(struct owner, role), TIME(struct owner, deleted_at_ms),
};
static const struct statement LOCK_OWNER = SELECT(struct owner, OWNER_COLUMNS,
	"SELECT id, name, role, deleted_at AS deleted_at_ms FROM users WHERE id = ? FOR UPDATE");

struct id_row { int64_t id; };
static const struct column ID_COLUMNS[] = { INTEGER(struct id_row, id) };
/* All of them, so that the last two do not delete themselves at the same moment. */
static const struct statement LOCK_ADMINS = SELECT(struct id_row, ID_COLUMNS,
	"SELECT id FROM users WHERE role = 'admin' AND banned_at IS NULL AND deleted_at IS NULL FOR UPDATE");
static const struct statement UNFINISHED = SELECT(struct id_row, ID_COLUMNS,
	"SELECT DISTINCT s.id FROM submissions s JOIN jobs j ON j.submission_id = s.id WHERE s.user_id = ? AND j.state IN ('queued', 'running') "
	"ORDER BY s.id");

/* As when a leaderboard is deleted: whoever wants to refer to one of these waits, and stores it again if it is gone. */
struct used_blob { struct blob_value sha256; };
static const struct column USED_COLUMNS[] = { BLOB(struct used_blob, sha256) };
static const struct statement LOCK_BLOBS = SELECT(struct used_blob, USED_COLUMNS,
	"SELECT b.sha256 FROM (SELECT DISTINCT sha256 FROM submissions WHERE user_id = ?) u "
	"STRAIGHT_JOIN blobs b ON b.sha256 = u.sha256 FOR UPDATE");
static const struct statement DELETE_BLOB = COMMAND(
	"DELETE FROM blobs WHERE sha256 = ? AND NOT EXISTS (SELECT 1 FROM submissions s WHERE s.sha256 = blobs.sha256) "
	"AND NOT EXISTS (SELECT 1 FROM task_files f WHERE f.sha256 = blobs.sha256)");

static const struct statement DELETE_SUBMISSIONS = COMMAND(
	"DELETE FROM submissions WHERE user_id = ? AND id NOT IN (SELECT r.submission_id FROM ranking r WHERE r.user_id = submissions.user_id)");
static const struct statement EMPTY_SUBMISSIONS = COMMAND(
	"UPDATE submissions SET file_name = 'deleted.txt', sha256 = ?, note = '', admin_note = NULL WHERE user_id = ?");
static const struct statement EMPTY_STAGES = COMMAND(
	"UPDATE stages t JOIN jobs j ON j.id = t.job_id SET t.command = '', t.stdout = '', t.stderr = '', t.kernels = NULL "
	"WHERE j.user_id = ?");
static const struct statement EMPTY_REJUDGED_STAGES = COMMAND(
	"UPDATE stages t JOIN jobs j ON j.id = t.job_id JOIN rejudged_jobs r ON r.id = j.rejudged_id JOIN submissions s ON s.id = r.submission_id "
	"SET t.command = '', t.stdout = '', t.stderr = '', t.kernels = NULL WHERE s.user_id = ?");
static const struct statement DELETE_SESSIONS = COMMAND("DELETE FROM sessions WHERE user_id = ?");
static const struct statement DELETE_TOKENS = COMMAND("DELETE FROM api_tokens WHERE user_id = ?");
static const struct statement DELETE_OVERTAKINGS = COMMAND("DELETE FROM overtakings WHERE ? IN (user_id, by_user_id)");
static const struct statement DELETE_UPLOADS = COMMAND("DELETE FROM uploads WHERE creator_id = ?");
static const struct statement FORGET_USER = COMMAND(
	"UPDATE users SET name = CONCAT('" DELETED_USER_PREFIX "', id), password_hash = '', role = 'participant', must_change_password = FALSE, "
	"deleted_at = UTC_TIMESTAMP(3) WHERE id = ?");

static int lock_owner(struct database *db, struct arena *arena, int64_t user_id, struct owner *owner, struct error *error)
{
	struct id_row *admins;
	size_t count;
	int rc = database_row(db, arena, &LOCK_OWNER, owner, error, "i", user_id);
	if (rc || strcmp(owner->role, role_name(ROLE_ADMIN)) != 0)
		return rc || owner->deleted_at_ms == TIME_NULL ? rc : fail(error, ERROR_CONFLICT, "This account was deleted already.");
	rc = database_rows(db, arena, &LOCK_ADMINS, &admins, &count, error, "");
	if (rc || count > 1)
		return rc;
	return fail(error, ERROR_CONFLICT, "You are the only admin, so nothing was deleted: nobody could run this site any more. "
		"Make somebody else an admin first.");
}

/* Whoever finishes one of them at this moment is waited for, so that its result is in the ranking or comes to nothing. */
static int cancel_unfinished(struct database *db, struct arena *arena, const struct owner *owner, struct error *error)
{
	struct id_row *submissions;
	size_t count;
	struct actor actor = { owner->id, owner->name, "" };
	struct cancellation cancellation;
	int rc = database_rows(db, arena, &UNFINISHED, &submissions, &count, error, "i", owner->id);
	for (size_t i = 0; i < count && !rc; i++)
		rc = submission_cancel(db, submissions[i].id, owner->id, &actor, &cancellation, error);
	return rc ? rc : comparison_withdraw_user(db, owner->id, error);
}

/* Sources that nobody else has stored as well are gone with the last submission that had them. */
static int delete_submissions(struct database *db, struct arena *arena, int64_t user_id, struct error *error)
{
	unsigned char sha256[sha256_bytes];
	struct used_blob *blobs;
	size_t count;
	int rc = database_rows(db, arena, &LOCK_BLOBS, &blobs, &count, error, "i", user_id);
	if (!rc)
		rc = database_execute(db, &DELETE_SUBMISSIONS, error, "i", user_id);
	if (!rc)
		rc = blob_put(db, INSTEAD_OF_SOURCE, strlen(INSTEAD_OF_SOURCE), sha256, error);
	if (!rc)
		rc = database_execute(db, &EMPTY_SUBMISSIONS, error, "bi", sha256, sizeof sha256, user_id);
	for (size_t i = 0; i < count && !rc; i++)
		rc = database_execute(db, &DELETE_BLOB, error, "b", blobs[i].sha256.bytes, blobs[i].sha256.length);
	return rc;
}

static int write_audit(struct database *db, struct arena *arena, int64_t user_id, const struct account_extent *extent,
	struct error *error)
{
	const char *name = arena_printf(arena, DELETED_USER_PREFIX "%lld", (long long)user_id);
	return audit(db, user_id, name, "", "account.delete", name, arena_printf(arena,
		"Deleted by its owner, with %lld submissions and %lld API tokens; %lld submissions stay in rankings, without their sources.",
		(long long)extent->deleted, (long long)extent->tokens, (long long)extent->kept), error);
}

static int delete_account(struct database *db, void *context, struct error *error)
{
	static const struct statement *const rest[] = {
		&EMPTY_STAGES, &EMPTY_REJUDGED_STAGES, &DELETE_SESSIONS, &DELETE_TOKENS, &DELETE_OVERTAKINGS, &DELETE_UPLOADS, &FORGET_USER,
	};
	cleanup_arena struct arena *arena = arena_new();
	const int64_t user_id = *(const int64_t *)context;
	struct owner owner;
	struct account_extent extent;
	int rc = lock_owner(db, arena, user_id, &owner, error);
	if (!rc)
		rc = cancel_unfinished(db, arena, &owner, error);
	if (!rc)
		rc = account_extent(db, arena, user_id, &extent, error);
	if (!rc)
		rc = delete_submissions(db, arena, user_id, error);
	for (size_t i = 0; i < COUNT(rest) && !rc; i++)
		rc = database_execute(db, rest[i], error, "i", user_id);
	return rc ? rc : write_audit(db, arena, user_id, &extent, error);
}

int account_delete(struct database *db, int64_t user_id, struct error *error)
{
	return database_transaction(db, delete_account, &user_id, error);
}
