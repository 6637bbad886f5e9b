#include "lib/leaderboard/role.h"

#include "lib/account/user.h"
#include "lib/base/quote.h"
#include "lib/base/scope.h"
#include "lib/base/text.h"
#include "lib/leaderboard/visibility.h"

#include <string.h>

/* ---- rights ---- */

struct right_row {
	int64_t right;
};
static const struct column RIGHT_COLUMNS[] = { INTEGER(struct right_row, right) };
#define RIGHT_ON_LEADERBOARD SQL_RIGHT("l")
static const struct statement RIGHT = SELECT(struct right_row, RIGHT_COLUMNS,
	"SELECT " RIGHT_ON_LEADERBOARD " AS `right` FROM leaderboards l WHERE l.id = ?");
static const struct statement RIGHT_TO_SUBMISSION = SELECT(struct right_row, RIGHT_COLUMNS,
	"SELECT " RIGHT_ON_LEADERBOARD " AS `right` FROM submissions s "
	"JOIN leaderboards l ON l.id = s.leaderboard_id WHERE s.id = ? AND " SQL_MAY_SEE("l"));

int leaderboard_right(struct database *db, struct arena *arena, int64_t user_id,
	int64_t leaderboard_id, enum leaderboard_right *right, struct error *error)
{
	struct right_row row = { RIGHT_NONE };
	struct error none;
	int rc = database_row(db, arena, &RIGHT, &row, &none, "ii", user_id, leaderboard_id);
	*right = (enum leaderboard_right)row.right;
	if (rc && rc != ERROR_NOT_FOUND) {
		*error = none;
		return rc;
	}
	return 0;
}

int leaderboard_check_right(struct database *db, struct arena *arena, int64_t user_id,
	const struct leaderboard *leaderboard, enum leaderboard_right least, struct error *error)
{
	static const struct {
		const char *who, *deed;
	} refusals[] = {
		[RIGHT_READ] = { "the creators and the jury", "see this" },
		[RIGHT_CHANGE] = { "the creators", "change it" },
		[RIGHT_OWN] = { "the creator", "do this" },
	};
	enum leaderboard_right right;
	int rc = leaderboard_right(db, arena, user_id, leaderboard->id, &right, error);
	return rc || right >= least ? rc
								: fail(error, ERROR_FORBIDDEN, "Only %s of %s and admins may %s.",
									refusals[least].who, leaderboard->name, refusals[least].deed);
}

int leaderboard_right_to_submission(struct database *db, struct arena *arena, int64_t user_id,
	int64_t submission_id, enum leaderboard_right least, struct error *error)
{
	struct right_row row;
	int rc = database_row(
		db, arena, &RIGHT_TO_SUBMISSION, &row, error, "iii", user_id, submission_id, user_id);
	if (rc == ERROR_NOT_FOUND)
		return fail(error, rc, "There is no submission with this number.");
	return rc || row.right >= (int64_t)least
		? rc
		: fail(error, ERROR_FORBIDDEN,
			"Only the creators of its leaderboard and admins may do this with submission %lld.",
			(long long)submission_id);
}

/* ---- roles ---- */

static const struct column ROLE_COLUMNS[] = {
	TEXT(struct leaderboard_role, user),
	TEXT(struct leaderboard_role, role),
	TEXT(struct leaderboard_role, given_by),
	TIME(struct leaderboard_role, given_at_ms),
};
const struct statement leaderboard_roles_reading = SELECT(struct leaderboard_role, ROLE_COLUMNS,
	"SELECT u.name AS user, r.role, r.given_by, r.given_at AS given_at_ms "
	"FROM leaderboard_roles r JOIN users u ON u.id = r.user_id WHERE r.leaderboard_id = ? "
	"ORDER BY r.role, u.name");
static const struct statement LOCK_ROLE = SELECT(struct leaderboard_role, ROLE_COLUMNS,
	"SELECT '' AS user, role, given_by, given_at AS given_at_ms FROM leaderboard_roles "
	"WHERE leaderboard_id = ? AND user_id = ? FOR UPDATE");
static const struct statement GIVE =
	COMMAND("INSERT INTO leaderboard_roles (leaderboard_id, user_id, role, given_by) "
			"VALUES (?, ?, ?, ?) ON DUPLICATE KEY UPDATE role = VALUES(role), "
			"given_by = VALUES(given_by), given_at = UTC_TIMESTAMP(3)");
