#include "cgi/action/withdrawal.h"

#include "lib/base/text.h"
#include "lib/ranking/ranking.h"

#include <string.h>

struct job {
	int64_t id, is_open;
};
static const struct column JOB_COLUMNS[] = { INTEGER(struct job, id),
	INTEGER(struct job, is_open) };
/* Locks the job rows first, as the transaction that finishes a job does. A job that finishes at the
 * same time is therefore either ranked before this transaction refreshes the rankings, or finished
 * after the withdrawal and not ranked. */
static const struct statement LOCK_JOBS = SELECT(struct job, JOB_COLUMNS,
	"SELECT id, state IN ('queued', 'running') AS is_open FROM jobs "
	"WHERE submission_id = ? ORDER BY id FOR UPDATE");
static const struct statement WITHDRAW = COMMAND(
	"UPDATE submissions SET withdrawn_at = UTC_TIMESTAMP(3) WHERE id = ? AND withdrawn_at IS NULL");
static const struct statement RESTORE =
	COMMAND("UPDATE submissions SET withdrawn_at = NULL WHERE id = ? AND withdrawn_at IS NOT NULL");
static const struct statement PUT_NOTE = COMMAND("UPDATE submissions SET note = ? WHERE id = ?");

struct contest_row {
	const char *name;
	int64_t is_final;
};
static const struct column CONTEST_COLUMNS[] = { TEXT(struct contest_row, name),
	INTEGER(struct contest_row, is_final) };
/* The lock makes the declaration of the final standings wait, as lib/contest/contest.h does it. */
static const struct statement LOCK_CONTEST = SELECT(struct contest_row, CONTEST_COLUMNS,
	"SELECT c.name, c.final_at IS NOT NULL AS is_final FROM contests c WHERE c.id = "
	"(SELECT p.contest_id FROM contest_problems p JOIN submissions s "
	"ON s.leaderboard_id = p.leaderboard_id WHERE s.id = ?) LOCK IN SHARE MODE");

struct change {
	int64_t submission_id, owner_id;
	const struct actor *actor;
	bool withdraws;
};

static int check_standings(
	struct database *db, struct arena *arena, int64_t submission_id, struct error *error)
{
	struct contest_row contest;
	int rc = database_row(db, arena, &LOCK_CONTEST, &contest, error, "i", submission_id);
	if (rc == ERROR_NOT_FOUND)
		return 0;
	return rc || !contest.is_final
		? rc
		: fail(error, ERROR_CONFLICT,
			"The standings of the contest %s are final, so its submissions are neither withdrawn "
			"nor restored.",
			contest.name);
}

static int refresh_jobs(struct database *db, struct arena *arena, const struct job *jobs,
	size_t count, struct error *error)
{
	int rc = 0;
	for (size_t i = 0; i < count && !rc; i++)
		rc = ranking_refresh_job(db, arena, jobs[i].id, error);
	return rc;
}

static int audit_withdrawal(
	struct database *db, struct arena *arena, const struct change *change, struct error *error)
{
	const struct actor *actor = change->actor;
	if (actor->id == change->owner_id)
		return 0;
	return audit(db, actor->id, actor->name, actor->address,
		change->withdraws ? "submission.withdraw" : "submission.restore",
		arena_printf(arena, "submission %lld", (long long)change->submission_id),
		change->withdraws ? "it is no longer ranked" : "it is ranked again", error);
}

static int withdrawal_body(struct database *db, void *context, struct error *error)
{
	cleanup_arena struct arena *arena = arena_new();
	const struct change *change = context;
	struct job *jobs;
	size_t count;
	int rc = check_standings(db, arena, change->submission_id, error);
	if (rc)
		return rc;
	rc = database_rows(db, arena, &LOCK_JOBS, &jobs, &count, error, "i", change->submission_id);
	for (size_t i = 0; i < count && !rc; i++)
		if (jobs[i].is_open && change->withdraws)
			rc = fail(error, ERROR_CONFLICT,
				"Submission %lld has not finished. Cancel it, or withdraw it after it finishes.",
				(long long)change->submission_id);
	if (!rc)
		rc = database_execute(
			db, change->withdraws ? &WITHDRAW : &RESTORE, error, "i", change->submission_id);
	if (rc || !database_affected(db))
		return rc;
	rc = refresh_jobs(db, arena, jobs, count, error);
	return rc ? rc : audit_withdrawal(db, arena, change, error);
}

int submission_withdraw(struct database *db, int64_t submission_id, int64_t owner_id,
	const struct actor *actor, struct error *error)
{
	struct change change = { submission_id, owner_id, actor, true };
	return database_transaction(db, withdrawal_body, &change, error);
}

int submission_restore(struct database *db, int64_t submission_id, int64_t owner_id,
	const struct actor *actor, struct error *error)
{
	struct change change = { submission_id, owner_id, actor, false };
	return database_transaction(db, withdrawal_body, &change, error);
}

int submission_note(
	struct database *db, int64_t submission_id, const char *note, struct error *error)
{
	size_t length = strlen(note);
	if (length > note_most_bytes)
		return fail_field(error, "note", "The note is %zu bytes long; at most %d are allowed.",
			length, note_most_bytes);
	for (const char *at = note; *at; at++)
		if (text_control_length(at))
			return fail_field(
				error, "note", "The note must be one paragraph without control characters.");
	return database_execute(db, &PUT_NOTE, error, "si", note, submission_id);
}
