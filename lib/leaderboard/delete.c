/* Deletes a leaderboard in one transaction, rows before the rows that they refer to. */
#include "lib/leaderboard/leaderboard.h"

#include "lib/account/audit.h"
#include "lib/account/user.h"
#include "lib/base/format.h"
#include "lib/base/scope.h"
#include "lib/database/blob.h"
#include "lib/leaderboard/visibility.h"

struct counted {
	int64_t versions, submissions, users, jobs, running;
};
static const struct column COUNTED_COLUMNS[] = {
	INTEGER(struct counted, versions),
	INTEGER(struct counted, submissions),
	INTEGER(struct counted, users),
	INTEGER(struct counted, jobs),
	INTEGER(struct counted, running),
};
static const struct statement COUNT_ALL = SELECT(struct counted, COUNTED_COLUMNS,
	"SELECT (SELECT COUNT(*) FROM task_versions WHERE leaderboard_id = l.id) AS versions, "
	"COUNT(DISTINCT s.id) AS submissions, COUNT(DISTINCT s.user_id) AS users, COUNT(j.id) AS jobs, "
	"COUNT(IF(j.state = 'running', 1, NULL)) AS running "
	"FROM leaderboards l LEFT JOIN submissions s ON s.leaderboard_id = l.id "
	"LEFT JOIN jobs j ON j.submission_id = s.id "
	"WHERE l.id = ? GROUP BY l.id");

struct locked {
	int64_t id;
};
static const struct column LOCKED_COLUMNS[] = { INTEGER(struct locked, id) };
static const struct statement LOCK_LEADERBOARD =
	SELECT(struct locked, LOCKED_COLUMNS, "SELECT id FROM leaderboards WHERE id = ? FOR UPDATE");

/* Reads and locks the blobs that the leaderboard uses. Another transaction that wants to refer to
 * one of them waits, and stores the blob again if it is gone. */
struct used_blob {
	struct blob_value sha256;
};
static const struct column USED_COLUMNS[] = { BLOB(struct used_blob, sha256) };
static const struct statement LOCK_BLOBS = SELECT(struct used_blob, USED_COLUMNS,
	"SELECT b.sha256 FROM (SELECT sha256 FROM submissions WHERE leaderboard_id = ? UNION "
	"SELECT f.sha256 FROM task_files f JOIN task_versions v ON v.id = f.task_version_id "
	"WHERE v.leaderboard_id = ?) u "
	"STRAIGHT_JOIN blobs b ON b.sha256 = u.sha256 FOR UPDATE");

/* The final standings of a contest keep the name of the deleted leaderboard. This stores whether
 * everybody may see the name. */
static const struct statement KEEP_VISIBILITY =
	COMMAND("UPDATE contest_final_columns f JOIN leaderboards l ON l.id = f.leaderboard_id "
			"SET f.is_public = " SQL_IS_PUBLIC("l") " WHERE l.id = ?");
static const struct statement DELETE_RANKING =
	COMMAND("DELETE FROM ranking WHERE leaderboard_id = ?");
static const struct statement DELETE_SUBMISSIONS =
	COMMAND("DELETE FROM submissions WHERE leaderboard_id = ?");
static const struct statement DELETE_LEADERBOARD = COMMAND("DELETE FROM leaderboards WHERE id = ?");
static const struct statement DELETE_BLOB =
	COMMAND("DELETE FROM blobs WHERE sha256 = ? AND NOT EXISTS (SELECT 1 FROM submissions s "
			"WHERE s.sha256 = blobs.sha256) "
			"AND NOT EXISTS (SELECT 1 FROM task_files f WHERE f.sha256 = blobs.sha256)");

struct deletion {
	const struct leaderboard *leaderboard;
	const struct actor *actor;
};

/* Deleting a leaderboard also deletes its task versions. MariaDB refuses that while submissions
 * refer to them, so the submissions are deleted first. */
static int delete_rows(struct database *db, int64_t id, struct error *error)
{
	static const struct statement *const steps[] = { &KEEP_VISIBILITY, &DELETE_RANKING,
		&DELETE_SUBMISSIONS, &DELETE_LEADERBOARD };
	int rc = 0;
	for (size_t i = 0; i < COUNT(steps) && !rc; i++)
		rc = database_execute(db, steps[i], error, "i", id);
	return rc;
}

static int delete_blobs(struct database *db, const struct used_blob *blobs, size_t count,
	int64_t *deleted, struct error *error)
{
	int rc = 0;
	for (size_t i = 0; i < count && !rc; i++) {
		rc = database_execute(
			db, &DELETE_BLOB, error, "b", blobs[i].sha256.bytes, blobs[i].sha256.length);
		*deleted += rc ? 0 : (int64_t)database_affected(db);
	}
	return rc;
}

static int write_audit(struct database *db, struct arena *arena, const struct deletion *deletion,
	const struct counted *counted, int64_t blobs, struct error *error)
{
	const char *detail =
		arena_printf(arena, "Deleted with %s, %s of %s, %s (%lld of them running) and %s.",
			plural(arena, counted->versions, "task version"),
			plural(arena, counted->submissions, "submission"),
			plural(arena, counted->users, "user"), plural(arena, counted->jobs, "job"),
			(long long)counted->running, plural(arena, blobs, "stored file"));
	const struct actor *actor = deletion->actor;
	return audit(db, actor->id, actor->name, actor->address, "leaderboard.delete",
		deletion->leaderboard->name, detail, error);
}

static int delete_body(struct database *db, void *context, struct error *error)
{
	const struct deletion *deletion = context;
	cleanup_arena struct arena *arena = arena_new();
	int64_t id = deletion->leaderboard->id, deleted = 0;
	struct locked locked;
	struct counted counted;
	struct used_blob *blobs;
	size_t blob_count;
	int rc = database_row(db, arena, &LOCK_LEADERBOARD, &locked, error, "i", id);
	if (rc == ERROR_NOT_FOUND)
		return fail(
			error, rc, "The leaderboard %s was deleted already.", deletion->leaderboard->name);
	if (!rc)
		rc = database_row(db, arena, &COUNT_ALL, &counted, error, "i", id);
	if (!rc)
		rc = database_rows(db, arena, &LOCK_BLOBS, &blobs, &blob_count, error, "ii", id, id);
	if (!rc)
		rc = delete_rows(db, id, error);
	if (!rc)
		rc = delete_blobs(db, blobs, blob_count, &deleted, error);
	return rc ? rc : write_audit(db, arena, deletion, &counted, deleted, error);
}

int leaderboard_delete(struct database *db, const struct leaderboard *leaderboard,
	const struct actor *actor, struct error *error)
{
	struct deletion deletion = { .leaderboard = leaderboard, .actor = actor };
	return database_transaction(db, delete_body, &deletion, error);
}
