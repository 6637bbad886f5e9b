#include "lib/account/team.h"

#include "lib/account/user.h"
#include "lib/base/scope.h"
#include "lib/base/text.h"

#include <sodium.h>
#include <string.h>

/* ---- reading ---- */

static const struct column CONTEST_COLUMNS[] = {
	INTEGER(struct team_contest, id),
	TEXT(struct team_contest, name),
	TEXT(struct team_contest, title),
	INTEGER(struct team_contest, team_members),
	INTEGER(struct team_contest, has_ended),
};
static const struct statement CONTEST = SELECT(struct team_contest, CONTEST_COLUMNS,
	"SELECT id, name, title, team_members, ends_at <= UTC_TIMESTAMP(3) AS has_ended "
	"FROM contests WHERE name = ?");

int team_contest_by_name(struct database *db, struct arena *arena, const char *name,
	struct team_contest *contest, struct error *error)
{
	/* Contest names have the form of leaderboard names. The column is ASCII, and MariaDB fails if
	 * it compares it with other text. */
	int rc = text_is_leaderboard_name(name)
		? database_row(db, arena, &CONTEST, contest, error, "s", name)
		: ERROR_NOT_FOUND;
	return rc == ERROR_NOT_FOUND ? fail(error, rc, "There is no contest of this name.") : rc;
}

static const struct column TEAM_COLUMNS[] = {
	INTEGER(struct team, id),
	TEXT(struct team, name),
	INTEGER(struct team, contest_id),
	TEXT(struct team, contest),
	TEXT(struct team, contest_title),
	TEXT(struct team, code),
	TIME(struct team, locked_at_ms),
	INTEGER(struct team, is_final),
	INTEGER(struct team, is_registered),
	INTEGER(struct team, most),
};
#define TEAM \
	"SELECT t.user_id AS id, u.name, t.contest_id, c.name AS contest, c.title AS contest_title, " \
	"t.code, t.locked_at AS locked_at_ms, c.final_at IS NOT NULL AS is_final, " \
	"EXISTS (SELECT 1 FROM contest_entrants e WHERE e.contest_id = t.contest_id " \
	"AND e.user_id = t.user_id) AS is_registered, c.team_members AS most " \
	"FROM teams t JOIN users u ON u.id = t.user_id LEFT JOIN contests c ON c.id = t.contest_id "
static const struct statement OF_CONTEST =
	SELECT(struct team, TEAM_COLUMNS, TEAM "WHERE t.contest_id = ? ORDER BY u.name");
const struct statement teams_of_person_reading = SELECT(struct team, TEAM_COLUMNS,
	TEAM "JOIN team_members own ON own.team_id = t.user_id WHERE own.user_id = ? "
		 "ORDER BY t.user_id DESC");
static const struct statement BY_NAME = SELECT(struct team, TEAM_COLUMNS, TEAM "WHERE u.name = ?");
static const struct statement BY_ID = SELECT(struct team, TEAM_COLUMNS, TEAM "WHERE t.user_id = ?");

static const struct column MEMBER_COLUMNS[] = {
	INTEGER(struct team_member, team_id),
	INTEGER(struct team_member, user_id),
	TEXT(struct team_member, name),
	TIME(struct team_member, joined_at_ms),
};
#define MEMBERS(where) \
	SELECT(struct team_member, MEMBER_COLUMNS, \
		"SELECT m.team_id, m.user_id, p.name, m.joined_at AS joined_at_ms FROM teams t " \
		"JOIN users u ON u.id = t.user_id JOIN team_members m ON m.team_id = t.user_id " \
		"JOIN users p ON p.id = m.user_id WHERE " where " ORDER BY u.name, p.name")
static const struct statement MEMBERS_OF_CONTEST = MEMBERS("t.contest_id = ?");
static const struct statement MEMBERS_BY_NAME = MEMBERS("u.name = ?");
static const struct statement MEMBERS_BY_ID = MEMBERS("t.user_id = ?");

