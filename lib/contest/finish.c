/* The end of a contest: its final standings, its deletion, and noticing that contests start and
 * end. */
#include "lib/contest/contest.h"

#include "lib/account/team.h"
#include "lib/base/format.h"
#include "lib/base/scope.h"
#include "lib/contest/standings.h"
#include "lib/job/job.h"
#include "lib/ranking/ranking.h"
#include "lib/webhook/event.h"

struct count_row {
	int64_t count;
};
static const struct column COUNT_COLUMNS[] = { INTEGER(struct count_row, count) };

/* ---- the end ---- */

struct later { /* a contestant's later deadline on a problem */
	const char *name;
	int64_t deadline_ms;
};
static const struct column LATER_COLUMNS[] = { TEXT(struct later, name),
	TIME(struct later, deadline_ms) };
#define OPEN_JOB "j.state IN ('queued', 'running')"
#define RANKED_JOBS \
	"SELECT COUNT(*) AS count FROM contest_problems p " \
	"JOIN submissions s ON s.leaderboard_id = p.leaderboard_id " \
	"JOIN jobs j ON j.submission_id = s.id WHERE p.contest_id = ? AND s.mode = 'ranked' " \
	"AND NOT s.dry_run AND NOT s.practice AND "
static const struct statement UNFINISHED =
	SELECT(struct count_row, COUNT_COLUMNS, RANKED_JOBS OPEN_JOB);
static const struct statement HELD =
	SELECT(struct count_row, COUNT_COLUMNS, RANKED_JOBS SQL_IS_HELD("j"));
static const struct statement COMPARING = SELECT(struct count_row, COUNT_COLUMNS,
	"SELECT COUNT(*) AS count FROM contest_problems p "
	"JOIN leaderboards l ON l.id = p.leaderboard_id "
	"JOIN comparisons c ON c.leaderboard_id = l.id AND c.task_version_id = l.task_version_id "
	"JOIN jobs j ON j.comparison_id = c.id WHERE p.contest_id = ? AND " OPEN_JOB);
static const struct statement LATER = SELECT(struct later, LATER_COLUMNS,
	"SELECT u.name, e.deadline AS deadline_ms FROM contest_problems p "
	"JOIN leaderboard_extensions e ON e.leaderboard_id = p.leaderboard_id "
	"JOIN contest_entrants o ON o.contest_id = p.contest_id AND o.user_id = e.user_id "
	"JOIN users u ON u.id = e.user_id WHERE p.contest_id = ? AND e.deadline > UTC_TIMESTAMP(3) "
	"ORDER BY e.deadline DESC LIMIT 1");
static const struct statement FINISH =
	COMMAND("UPDATE contests SET final_at = UTC_TIMESTAMP(3) WHERE id = ? AND final_at IS NULL");
static const struct statement LIFT =
	COMMAND("UPDATE leaderboards SET frozen_at = NULL, updated_at = UTC_TIMESTAMP(3) WHERE id = ?");

struct finish {
	struct arena *arena;
	const struct contest *contest;
	const struct actor *actor;
};

/* Executes the statement for each problem, and rebuilds its ranking. */
static int update_problems(struct database *db, const struct finish *finish,
	const struct statement *statement, struct error *error)
{
	struct contest_problem *problems;
	size_t count;
	int rc = contest_problems(db, finish->arena, finish->contest->id, 0, &problems, &count, error);
	for (size_t i = 0; i < count && !rc; i++) {
		rc = database_execute(db, statement, error, "i", problems[i].leaderboard_id);
		if (!rc)
			rc = ranking_rebuild(db, problems[i].leaderboard_id, error);
	}
	return rc;
}

static int check_deadlines(struct database *db, const struct finish *finish, struct error *error)
{
	struct later later;
	format_text until;
	int rc = database_row(db, finish->arena, &LATER, &later, error, "i", finish->contest->id);
	if (rc)
		return rc == ERROR_NOT_FOUND ? 0 : rc;
	format_utc(until, later.deadline_ms);
	return fail(error, ERROR_CONFLICT,
		"%s may submit until %s. Try again then, or take the later deadline away.", later.name,
		until);
}

