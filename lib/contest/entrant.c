/* The contestants of a contest: listing and registering them. */
#include "lib/contest/contest.h"

#include "lib/account/team.h"
#include "lib/base/format.h"
#include "lib/base/quote.h"
#include "lib/base/text.h"

#include <sodium.h>
#include <string.h>

/* ---- reading ---- */

static const struct column ENTRANT_COLUMNS[] = {
	TEXT(struct contest_entrant, name),
	TIME(struct contest_entrant, registered_at_ms),
};
static const struct statement ENTRANTS = SELECT(struct contest_entrant, ENTRANT_COLUMNS,
	"SELECT u.name, e.registered_at AS registered_at_ms FROM contest_entrants e "
	"JOIN users u ON u.id = e.user_id WHERE e.contest_id = ? "
	"ORDER BY u.name LIMIT 10000");

int contest_entrants(struct database *db, struct arena *arena, int64_t contest_id,
	struct contest_entrant **entrants, size_t *count, struct error *error)
{
	return database_rows(db, arena, &ENTRANTS, entrants, count, error, "i", contest_id);
}

/* ---- registration ---- */

static const struct statement SEAT_ENTRANTS =
	COMMAND("INSERT IGNORE INTO leaderboard_members (leaderboard_id, user_id) "
			"SELECT p.leaderboard_id, e.user_id FROM contest_problems p "
			"JOIN contest_entrants e ON e.contest_id = p.contest_id WHERE p.contest_id = ? "
			"AND ? IN (0, e.user_id) AND NOT EXISTS (SELECT 1 FROM leaderboard_removals r "
			"WHERE r.leaderboard_id = p.leaderboard_id AND r.user_id = e.user_id)");
static const struct statement ENTER =
	COMMAND("INSERT IGNORE INTO contest_entrants (contest_id, user_id) VALUES (?, ?)");
static const struct statement LEAVE =
	COMMAND("DELETE FROM contest_entrants WHERE contest_id = ? AND user_id = ?");

int contest_seat_entrants(
	struct database *db, int64_t contest_id, int64_t contestant_id, struct error *error)
{
	return database_execute(db, &SEAT_ENTRANTS, error, "ii", contest_id, contestant_id);
}

struct entry {
	struct arena *arena;
	const struct contest *contest;
	int64_t person_id;
	const struct actor *actor; /* who leaves */
};

/* Ends the contestant's membership of the contest's leaderboards, except of those to which the
 * contestant has submitted. */
static const struct statement UNSEAT =
	COMMAND("DELETE m FROM leaderboard_members m "
			"JOIN contest_problems p ON p.leaderboard_id = m.leaderboard_id "
			"WHERE p.contest_id = ? AND m.user_id = ? AND NOT EXISTS (SELECT 1 FROM submissions s "
			"WHERE s.leaderboard_id = m.leaderboard_id AND s.user_id = m.user_id)");

/* Affects no row if the contestant was not registered. */
static int leave(
	struct database *db, int64_t contest_id, int64_t contestant_id, struct error *error)
{
	int rc = database_execute(db, &UNSEAT, error, "ii", contest_id, contestant_id);
	return rc ? rc : database_execute(db, &LEAVE, error, "ii", contest_id, contestant_id);
}

static int enter(struct database *db, struct arena *arena, int64_t contest_id,
	int64_t contestant_id, struct error *error)
{
	int rc = team_refuse_juror(db, arena, contestant_id, contest_id, error);
	if (!rc)
		rc = database_execute(db, &ENTER, error, "ii", contest_id, contestant_id);
	return rc ? rc : contest_seat_entrants(db, contest_id, contestant_id, error);
}

struct account_row {
	const char *name;
};
static const struct column ACCOUNT_COLUMNS[] = { TEXT(struct account_row, name) };
static const struct statement ACCOUNT =
	SELECT(struct account_row, ACCOUNT_COLUMNS, "SELECT name FROM users WHERE id = ?");

static int leave_body(struct database *db, void *context, struct error *error)
{
	const struct entry *entry = context;
	const struct contest *contest = entry->contest;
	const struct actor *actor = entry->actor;
	struct account_row account;
	int64_t contestant_id;
	int rc = team_lock_contestant(db, entry->person_id, contest->id, &contestant_id, error);
	if (!rc)
		rc = database_row(db, entry->arena, &ACCOUNT, &account, error, "i", contestant_id);
	if (!rc)
		rc = leave(db, contest->id, contestant_id, error);
	if (rc || !database_affected(db))
		return rc;
	return audit(db, actor->id, actor->name, actor->address, "contest.leave", account.name,
		arena_printf(entry->arena, "contest: %s", contest->name), error);
}

static int enter_body(struct database *db, void *context, struct error *error)
{
	const struct entry *entry = context;
	int64_t contestant_id;
	int rc = team_lock_contestant(db, entry->person_id, entry->contest->id, &contestant_id, error);
	return rc ? rc : enter(db, entry->arena, entry->contest->id, contestant_id, error);
}