static const struct statement *const CONTEST_PARTS[] = { &OF_CONTEST, &MEMBERS_OF_CONTEST },
									 *const NAME_PARTS[] = { &BY_NAME, &MEMBERS_BY_NAME },
									 *const ID_PARTS[] = { &BY_ID, &MEMBERS_BY_ID };
static const struct bundle WHOLE_CONTEST = BUNDLE(CONTEST_PARTS),
						   WHOLE_BY_NAME = BUNDLE(NAME_PARTS), WHOLE_BY_ID = BUNDLE(ID_PARTS);

/* Gives each team its members. Both lists are sorted by the teams' names. Between the two
 * statements, somebody may have created or deleted a team. */
static void share_out(struct team *teams, size_t count, const struct database_answer *answer)
{
	const struct team_member *members = answer->rows;
	size_t at = 0;
	for (size_t i = 0; i < count; i++) {
		size_t first = at, end;
		while (first < answer->count && members[first].team_id != teams[i].id)
			first++;
		for (end = first; end < answer->count && members[end].team_id == teams[i].id;)
			end++;
		teams[i].members = members + first;
		teams[i].member_count = end - first;
		at = end > first ? end : at;
	}
}

int teams_of_contest(struct database *db, struct arena *arena, int64_t contest_id,
	struct team **teams, size_t *count, struct error *error)
{
	struct database_answer answers[COUNT(CONTEST_PARTS)] = { 0 };
	int rc =
		database_answers(db, arena, &WHOLE_CONTEST, answers, error, "ii", contest_id, contest_id);
	if (rc)
		return rc;
	*teams = answers[0].rows;
	*count = answers[0].count;
	share_out(*teams, *count, &answers[1]);
	return 0;
}

int teams_of_person(struct database *db, struct arena *arena, int64_t user_id, struct team **teams,
	size_t *count, struct error *error)
{
	return database_rows(db, arena, &teams_of_person_reading, teams, count, error, "i", user_id);
}

static int take_team(struct database_answer *answers, struct team *team, struct error *error)
{
	if (!answers[0].count)
		return fail(error, ERROR_NOT_FOUND, "There is no team of this name.");
	share_out(answers[0].rows, 1, &answers[1]);
	*team = *(const struct team *)answers[0].rows;
	return 0;
}

int team_by_name(struct database *db, struct arena *arena, const char *name, struct team *team,
	struct error *error)
{
	struct database_answer answers[COUNT(NAME_PARTS)] = { 0 };
	int rc = text_is_user_name(name)
		? database_answers(db, arena, &WHOLE_BY_NAME, answers, error, "ss", name, name)
		: 0;
	return rc ? rc : take_team(answers, team, error);
}

int team_by_id(
	struct database *db, struct arena *arena, int64_t id, struct team *team, struct error *error)
{
	struct database_answer answers[COUNT(ID_PARTS)] = { 0 };
	int rc = database_answers(db, arena, &WHOLE_BY_ID, answers, error, "ii", id, id);
	return rc ? rc : take_team(answers, team, error);
}

/* ---- the author of a submission ---- */

struct id_row {
	int64_t id;
};
static const struct column ID_COLUMNS[] = { INTEGER(struct id_row, id) };
#define TEAM_ON_LEADERBOARD \
	"SELECT m.team_id AS id FROM contest_problems p JOIN team_members m " \
	"ON m.contest_id = p.contest_id AND m.user_id = ? WHERE p.leaderboard_id = ?"
static const struct statement AUTHOR = SELECT(struct id_row, ID_COLUMNS, TEAM_ON_LEADERBOARD);
static const struct statement LOCK_ACCOUNT =
	SELECT(struct id_row, ID_COLUMNS, "SELECT id FROM users WHERE id = ? FOR UPDATE");
static const struct statement NOTE_RANKED = COMMAND(
	"UPDATE teams SET locked_at = UTC_TIMESTAMP(3) WHERE user_id = ? AND locked_at IS NULL");