static int check_finish(struct database *db, const struct finish *finish, struct error *error)
{
	static const struct {
		const struct statement *statement;
		const char *noun, *rest;
	} OPEN[] = {
		{ &UNFINISHED, "job", "of the contest still wait or run. Try again then." },
		{ &HELD, "held result",
			"of the contest may change the standings. Release or reject first." },
		{ &COMPARING, "comparison", "of results that tie still wait or run. Try again then." },
	};
	const struct contest *contest = finish->contest;
	struct count_row open = { 0 };
	if (contest->ends_at_ms > now_ms())
		return fail(error, ERROR_CONFLICT, "The contest has not ended yet.");
	int rc = check_deadlines(db, finish, error);
	for (size_t i = 0; i < COUNT(OPEN) && !rc; i++) {
		rc = database_row(db, finish->arena, OPEN[i].statement, &open, error, "i", contest->id);
		if (!rc && open.count)
			rc = fail(error, ERROR_CONFLICT, "%s %s",
				plural(finish->arena, open.count, OPEN[i].noun), OPEN[i].rest);
	}
	return rc;
}

static int finish_body(struct database *db, void *context, struct error *error)
{
	const struct finish *finish = context;
	const struct actor *actor = finish->actor;
	/* the lock keeps an admin from giving a later deadline meanwhile */
	struct contest locked;
	int rc = contest_lock(db, finish->arena, finish->contest->id, &locked, error);
	if (!rc)
		rc = check_finish(db, finish, error);
	if (!rc)
		rc = database_execute(db, &FINISH, error, "i", finish->contest->id);
	if (rc || !database_affected(db))
		return rc; /* another request was first */
	rc = update_problems(db, finish, &LIFT, error);
	if (!rc)
		rc = standings_store(db, finish->arena, &locked, error);
	if (!rc)
		rc = webhook_tell_contest(db, WEBHOOK_STANDINGS_FINAL, finish->contest->id, error);
	return rc ? rc
			  : audit(db, actor->id, actor->name, actor->address, "contest.final",
				  finish->contest->name, "", error);
}

int contest_finish(struct database *db, struct arena *arena, const struct contest *contest,
	const struct actor *actor, struct error *error)
{
	struct finish finish = { arena, contest, actor };
	return database_transaction(db, finish_body, &finish, error);
}

static const struct statement REOPEN =
	COMMAND("UPDATE contests SET final_at = NULL, freeze_minutes = 0 WHERE id = ?");

static int reopen_body(struct database *db, void *context, struct error *error)
{
	const struct finish *reopen = context;
	const struct actor *actor = reopen->actor;
	struct contest locked;
	int rc = contest_lock(db, reopen->arena, reopen->contest->id, &locked, error);
	if (!rc && locked.final_at_ms == TIME_NULL)
		rc = fail(error, ERROR_CONFLICT, "The standings of %s are not final.", locked.name);
	if (!rc)
		rc = standings_forget(db, locked.id, error);
	if (!rc)
		rc = database_execute(db, &REOPEN, error, "i", locked.id);
	return rc ? rc
			  : audit(db, actor->id, actor->name, actor->address, "contest.reopen",
				  reopen->contest->name, "", error);
}

int contest_reopen(struct database *db, struct arena *arena, const struct contest *contest,
	const struct actor *actor, struct error *error)
{
	struct finish reopen = { arena, contest, actor };
	return database_transaction(db, reopen_body, &reopen, error);
}

/* ---- deletion ---- */

/* Keeps a deadline that has passed: nobody can then submit to an ended problem, and its sources
 * stay open. */
static const struct statement RELEASE =
	COMMAND("UPDATE leaderboards SET deadline = IF(deadline > UTC_TIMESTAMP(3), NULL, deadline), "
			"frozen_at = NULL, updated_at = UTC_TIMESTAMP(3) WHERE id = ?");
/* Cancels the publication of hidden problems. RELEASE has locked the problems' rows already. */
static const struct statement KEEP_HIDDEN =
	COMMAND("DELETE w FROM publications w JOIN leaderboards l ON l.id = w.leaderboard_id "
			"AND l.visibility = 'hidden' JOIN contest_problems p ON p.leaderboard_id = l.id "
			"WHERE p.contest_id = ?");
static const struct statement DELETE = COMMAND("DELETE FROM contests WHERE id = ?");

static const char *describe_deleted(struct arena *arena, const struct contest *contest)
{
	format_text starts, ends;
	format_utc(starts, contest->starts_at_ms);
	format_utc(ends, contest->ends_at_ms);
	return arena_printf(arena, "%s to %s; %s; %s%s", starts, ends,
		plural(arena, contest->problems, "problem"), plural(arena, contest->entrants, "contestant"),
		contest->final_at_ms != TIME_NULL ? "; the standings were final" : "");
}

