/* Creates a leaderboard as a copy of another one, without its submissions. */
#include "lib/leaderboard/leaderboard.h"

#include "lib/account/audit.h"
#include "lib/account/user.h"

#include <sodium.h>

struct cloning {
	struct arena *arena;
	const struct leaderboard *leaderboard;
	const char *name;
	const struct actor *actor;
	int64_t id, version_id;
};

/* The copy gets a new seed, so that known inputs of one leaderboard reveal nothing about the
 * other's. */
static const struct statement COPY_LEADERBOARD =
	COMMAND("INSERT INTO leaderboards (name, creator_id, accepting, sources_open, source_license, "
			"sources_public_after_deadline, practice, visibility, secret_seed) "
			"SELECT ?, ?, accepting, sources_open, source_license, sources_public_after_deadline, "
			"practice, 'hidden', ? "
			"FROM leaderboards WHERE id = ?");
static const struct statement COPY_VERSION =
	COMMAND("INSERT INTO task_versions (leaderboard_id, number, language, description, definition, "
			"created_by) "
			"SELECT ?, 1, v.language, v.description, v.definition, ? FROM leaderboards l "
			"JOIN task_versions v ON v.id = l.task_version_id WHERE l.id = ?");
static const struct statement COPY_FILES =
	COMMAND("INSERT INTO task_files (task_version_id, path, role, sha256) "
			"SELECT ?, f.path, f.role, f.sha256 "
			"FROM leaderboards l JOIN task_files f ON f.task_version_id = l.task_version_id "
			"WHERE l.id = ?");
static const struct statement COPY_ENGINES =
	COMMAND("INSERT INTO task_engines (task_version_id, gpu, engine, reason) "
			"SELECT ?, e.gpu, e.engine, e.reason "
			"FROM leaderboards l JOIN task_engines e ON e.task_version_id = l.task_version_id "
			"WHERE l.id = ?");
static const struct statement USE_VERSION =
	COMMAND("UPDATE leaderboards SET task_version_id = ? WHERE id = ?");
static const struct statement COPY_GPUS =
	COMMAND("INSERT INTO leaderboard_gpus (leaderboard_id, gpu, position) SELECT ?, gpu, position "
			"FROM leaderboard_gpus WHERE leaderboard_id = ?");
static const struct statement COPY_QUOTAS =
	COMMAND("INSERT INTO leaderboard_quotas (leaderboard_id, mode, most, hours) "
			"SELECT ?, mode, most, hours FROM leaderboard_quotas WHERE leaderboard_id = ?");

static int copy_leaderboard(struct database *db, struct cloning *cloning, struct error *error)
{
	int64_t actor_id = cloning->actor->id ? cloning->actor->id : SQL_NULL_INTEGER;
	int rc = database_execute(db, &COPY_LEADERBOARD, error, "siii", cloning->name, actor_id,
		(int64_t)randombytes_uniform(UINT32_C(1) << 31), cloning->leaderboard->id);
	if (rc == ERROR_CONFLICT) {
		fail_field(error, "name", "There is a leaderboard named %s already; choose another name.",
			cloning->name);
		return error->code = rc;
	}
	if (!rc && database_affected(db) != 1)
		return fail(error, ERROR_NOT_FOUND, "The leaderboard %s was deleted meanwhile.",
			cloning->leaderboard->name);
	cloning->id = (int64_t)database_insert_id(db);
	return rc;
}

static int copy_task(struct database *db, struct cloning *cloning, struct error *error)
{
	int64_t actor_id = cloning->actor->id ? cloning->actor->id : SQL_NULL_INTEGER;
	int rc = database_execute(
		db, &COPY_VERSION, error, "iii", cloning->id, actor_id, cloning->leaderboard->id);
	cloning->version_id = (int64_t)database_insert_id(db);
	if (!rc)
		rc = database_execute(
			db, &COPY_FILES, error, "ii", cloning->version_id, cloning->leaderboard->id);
	if (!rc)
		rc = database_execute(
			db, &COPY_ENGINES, error, "ii", cloning->version_id, cloning->leaderboard->id);
	return rc ? rc
			  : database_execute(db, &USE_VERSION, error, "ii", cloning->version_id, cloning->id);
}

static int clone_body(struct database *db, void *context, struct error *error)
{
	struct cloning *cloning = context;
	const struct actor *actor = cloning->actor;
	int rc = copy_leaderboard(db, cloning, error);
	if (!rc)
		rc = copy_task(db, cloning, error);
	if (!rc)
		rc = database_execute(db, &COPY_GPUS, error, "ii", cloning->id, cloning->leaderboard->id);
	if (!rc)
		rc = database_execute(db, &COPY_QUOTAS, error, "ii", cloning->id, cloning->leaderboard->id);
	return rc
		? rc
		: audit(db, actor->id, actor->name, actor->address, "leaderboard.clone", cloning->name,
			arena_printf(
				cloning->arena, "Cloned from %s; hidden; no deadline.", cloning->leaderboard->name),
			error);
}

int leaderboard_clone(struct database *db, struct arena *arena,
	const struct leaderboard *leaderboard, const char *name, const struct actor *actor,
	struct error *error)
{
	struct cloning cloning = {
		.arena = arena, .leaderboard = leaderboard, .name = name, .actor = actor
	};
	int rc = leaderboard_check_name(name, error);
	return rc ? rc : database_transaction(db, clone_body, &cloning, error);
}