int team_author(struct database *db, struct arena *arena, int64_t user_id, int64_t leaderboard_id,
	int64_t *author_id, struct error *error)
{
	struct id_row team;
	int rc = database_row(db, arena, &AUTHOR, &team, error, "ii", user_id, leaderboard_id);
	*author_id = rc ? user_id : team.id;
	return rc == ERROR_NOT_FOUND ? 0 : rc;
}

static const struct statement MEMBER = SELECT(struct id_row, ID_COLUMNS,
	"SELECT team_id AS id FROM team_members WHERE team_id = ? AND user_id = ?");

int team_acts_for(
	struct database *db, int64_t person_id, int64_t account_id, bool *acts, struct error *error)
{
	cleanup_arena struct arena *arena = arena_new();
	struct id_row row;
	int rc = person_id == account_id
		? 0
		: database_row(db, arena, &MEMBER, &row, error, "ii", account_id, person_id);
	*acts = !rc;
	return rc == ERROR_NOT_FOUND ? 0 : rc;
}

static int lock_account(struct database *db, struct arena *arena, int64_t id, struct error *error)
{
	struct id_row row;
	return database_row(db, arena, &LOCK_ACCOUNT, &row, error, "i", id);
}

/* The members of a team change only in transactions that have locked the person's row first. */
int team_lock_author(struct database *db, struct arena *arena, int64_t user_id,
	int64_t leaderboard_id, int64_t *author_id, struct error *error)
{
	int rc = lock_account(db, arena, user_id, error);
	if (!rc)
		rc = team_author(db, arena, user_id, leaderboard_id, author_id, error);
	return rc || *author_id == user_id ? rc : lock_account(db, arena, *author_id, error);
}

static const struct statement TEAM_OF_PERSON = SELECT(struct id_row, ID_COLUMNS,
	"SELECT team_id AS id FROM team_members WHERE user_id = ? AND contest_id = ?");

int team_lock_contestant(struct database *db, int64_t person_id, int64_t contest_id,
	int64_t *contestant_id, struct error *error)
{
	cleanup_arena struct arena *arena = arena_new();
	struct id_row team;
	int rc = lock_account(db, arena, person_id, error);
	if (rc)
		return rc;
	rc = database_row(db, arena, &TEAM_OF_PERSON, &team, error, "ii", person_id, contest_id);
	*contestant_id = rc ? person_id : team.id;
	return rc == ERROR_NOT_FOUND ? 0 : rc;
}

int team_note_ranked(struct database *db, int64_t author_id, struct error *error)
{
	return database_execute(db, &NOTE_RANKED, error, "i", author_id);
}

/* ---- changing ---- */

/* PASS_REGISTRATION copies a registration. PASS_SEATS then copies the right to see the contest's
 * closed leaderboards. */
static const struct statement PASS_REGISTRATION =
	COMMAND("INSERT IGNORE INTO contest_entrants (contest_id, user_id) "
			"SELECT contest_id, ? FROM contest_entrants WHERE contest_id = ? AND user_id = ?");
/* Registers a person who leaves a team, but only if registration is open to everybody. */
static const struct statement RETURN_REGISTRATION =
	COMMAND("INSERT IGNORE INTO contest_entrants (contest_id, user_id) "
			"SELECT e.contest_id, ? FROM contest_entrants e "
			"JOIN contests c ON c.id = e.contest_id AND c.registration = 'open' "
			"JOIN teams t ON t.user_id = e.user_id AND t.locked_at IS NULL "
			"WHERE e.contest_id = ? AND e.user_id = ?");
static const struct statement PASS_SEATS =
	COMMAND("INSERT IGNORE INTO leaderboard_members (leaderboard_id, user_id) "
			"SELECT m.leaderboard_id, e.user_id FROM contest_entrants e "
			"JOIN contest_problems p ON p.contest_id = e.contest_id "
			"JOIN leaderboard_members m ON m.leaderboard_id = p.leaderboard_id AND m.user_id = ? "
			"WHERE e.contest_id = ? AND e.user_id = ? AND EXISTS (SELECT 1 FROM contest_entrants o "
			"  WHERE o.contest_id = e.contest_id AND o.user_id = m.user_id) "
			"AND NOT EXISTS (SELECT 1 FROM leaderboard_removals gone "
			"  WHERE gone.leaderboard_id = m.leaderboard_id AND gone.user_id = e.user_id)");
