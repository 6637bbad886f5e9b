/* The jury of a contest: users with the role jury on its problems. */
#include "lib/contest/contest.h"

#include "lib/base/text.h"
#include "lib/leaderboard/role.h"

#include <string.h>

static const struct column JUROR_COLUMNS[] = {
	TEXT(struct contest_juror, name),
	INTEGER(struct contest_juror, problems),
};
static const struct statement JURY = SELECT(struct contest_juror, JUROR_COLUMNS,
	"SELECT u.name, COUNT(*) AS problems FROM contest_problems p "
	"JOIN leaderboard_roles r ON r.leaderboard_id = p.leaderboard_id AND r.role = 'jury' "
	"JOIN users u ON u.id = r.user_id WHERE p.contest_id = ? GROUP BY u.id ORDER BY u.name "
	"LIMIT 1000");

int contest_jury(struct database *db, struct arena *arena, int64_t contest_id,
	struct contest_juror **jurors, size_t *count, struct error *error)
{
	return database_rows(db, arena, &JURY, jurors, count, error, "i", contest_id);
}

struct seat { /* a problem, and the user's role on it */
	int64_t leaderboard_id, actor_right;
	const char *leaderboard, *role;
};
static const struct column SEAT_COLUMNS[] = {
	INTEGER(struct seat, leaderboard_id),
	INTEGER(struct seat, actor_right),
	TEXT(struct seat, leaderboard),
	TEXT(struct seat, role),
};
#define ACTOR_RIGHT SQL_RIGHT("l")
static const struct statement SEATS = SELECT(struct seat, SEAT_COLUMNS,
	"SELECT l.id AS leaderboard_id, " ACTOR_RIGHT " AS actor_right, l.name AS leaderboard, "
	"(SELECT r.role FROM leaderboard_roles r JOIN users u ON u.id = r.user_id "
	"WHERE r.leaderboard_id = l.id AND u.name = ?) AS role "
	"FROM contest_problems p JOIN leaderboards l ON l.id = p.leaderboard_id "
	"WHERE p.contest_id = ? ORDER BY p.position, l.name");

struct jury_change {
	struct arena *arena;
	const struct contest *contest;
	const char *user;
	bool gives;
	const struct actor *actor;
};

static int check_right(
	const struct jury_change *change, const struct seat *seat, struct error *error)
{
	return !change->actor->id || seat->actor_right >= RIGHT_OWN
		? 0
		: fail(error, ERROR_FORBIDDEN, "Only the creator of %s and admins may change its jury.",
			seat->leaderboard);
}

/* Whether the user's role changes. A co-creator can read everything already and keeps that role. */
static bool has_to_change(const struct jury_change *change, const struct seat *seat)
{
	return change->gives ? !seat->role : seat->role && strcmp(seat->role, "jury") == 0;
}

static int change_body(struct database *db, void *context, struct error *error)
{
	const struct jury_change *change = context;
	const char *user = text_is_user_name(change->user) ? change->user : "";
	struct seat *seats;
	size_t count, changed = 0;
	int rc = database_rows(db, change->arena, &SEATS, &seats, &count, error, "isi",
		change->actor->id, user, change->contest->id);
	for (size_t i = 0; i < count && !rc; i++)
		rc = check_right(change, &seats[i], error);
	for (size_t i = 0; i < count && !rc; i++) {
		const struct role_change one = { seats[i].leaderboard_id, seats[i].leaderboard,
			change->user, change->gives ? "jury" : NULL, change->actor };
		if (!has_to_change(change, &seats[i]))
			continue;
		rc = leaderboard_role_change(db, &one, error);
		changed++;
	}
	if (rc || changed)
		return rc;
	if (!count)
		return fail_field(error, "user", "The contest has no problems yet, so it has no jury.");
	return fail_field(error, "user",
		change->gives ? "This user reads all problems of the contest already."
					  : "This user is not in the jury of the contest.");
}

int contest_change_jury(struct database *db, struct arena *arena, const struct contest *contest,
	const char *user, bool gives, const struct actor *actor, struct error *error)
{
	struct jury_change change = { arena, contest, user, gives, actor };
	return database_transaction(db, change_body, &change, error);
}