static int delete_body(struct database *db, void *context, struct error *error)
{
	const struct finish *deletion = context;
	const struct actor *actor = deletion->actor;
	int64_t id = deletion->contest->id;
	struct contest locked;
	int rc = contest_lock(db, deletion->arena, id, &locked, error);
	if (rc == ERROR_NOT_FOUND)
		return fail(error, rc, "The contest %s was deleted already.", deletion->contest->name);
	if (!rc)
		rc = update_problems(db, deletion, &RELEASE, error);
	if (!rc)
		rc = database_execute(db, &KEEP_HIDDEN, error, "i", id);
	if (!rc)
		rc = teams_end_contest(db, id, error);
	if (!rc)
		rc = database_execute(db, &DELETE, error, "i", id);
	return rc ? rc
			  : audit(db, actor->id, actor->name, actor->address, "contest.delete", locked.name,
				  describe_deleted(deletion->arena, &locked), error);
}

int contest_delete(struct database *db, struct arena *arena, const struct contest *contest,
	const struct actor *actor, struct error *error)
{
	struct finish deletion = { arena, contest, actor };
	return database_transaction(db, delete_body, &deletion, error);
}

/* ---- noticing the start and the end ---- */

enum { DUE_START, DUE_END, DUE_STORE };

struct due {
	int64_t id, what;
};
static const struct column DUE_COLUMNS[] = { INTEGER(struct due, id), INTEGER(struct due, what) };
/* The start of a contest is due once a problem is visible, because webhooks need a visible problem.
 * After a minute it is due in any case. */
static const struct statement DUE = SELECT(struct due, DUE_COLUMNS,
	"SELECT c.id, 0 AS what FROM contests c WHERE c.started_at IS NULL "
	"AND c.starts_at <= UTC_TIMESTAMP(3) AND (c.starts_at < UTC_TIMESTAMP(3) - INTERVAL 60 SECOND "
	"  OR EXISTS (SELECT 1 FROM contest_problems p JOIN leaderboards l ON l.id = p.leaderboard_id "
	"  WHERE p.contest_id = c.id AND l.visibility <> 'hidden')) "
	"UNION ALL SELECT c.id, 1 FROM contests c WHERE c.ended_at IS NULL "
	"AND c.started_at IS NOT NULL AND c.ends_at <= UTC_TIMESTAMP(3) "
	"UNION ALL SELECT c.id, 2 FROM contests c WHERE c.final_at IS NOT NULL "
	"AND NOT c.standings_stored LIMIT 100");
static const struct statement NOTE_START = COMMAND(
	"UPDATE contests SET started_at = UTC_TIMESTAMP(3) WHERE id = ? AND started_at IS NULL");
static const struct statement NOTE_END =
	COMMAND("UPDATE contests SET ended_at = UTC_TIMESTAMP(3) WHERE id = ? AND ended_at IS NULL");

static int store_missing(struct database *db, int64_t contest_id, struct error *error)
{
	cleanup_arena struct arena *arena = arena_new();
	struct contest contest;
	int rc = contest_lock(db, arena, contest_id, &contest, error);
	return rc || contest.final_at_ms == TIME_NULL || contest.has_standings
		? rc
		: standings_store(db, arena, &contest, error);
}

static int advance_body(struct database *db, void *context, struct error *error)
{
	const struct due *due = context;
	if (due->what == DUE_STORE)
		return store_missing(db, due->id, error);
	bool is_end = due->what == DUE_END;
	int rc = database_execute(db, is_end ? &NOTE_END : &NOTE_START, error, "i", due->id);
	return rc || !database_affected(db)
		? rc
		: webhook_tell_contest(
			db, is_end ? WEBHOOK_CONTEST_ENDED : WEBHOOK_CONTEST_STARTED, due->id, error);
}

int contests_advance(struct database *db, struct error *error)
{
	cleanup_arena struct arena *arena = arena_new();
	struct due *due;
	size_t count = 0;
	int rc = database_rows(db, arena, &DUE, &due, &count, error, "");
	for (size_t i = 0; i < count && !rc; i++)
		rc = database_transaction(db, advance_body, &due[i], error);
	return rc;
}