static const struct statement END_REGISTRATION =
	COMMAND("DELETE FROM contest_entrants WHERE contest_id = ? AND user_id = ?");

struct change {
	const char *contest, *team, *code, *user, *reason; /* what the caller gave */
	const struct actor *actor;
	int64_t id;
};

typedef char team_code[team_code_length + 1];

/* Draws a code from letters and digits that do not look alike. 24 of them have about 119 bits. */
static void draw_code(team_code code)
{
	static const char letters[] = "abcdefghjkmnpqrstuvwxyz23456789";
	for (size_t i = 0; i < team_code_length; i++)
		code[i] = letters[randombytes_uniform(sizeof letters - 1)];
	code[team_code_length] = '\0';
}

static const struct statement INSERT_ACCOUNT = COMMAND(
	"INSERT INTO users (name, password_hash, role, kind) VALUES (?, '', 'participant', 'team')");
static const struct statement INSERT_TEAM =
	COMMAND("INSERT INTO teams (user_id, contest_id, code) VALUES (?, ?, ?)");
static const struct statement INSERT_MEMBER =
	COMMAND("INSERT INTO team_members (team_id, user_id, contest_id) VALUES (?, ?, ?)");
static const struct statement DELETE_MEMBER =
	COMMAND("DELETE FROM team_members WHERE team_id = ? AND user_id = ?");
static const struct statement SET_CODE = COMMAND("UPDATE teams SET code = ? WHERE user_id = ?");
/* Deletes a team without members and submissions, so that its name is free again. */
static const struct statement DELETE_UNUSED =
	COMMAND("DELETE FROM users WHERE id = ? AND kind = 'team' AND NOT EXISTS "
			"(SELECT 1 FROM team_members m WHERE m.team_id = users.id) AND NOT EXISTS "
			"(SELECT 1 FROM submissions s WHERE s.user_id = users.id)");
static const struct statement SUBMITTED =
	SELECT(struct id_row, ID_COLUMNS, "SELECT id FROM submissions WHERE user_id = ? LIMIT 1");
static const struct statement ACTIVE = SELECT(struct id_row, ID_COLUMNS,
	"SELECT id FROM users WHERE id = ? AND banned_at IS NULL AND deleted_at IS NULL");
static const struct statement TEAM_BY_CODE = SELECT(
	struct id_row, ID_COLUMNS, "SELECT user_id AS id FROM teams WHERE contest_id = ? AND code = ?");
/* Includes withdrawn and failed submissions. Otherwise a person could use up their own quota first
 * and then the team's. */
static const struct statement RANKED_BEFORE = SELECT(struct id_row, ID_COLUMNS,
	"SELECT s.id FROM contest_problems p JOIN submissions s ON s.user_id = ? "
	"AND s.leaderboard_id = p.leaderboard_id AND s.mode = 'ranked' AND NOT s.dry_run "
	"WHERE p.contest_id = ? LIMIT 1");
struct juror {
	const char *name, *leaderboard;
};
static const struct column JUROR_COLUMNS[] = {
	TEXT(struct juror, name),
	TEXT(struct juror, leaderboard),
};
static const struct statement JUROR = SELECT(struct juror, JUROR_COLUMNS,
	"SELECT u.name, l.name AS leaderboard FROM contest_problems p "
	"JOIN leaderboard_roles r ON r.leaderboard_id = p.leaderboard_id AND r.role = 'jury' "
	"JOIN leaderboards l ON l.id = p.leaderboard_id JOIN users u ON u.id = r.user_id "
	"WHERE p.contest_id = ? AND r.user_id = ? ORDER BY l.name LIMIT 1");
