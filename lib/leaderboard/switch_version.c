/* Makes another version of a task the current one. */
#include "lib/leaderboard/leaderboard.h"

#include "lib/account/audit.h"
#include "lib/account/user.h"
#include "lib/leaderboard/publication.h"

#include <string.h>

struct target {
	int64_t id, number, is_current, current_number;
	const char *visibility;
};
static const struct column TARGET_COLUMNS[] = {
	INTEGER(struct target, id),
	INTEGER(struct target, number),
	INTEGER(struct target, is_current),
	INTEGER(struct target, current_number),
	TEXT(struct target, visibility),
};
/* Locks the leaderboard against edits and against submissions that are being stored. */
static const struct statement TARGET = SELECT(struct target, TARGET_COLUMNS,
	"SELECT v.id, v.number, v.id = l.task_version_id AS is_current, c.number AS current_number, "
	"l.visibility "
	"FROM leaderboards l JOIN task_versions c ON c.id = l.task_version_id "
	"JOIN task_versions v ON v.leaderboard_id = l.id "
	"WHERE l.id = ? AND v.number = ? FOR UPDATE");
static const struct statement SWITCH = COMMAND(
	"UPDATE leaderboards SET task_version_id = ?, updated_at = UTC_TIMESTAMP(3) WHERE id = ?");
static const struct statement PUBLISH_VERSION =
	COMMAND("UPDATE task_versions SET draft = FALSE WHERE id = ?");

struct switching {
	struct arena *arena;
	const struct leaderboard *leaderboard;
	int64_t number;
	const struct actor *actor;
};

/* Uses the version of a hidden leaderboard. */
static int switch_now(struct database *db, const struct switching *switching,
	const struct target *target, struct error *error)
{
	const struct leaderboard *leaderboard = switching->leaderboard;
	const struct actor *actor = switching->actor;
	int rc = database_execute(db, &SWITCH, error, "ii", target->id, leaderboard->id);
	if (!rc)
		rc = database_execute(db, &PUBLISH_VERSION, error, "i", target->id);
	if (!rc)
		rc = publication_want_version(db, leaderboard->id, target->id, error);
	return rc
		? rc
		: audit(db, actor->id, actor->name, actor->address, "leaderboard.switch", leaderboard->name,
			arena_printf(switching->arena, "task: version %lld, was version %lld",
				(long long)target->number, (long long)target->current_number),
			error);
}

static int switch_body(struct database *db, void *context, struct error *error)
{
	const struct switching *switching = context;
	const struct leaderboard *leaderboard = switching->leaderboard;
	struct target target;
	int rc = database_row(
		db, switching->arena, &TARGET, &target, error, "ii", leaderboard->id, switching->number);
	if (rc == ERROR_NOT_FOUND)
		return fail(error, rc, "The task of %s has no version %lld.", leaderboard->name,
			(long long)switching->number);
	if (rc)
		return rc;
	bool is_hidden = strcmp(target.visibility, "hidden") == 0;
	if (target.is_current) /* takes back the wish for another version */
		return is_hidden ? 0 : publication_withdraw(db, leaderboard->id, error);
	rc = is_hidden ? switch_now(db, switching, &target, error)
				   : publication_want(db, leaderboard->id, target.id, target.visibility, error);
	return rc ? rc
			  : publication_advance(db, switching->arena, leaderboard->id, switching->actor, error);
}

int leaderboard_switch(struct database *db, struct arena *arena,
	const struct leaderboard *leaderboard, int64_t number, const struct actor *actor,
	struct error *error)
{
	struct switching switching = {
		.arena = arena, .leaderboard = leaderboard, .number = number, .actor = actor
	};
	return database_transaction(db, switch_body, &switching, error);
}
