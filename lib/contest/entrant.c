/* The contestants of a contest: listing and registering them. */
#include "lib/contest/contest.h"

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
	int64_t contest_id, user_id;
	const char *action, *name, *detail; /* for the audit log; NULL: no entry */
	const struct actor *actor;
};

static int note_entry(struct database *db, const struct entry *entry, struct error *error)
{
	const struct actor *actor = entry->actor;
	return entry->action ? audit(db, actor->id, actor->name, actor->address, entry->action,
			   entry->name, entry->detail, error)
						 : 0;
}

/* Whoever has submitted to a closed leaderboard stays its member. */
static const struct statement UNSEAT =
	COMMAND("DELETE m FROM leaderboard_members m "
			"JOIN contest_problems p ON p.leaderboard_id = m.leaderboard_id "
			"WHERE p.contest_id = ? AND m.user_id = ? AND NOT EXISTS (SELECT 1 FROM submissions s "
			"WHERE s.leaderboard_id = m.leaderboard_id AND s.user_id = m.user_id)");

static int leave_body(struct database *db, void *context, struct error *error)
{
	const struct entry *entry = context;
	int rc = database_execute(db, &LEAVE, error, "ii", entry->contest_id, entry->user_id);
	bool was_entrant = !rc && database_affected(db);
	if (!rc)
		rc = database_execute(db, &UNSEAT, error, "ii", entry->contest_id, entry->user_id);
	return rc || !was_entrant ? rc : note_entry(db, entry, error);
}

static int enter_body(struct database *db, void *context, struct error *error)
{
	const struct entry *entry = context;
	int rc = database_execute(db, &ENTER, error, "ii", entry->contest_id, entry->user_id);
	if (!rc)
		rc = contest_seat_entrants(db, entry->contest_id, entry->user_id, error);
	return rc ? rc : note_entry(db, entry, error);
}

/* In a time that does not depend on where the codes differ. */
static bool is_same_code(const char *a, const char *b)
{
	unsigned char left[contest_most_code_bytes + 1] = { 0 }, right[sizeof left] = { 0 };
	size_t most = sizeof left - 1;
	memcpy(left, a, strlen(a) < most ? strlen(a) : most);
	memcpy(right, b, strlen(b) < most ? strlen(b) : most);
	return *a && strlen(b) <= most && sodium_memcmp(left, right, sizeof left) == 0;
}

int contest_register(struct database *db, struct arena *arena, const struct contest *contest,
	int64_t contestant_id, const char *code, struct error *error)
{
	struct entry entry = { .contest_id = contest->id, .user_id = contestant_id };
	struct contest now;
	int rc = contest_by_name(db, arena, contest->name, contestant_id, &now, error);
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

struct account_row {
	const char *name;
};
static const struct column ACCOUNT_COLUMNS[] = { TEXT(struct account_row, name) };
static const struct statement ACCOUNT =
	SELECT(struct account_row, ACCOUNT_COLUMNS, "SELECT name FROM users WHERE id = ?");

int contest_leave(struct database *db, struct arena *arena, const struct contest *contest,
	int64_t contestant_id, const struct actor *actor, struct error *error)
{
	struct account_row account;
	if (contest->starts_at_ms <= now_ms())
		return fail(error, ERROR_CONFLICT,
			"The contest has started. Ask its host if you do not want to take part.");
	int rc = database_row(db, arena, &ACCOUNT, &account, error, "i", contestant_id);
	struct entry entry = { contest->id, contestant_id, "contest.leave", rc ? NULL : account.name,
		arena_printf(arena, "contest: %s", contest->name), actor };
	return rc ? rc : database_transaction(db, leave_body, &entry, error);
}

struct user_row {
	int64_t id;
	const char *team; /* of the user in the contest; NULL: none */
};
static const struct column USER_COLUMNS[] = { INTEGER(struct user_row, id),
	TEXT(struct user_row, team) };
static const struct statement USER = SELECT(struct user_row, USER_COLUMNS,
	"SELECT u.id, (SELECT t.name FROM team_members m JOIN users t ON t.id = m.team_id "
	"WHERE m.contest_id = ? AND m.user_id = u.id) AS team "
	"FROM users u WHERE u.name = ? AND u.deleted_at IS NULL");

int contest_put_entrant(struct database *db, struct arena *arena, const struct contest *contest,
	const char *user, bool is_entrant, const struct actor *actor, struct error *error)
{
	struct user_row row;
	if (contest->final_at_ms != TIME_NULL)
		return fail(error, ERROR_CONFLICT,
			"The standings of %s are final, so its contestants do not change any more.",
			contest->name);
	int rc = text_is_user_name(user)
		? database_row(db, arena, &USER, &row, error, "is", contest->id, user)
		: ERROR_NOT_FOUND;
	if (rc == ERROR_NOT_FOUND)
		return fail_field(error, "user", "There is no user named %s.", quote(arena, user));
	if (!rc && is_entrant && row.team)
		return fail_field(
			error, "user", "%s is in the team %s. Register the team instead.", user, row.team);
	struct entry entry = { contest->id, rc ? 0 : row.id,
		is_entrant ? "contest.register" : "contest.unregister", user,
		arena_printf(arena, "contest: %s", contest->name), actor };
	return rc ? rc : database_transaction(db, is_entrant ? enter_body : leave_body, &entry, error);
}