struct count_row {
	int64_t members;
};
static const struct column COUNT_COLUMNS[] = { INTEGER(struct count_row, members) };
static const struct statement COUNT_MEMBERS = SELECT(struct count_row, COUNT_COLUMNS,
	"SELECT COUNT(*) AS members FROM team_members WHERE team_id = ?");

static int note(struct database *db, const struct actor *actor, const char *action,
	const char *team, const char *detail, struct error *error)
{
	return audit(db, actor->id, actor->name, actor->address, action, team, detail, error);
}

int team_refuse_juror(struct database *db, struct arena *arena, int64_t user_id, int64_t contest_id,
	struct error *error)
{
	struct juror juror;
	int rc = database_row(db, arena, &JUROR, &juror, error, "ii", contest_id, user_id);
	if (rc)
		return rc == ERROR_NOT_FOUND ? 0 : rc;
	return fail(error, ERROR_CONFLICT,
		"%s is in the jury of %s and reads all sources, so they cannot take part.", juror.name,
		juror.leaderboard);
}

/* Fails if the person, whose row is locked, cannot become a member of any team of the contest. */
static int check_person(struct database *db, struct arena *arena, int64_t user_id, const char *name,
	int64_t contest_id, struct error *error)
{
	struct id_row row;
	int rc = database_row(db, arena, &ACTIVE, &row, error, "i", user_id);
	if (rc == ERROR_NOT_FOUND)
		return fail(error, ERROR_CONFLICT, "The account %s is banned or deleted.", name);
	if (!rc)
		rc = database_row(db, arena, &TEAM_OF_PERSON, &row, error, "ii", user_id, contest_id);
	if (!rc)
		return fail(error, ERROR_CONFLICT, "%s is in a team of this contest already.", name);
	if (rc == ERROR_NOT_FOUND)
		rc = database_row(db, arena, &RANKED_BEFORE, &row, error, "ii", user_id, contest_id);
	if (!rc)
		return fail(error, ERROR_CONFLICT,
			"%s has a ranked submission of their own in this contest, and would rank twice in a "
			"team.",
			name);
	return rc == ERROR_NOT_FOUND ? team_refuse_juror(db, arena, user_id, contest_id, error) : rc;
}

static int check_contest(const struct team_contest *contest, struct error *error)
{
	if (contest->has_ended)
		return fail(error, ERROR_CONFLICT, "The contest has ended, so its teams stay as they are.");
	if (!contest->team_members)
		return fail(error, ERROR_CONFLICT, "The contest has no teams.");
	return 0;
}

/* Registers `to` if `from` is registered and the statement allows it. */
static int share_registration(struct database *db, const struct statement *pass, int64_t contest_id,
	int64_t from, int64_t to, struct error *error)
{
	int rc = database_execute(db, pass, error, "iii", to, contest_id, from);
	return rc ? rc : database_execute(db, &PASS_SEATS, error, "iii", from, contest_id, to);
}

/* The person's registration passes to the team. */
static int put_member(
	struct database *db, int64_t team_id, int64_t user_id, int64_t contest_id, struct error *error)
{
	int rc = database_execute(db, &INSERT_MEMBER, error, "iii", team_id, user_id, contest_id);
	if (!rc)
		rc = share_registration(db, &PASS_REGISTRATION, contest_id, user_id, team_id, error);
	return rc ? rc : database_execute(db, &END_REGISTRATION, error, "ii", contest_id, user_id);
}

/* Locks the person's account, so that changes of one person run one after the other, and reads the
 * contest. */
static int begin_change(struct database *db, struct arena *arena, const struct change *change,
	struct team_contest *contest, struct error *error)
{
	int rc = lock_account(db, arena, change->actor->id, error);
	return rc ? rc : team_contest_by_name(db, arena, change->contest, contest, error);
}