static const struct statement TAKE =
	COMMAND("DELETE FROM leaderboard_roles WHERE leaderboard_id = ? AND user_id = ?");

int leaderboard_roles(struct database *db, struct arena *arena, int64_t leaderboard_id,
	struct leaderboard_role **roles, size_t *count, struct error *error)
{
	return database_rows(
		db, arena, &leaderboard_roles_reading, roles, count, error, "i", leaderboard_id);
}

static int find_user(struct database *db, struct arena *arena, const char *name, struct user *user,
	struct error *error)
{
	int rc = text_is_user_name(name) ? user_by_name(db, arena, name, user, error) : ERROR_NOT_FOUND;
	if (!rc && user->deleted_at_ms != TIME_NULL)
		rc = ERROR_NOT_FOUND;
	return rc == ERROR_NOT_FOUND
		? fail_field(error, "user", "There is no user named %s.", quote(arena, name))
		: rc;
}

/* Refuses teams: their members would see the leaderboard without having asked for a role. */
static int check_kind(const struct user *user, struct error *error)
{
	return strcmp(user->kind, "person") == 0
		? 0
		: fail_field(error, "user", "%s is a team. Only persons have roles.", user->name);
}

struct contest_row {
	const char *title;
};
static const struct column CONTEST_COLUMNS[] = { TEXT(struct contest_row, title) };
static const struct statement TAKES_PART = SELECT(struct contest_row, CONTEST_COLUMNS,
	"SELECT c.title FROM contest_problems p JOIN contests c ON c.id = p.contest_id "
	"WHERE p.leaderboard_id = ? AND c.final_at IS NULL AND (EXISTS (SELECT 1 "
	"FROM contest_entrants e WHERE e.contest_id = c.id AND e.user_id = ?) OR EXISTS "
	"(SELECT 1 FROM team_members m WHERE m.contest_id = c.id AND m.user_id = ?))");

/* Refuses a juror who takes part in the leaderboard's contest, because the jury reads the sources
 * of all contestants. */
static int check_takes_no_part(struct database *db, struct arena *arena,
	const struct role_change *change, const struct user *user, struct error *error)
{
	struct contest_row contest;
	if (!change->role || strcmp(change->role, "jury") != 0)
		return 0;
	int rc = database_row(
		db, arena, &TAKES_PART, &contest, error, "iii", change->leaderboard_id, user->id, user->id);
	if (rc)
		return rc == ERROR_NOT_FOUND ? 0 : rc;
	return fail_field(error, "user", "%s takes part in the contest %s. Its jury reads all sources.",
		user->name, contest.title);
}

static int change_body(struct database *db, void *context, struct error *error)
{
	const struct role_change *change = context;
	cleanup_arena struct arena *arena = arena_new();
	struct leaderboard_role before;
	struct user user;
	int rc = find_user(db, arena, change->user, &user, error);
	if (!rc && change->role)
		rc = check_kind(&user, error);
	if (!rc)
		rc = check_takes_no_part(db, arena, change, &user, error);
	if (rc)
		return rc;
	rc = database_row(db, arena, &LOCK_ROLE, &before, error, "ii", change->leaderboard_id, user.id);
	const char *was = rc ? "none" : before.role;
	if (rc == ERROR_NOT_FOUND)
		rc = change->role
			? 0
			: fail(error, rc, "%s has no role on %s.", user.name, change->leaderboard);
	if (!rc)
		rc = change->role
			? database_execute(db, &GIVE, error, "iiss", change->leaderboard_id, user.id,
				change->role, change->by->name)
			: database_execute(db, &TAKE, error, "ii", change->leaderboard_id, user.id);
	return rc ? rc
			  : audit(db, change->by->id, change->by->name, change->by->address, "leaderboard.role",
				  change->leaderboard,
				  arena_printf(arena, "%s: %s, was %s", user.name,
					  change->role ? change->role : "none", was),
				  error);
}

int leaderboard_role_change(
	struct database *db, const struct role_change *change, struct error *error)
{
	const char *role = change->role;
	if (role && strcmp(role, "co-creator") != 0 && strcmp(role, "jury") != 0)
		return fail_field(error, "role", "The roles are co-creator and jury.");
	return database_transaction(db, change_body, (void *)change, error);
}