/* Takes the same time wherever the codes differ, so that nobody can guess a code by measuring. */
static bool is_same_code(const char *a, const char *b)
{
	unsigned char left[contest_most_code_bytes + 1] = { 0 }, right[sizeof left] = { 0 };
	size_t most = sizeof left - 1;
	memcpy(left, a, strlen(a) < most ? strlen(a) : most);
	memcpy(right, b, strlen(b) < most ? strlen(b) : most);
	return *a && strlen(b) <= most && sodium_memcmp(left, right, sizeof left) == 0;
}

int contest_register(struct database *db, struct arena *arena, const struct contest *contest,
	int64_t person_id, const char *code, struct error *error)
{
	struct entry entry = { .arena = arena, .contest = contest, .person_id = person_id };
	struct contest now;
	int rc = contest_by_name(db, arena, contest->name, person_id, &now, error);
	if (rc || now.is_entrant)
		return rc;
	if (now.ends_at_ms <= now_ms())
		return fail(error, ERROR_CONFLICT, "The contest has ended, so nobody can register.");
	if (strcmp(now.registration, "closed") == 0)
		return fail(error, ERROR_CONFLICT,
			"The registration is closed. Ask the contest's host to register you.");
	if (strcmp(now.registration, "code") == 0 && !is_same_code(now.code, code))
		return fail_field(error, "code",
			*code ? "This is not the code of the contest. Check that you copied all of it."
				  : "Type the code of the contest.");
	return database_transaction(db, enter_body, &entry, error);
}

int contest_leave(struct database *db, struct arena *arena, const struct contest *contest,
	const struct actor *actor, struct error *error)
{
	if (contest->starts_at_ms <= now_ms())
		return fail(error, ERROR_CONFLICT,
			"The contest has started. Ask its host if you do not want to take part.");
	struct entry entry = { arena, contest, actor->id, actor };
	return database_transaction(db, leave_body, &entry, error);
}

struct user_row {
	int64_t id;
};
static const struct column USER_COLUMNS[] = { INTEGER(struct user_row, id) };
static const struct statement LOCK_USER = SELECT(struct user_row, USER_COLUMNS,
	"SELECT id FROM users WHERE name = ? AND deleted_at IS NULL FOR UPDATE");

struct team_row {
	const char *name;
};
static const struct column TEAM_COLUMNS[] = { TEXT(struct team_row, name) };
static const struct statement TEAM = SELECT(struct team_row, TEAM_COLUMNS,
	"SELECT t.name FROM team_members m JOIN users t ON t.id = m.team_id "
	"WHERE m.contest_id = ? AND m.user_id = ?");

struct putting {
	struct arena *arena;
	const struct contest *contest;
	const char *user;
	bool is_entrant;
	const struct actor *actor;
};

/* Locks the user's row, so that the user joins no team meanwhile. */
static int lock_user(
	struct database *db, const struct putting *putting, int64_t *id, struct error *error)
{
	const char *name = putting->user;
	struct user_row user;
	struct team_row team;
	int rc = text_is_user_name(name)
		? database_row(db, putting->arena, &LOCK_USER, &user, error, "s", name)
		: ERROR_NOT_FOUND;
	if (rc == ERROR_NOT_FOUND)
		return fail_field(error, "user", "There is no user named %s.", quote(putting->arena, name));
	*id = rc ? 0 : user.id;
	if (rc || !putting->is_entrant)
		return rc;
	rc = database_row(db, putting->arena, &TEAM, &team, error, "ii", putting->contest->id, user.id);
	if (rc)
		return rc == ERROR_NOT_FOUND ? 0 : rc;
	return fail_field(
		error, "user", "%s is in the team %s. Register the team instead.", name, team.name);
}

static int put_entrant_body(struct database *db, void *context, struct error *error)
{
	const struct putting *putting = context;
	const struct actor *actor = putting->actor;
	bool enters = putting->is_entrant;
	int64_t id = 0;
	int rc = lock_user(db, putting, &id, error);
	if (!rc)
		rc = enters ? enter(db, putting->arena, putting->contest->id, id, error)
					: leave(db, putting->contest->id, id, error);
	return rc ? rc
			  : audit(db, actor->id, actor->name, actor->address,
				  enters ? "contest.register" : "contest.unregister", putting->user,
				  arena_printf(putting->arena, "contest: %s", putting->contest->name), error);
}

int contest_put_entrant(struct database *db, struct arena *arena, const struct contest *contest,
	const char *user, bool is_entrant, const struct actor *actor, struct error *error)
{
	struct putting putting = { arena, contest, user, is_entrant, actor };
	return contest->final_at_ms == TIME_NULL
		? database_transaction(db, put_entrant_body, &putting, error)
		: fail(error, ERROR_CONFLICT,
			"The standings of %s are final, so its contestants do not change any more.",
			contest->name);
}