static int create_body(struct database *db, void *context, struct error *error)
{
	cleanup_arena struct arena *arena = arena_new();
	struct change *change = context;
	const struct actor *actor = change->actor;
	struct team_contest contest;
	team_code code;
	draw_code(code);
	int rc = begin_change(db, arena, change, &contest, error);
	if (!rc)
		rc = check_contest(&contest, error);
	if (!rc)
		rc = check_person(db, arena, actor->id, actor->name, contest.id, error);
	if (!rc)
		rc = user_check_name(db, arena, change->team, error);
	if (rc)
		return rc;
	rc = database_execute(db, &INSERT_ACCOUNT, error, "s", change->team);
	if (rc == ERROR_CONFLICT)
		return user_fail_taken(change->team, error);
	change->id = (int64_t)database_insert_id(db);
	if (!rc)
		rc = database_execute(db, &INSERT_TEAM, error, "iis", change->id, contest.id, code);
	if (!rc)
		rc = put_member(db, change->id, actor->id, contest.id, error);
	return rc ? rc
			  : note(db, actor, "team.create", change->team,
				  arena_printf(arena, "in the contest %s", contest.name), error);
}

/* Locks a team's row in users, after that of the person, and reads the team. */
static int lock_team(
	struct database *db, struct arena *arena, int64_t id, struct team *team, struct error *error)
{
	int rc = lock_account(db, arena, id, error);
	return rc ? rc : database_row(db, arena, &BY_ID, team, error, "i", id);
}

static int check_not_final(const struct team *team, struct error *error)
{
	if (!team->contest)
		return fail(error, ERROR_CONFLICT,
			"The contest of %s was deleted, so the team stays as it is.", team->name);
	return !team->is_final
		? 0
		: fail(error, ERROR_CONFLICT,
			"The standings of %s are final, so its teams stay as they are.", team->contest);
}

static int check_unlocked(const struct team *team, struct error *error)
{
	return team->locked_at_ms == TIME_NULL
		? 0
		: fail(error, ERROR_CONFLICT,
			"%s has a ranked submission, so nobody joins or leaves it. Ask an admin.", team->name);
}

/* A team that has submitted keeps its members. Otherwise one person could create team after team,
 * and each would have a new quota. */
static int check_may_leave(
	struct database *db, struct arena *arena, const struct team *team, struct error *error)
{
	struct id_row row;
	int rc = check_not_final(team, error);
	if (!rc)
		rc = check_unlocked(team, error);
	if (rc)
		return rc;
	rc = database_row(db, arena, &SUBMITTED, &row, error, "i", team->id);
	if (rc == ERROR_NOT_FOUND)
		return 0;
	return rc ? rc
			  : fail(error, ERROR_CONFLICT, "%s has submitted, so nobody leaves it. Ask an admin.",
				  team->name);
}

static int check_place(
	struct database *db, struct arena *arena, const struct team *team, struct error *error)
{
	struct count_row row;
	int rc = database_row(db, arena, &COUNT_MEMBERS, &row, error, "i", team->id);
	if (!rc && row.members >= team->most)
		rc = fail(error, ERROR_CONFLICT,
			"%s is full: a team of this contest has at most %lld members.", team->name,
			(long long)team->most);
	return rc;
}

static int join_body(struct database *db, void *context, struct error *error)
{
	cleanup_arena struct arena *arena = arena_new();
	struct change *change = context;
	const struct actor *actor = change->actor;
	struct team_contest contest;
	struct id_row found;
	struct team team;
	int rc = begin_change(db, arena, change, &contest, error);
	if (!rc)
		rc = check_contest(&contest, error);
	if (rc)
		return rc;
	rc = database_row(db, arena, &TEAM_BY_CODE, &found, error, "is", contest.id, change->code);
	if (!rc)
		rc = lock_team(db, arena, found.id, &team, error);
	if (rc == ERROR_NOT_FOUND)
		return fail_field(error, "code",
			"No team of this contest has this code. The code changes when a member leaves; ask the "
			"team for it.");
	if (!rc)
		rc = check_person(db, arena, actor->id, actor->name, contest.id, error);
	if (!rc)
		rc = check_unlocked(&team, error);
	if (!rc)
		rc = check_place(db, arena, &team, error);
	if (!rc)
		rc = put_member(db, team.id, actor->id, contest.id, error);
	change->id = rc ? 0 : team.id;
	return rc ? rc : note(db, actor, "team.join", team.name, "", error);
}

/* Removes a member and replaces the code. Deletes the team if it is empty and has not submitted.
 * The caller has locked the team's row, so that nobody can join meanwhile. */
static int delete_member(
	struct database *db, const struct team *team, int64_t user_id, struct error *error)
{
	team_code code;
	draw_code(code);
	int rc = database_execute(db, &DELETE_MEMBER, error, "ii", team->id, user_id);
	if (!rc && !database_affected(db))
		return fail_field(error, "user", "This user is no member of the team.");
	if (!rc)
		rc = database_execute(db, &SET_CODE, error, "si", code, team->id);
	return rc ? rc : database_execute(db, &DELETE_UNUSED, error, "i", team->id);
}

/* Like delete_member, but the person may get the registration for the contest back. */
static int take_out(
	struct database *db, const struct team *team, int64_t user_id, struct error *error)
{
	int rc =
		share_registration(db, &RETURN_REGISTRATION, team->contest_id, team->id, user_id, error);
	return rc ? rc : delete_member(db, team, user_id, error);
}

int team_forget_member(
	struct database *db, struct arena *arena, int64_t user_id, struct error *error)
{
	struct team *teams;
	size_t count;
	int rc = teams_of_person(db, arena, user_id, &teams, &count, error);
	for (size_t i = 0; i < count && !rc; i++) {
		rc = lock_account(db, arena, teams[i].id, error);
		if (!rc)
			rc = delete_member(db, &teams[i], user_id, error);
	}
	return rc;
}

static int leave_body(struct database *db, void *context, struct error *error)
{
	cleanup_arena struct arena *arena = arena_new();
	struct change *change = context;
	const struct actor *actor = change->actor;
	struct team_contest contest;
	struct id_row own;
	struct team team;
	int rc = begin_change(db, arena, change, &contest, error);
	if (rc)
		return rc;
	rc = database_row(db, arena, &TEAM_OF_PERSON, &own, error, "ii", actor->id, contest.id);
	if (rc == ERROR_NOT_FOUND)
		return fail(error, ERROR_CONFLICT, "You are in no team of this contest.");
	if (!rc)
		rc = lock_team(db, arena, own.id, &team, error);
	if (!rc)
		rc = check_may_leave(db, arena, &team, error);
	if (!rc)
		rc = note(db, actor, "team.leave", team.name, "", error);
	return rc ? rc : take_out(db, &team, actor->id, error);
}

int team_create(struct database *db, const char *contest, const char *name,
	const struct actor *actor, int64_t *id, struct error *error)
{
	struct change change = { .contest = contest, .team = name, .actor = actor };
	int rc = database_transaction(db, create_body, &change, error);
	*id = change.id;
	return rc;
}

/* The column is ASCII, so other text would make the statement fail. */
static bool is_code(const char *code)
{
	return strlen(code) == team_code_length
		&& strspn(code, "abcdefghijklmnopqrstuvwxyz0123456789") == team_code_length;
}

int team_join(struct database *db, const char *contest, const char *code, const struct actor *actor,
	int64_t *id, struct error *error)
{
	struct change change = {
		.contest = contest, .code = is_code(code) ? code : "", .actor = actor
	};
	int rc = database_transaction(db, join_body, &change, error);
	*id = change.id;
	return rc;
}

int team_leave(
	struct database *db, const char *contest, const struct actor *actor, struct error *error)
{
	struct change change = { .contest = contest, .actor = actor };
	return database_transaction(db, leave_body, &change, error);
}

static const struct statement DELETE_IDLE =
	COMMAND("DELETE u FROM users u JOIN teams t ON t.user_id = u.id WHERE t.contest_id = ? "
			"AND NOT EXISTS (SELECT 1 FROM submissions s WHERE s.user_id = u.id)");
static const struct statement OUTLIVE =
	COMMAND("UPDATE teams SET contest_id = NULL WHERE contest_id = ?");

int teams_end_contest(struct database *db, int64_t contest_id, struct error *error)
{
	int rc = database_execute(db, &DELETE_IDLE, error, "i", contest_id);
	return rc ? rc : database_execute(db, &OUTLIVE, error, "i", contest_id);
}

/* ---- by admins ---- */

static int check_reason(const char *reason, struct error *error)
{
	if (!reason[strspn(reason, " ")])
		return fail_field(error, "reason", "Enter a reason for the audit log.");
	if (strlen(reason) > team_most_reason_bytes || !text_is_utf8(reason, strlen(reason))
		|| text_has_control(reason))
		return fail_field(error, "reason",
			"A reason has at most %d bytes and no control characters.", team_most_reason_bytes);
	return 0;
}

static int find_person(struct database *db, struct arena *arena, const char *name,
	struct user *user, struct error *error)
{
	int rc = text_is_user_name(name) ? user_by_name(db, arena, name, user, error) : ERROR_NOT_FOUND;
	if (rc && rc != ERROR_NOT_FOUND)
		return rc;
	return rc || user->deleted_at_ms != TIME_NULL || strcmp(user->kind, "person") != 0
		? fail_field(error, "user", "There is no person of this name.")
		: 0;
}

/* Finds the person and the team of a change, and locks both. */
static int lock_both(struct database *db, struct arena *arena, const struct change *change,
	struct user *user, struct team *team, struct error *error)
{
	int rc = find_person(db, arena, change->user, user, error);
	if (!rc)
		rc = lock_account(db, arena, user->id, error);
	if (rc)
		return rc;
	rc = database_row(db, arena, &BY_NAME, team, error, "s", change->team);
	if (!rc)
		rc = lock_team(db, arena, team->id, team, error);
	if (rc == ERROR_NOT_FOUND)
		return fail(error, rc, "There is no team of this name.");
	return rc ? rc : check_not_final(team, error);
}

static int put_body(struct database *db, void *context, struct error *error)
{
	cleanup_arena struct arena *arena = arena_new();
	const struct change *change = context;
	struct user user;
	struct team team;
	int rc = lock_both(db, arena, change, &user, &team, error);
	if (!rc)
		rc = check_person(db, arena, user.id, user.name, team.contest_id, error);
	if (!rc)
		rc = put_member(db, team.id, user.id, team.contest_id, error);
	return rc ? rc
			  : note(db, change->actor, "team.add", team.name,
				  arena_printf(arena, "%s: %s", user.name, change->reason), error);
}

static int remove_body(struct database *db, void *context, struct error *error)
{
	cleanup_arena struct arena *arena = arena_new();
	const struct change *change = context;
	struct user user;
	struct team team;
	int rc = lock_both(db, arena, change, &user, &team, error);
	if (!rc)
		rc = note(db, change->actor, "team.remove", team.name,
			arena_printf(arena, "%s: %s", user.name, change->reason), error);
	return rc ? rc : take_out(db, &team, user.id, error);
}

static int change_member(struct database *db, database_body *body, const char *team,
	const char *user, const char *reason, const struct actor *actor, struct error *error)
{
	struct change change = {
		.team = text_is_user_name(team) ? team : "", .user = user, .reason = reason, .actor = actor
	};
	int rc = check_reason(reason, error);
	return rc ? rc : database_transaction(db, body, &change, error);
}

int team_put_member(struct database *db, const char *team, const char *user, const char *reason,
	const struct actor *actor, struct error *error)
{
	return change_member(db, put_body, team, user, reason, actor, error);
}

int team_remove_member(struct database *db, const char *team, const char *user, const char *reason,
	const struct actor *actor, struct error *error)
{
	return change_member(db, remove_body, team, user, reason, actor, error);
}
