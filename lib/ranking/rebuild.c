/* Rebuilds rankings from jobs and comparisons. */
#include "lib/ranking/ranking.h"

#include "lib/ranking/baseline.h"
#include "lib/ranking/file_time.h"
#include "lib/ranking/head_to_head.h"
#include "lib/ranking/ranked_job.h"
#include "lib/ranking/records.h"
#include "lib/ranking/standing.h"

struct id_row {
	int64_t id;
};
static const struct column ID_COLUMNS[] = { INTEGER(struct id_row, id) };
/* Locks the rankings by a write, as lib/ranking/ranked_job.c does. */
static const struct statement TAKE_TURNS =
	COMMAND("UPDATE leaderboard_gpus SET turn = turn + 1 WHERE leaderboard_id = ?");
static const struct statement LOCK_LEADERBOARD =
	SELECT(struct id_row, ID_COLUMNS, "SELECT id FROM leaderboards WHERE id = ? FOR UPDATE");
static const struct statement LEADERBOARDS =
	SELECT(struct id_row, ID_COLUMNS, "SELECT id FROM leaderboards WHERE ? IN (0, id) ORDER BY id");
static const struct statement CLEAR = COMMAND("DELETE FROM ranking WHERE leaderboard_id = ?");
static const struct column KEY_COLUMNS[] = {
	INTEGER(struct ranking_key, leaderboard_id),
	INTEGER(struct ranking_key, task_version_id),
	TEXT(struct ranking_key, gpu),
};
static const struct statement RANKINGS = SELECT(struct ranking_key, KEY_COLUMNS,
	"SELECT DISTINCT leaderboard_id, task_version_id, gpu FROM ranking "
	"WHERE leaderboard_id = ? ORDER BY task_version_id, gpu");

/* A leaderboard whose rankings are rebuilt, and whether to queue comparisons for the new order. */
struct rebuild {
	int64_t leaderboard_id;
	bool compares;
};

static int queue_comparisons(struct database *db, struct arena *arena,
	const struct ranking_key *key, const struct standing *standing, struct error *error)
{
	int rc = head_to_head_withdraw(db, arena, key, error);
	for (size_t i = 0; i < standing->count && i < ranking_compared_positions && !rc; i++)
		rc = standing_compare(db, key, standing, standing->entries[i].user_id, error);
	return rc;
}

static int order_rankings(
	struct database *db, struct arena *arena, const struct rebuild *rebuild, struct error *error)
{
	struct ranking_key *keys;
	struct standing standing;
	size_t count;
	int rc =
		database_rows(db, arena, &RANKINGS, &keys, &count, error, "i", rebuild->leaderboard_id);
	for (size_t i = 0; !rc && i < count; i++) {
		rc = standing_update(db, arena, &keys[i], &standing, error);
		if (!rc && rebuild->compares)
			rc = queue_comparisons(db, arena, &keys[i], &standing, error);
	}
	return rc;
}

static int rebuild_leaderboard(struct database *db, void *context, struct error *error)
{
	const struct rebuild *rebuild = context;
	cleanup_arena struct arena *arena = arena_new();
	struct id_row row;
	int rc = database_execute(db, &TAKE_TURNS, error, "i", rebuild->leaderboard_id);
	if (!rc)
		rc = database_row(db, arena, &LOCK_LEADERBOARD, &row, error, "i", rebuild->leaderboard_id);
	if (!rc)
		rc = database_execute(db, &CLEAR, error, "i", rebuild->leaderboard_id);
	if (!rc)
		rc = file_time_rebuild(db, rebuild->leaderboard_id, error);
	if (!rc)
		rc = ranked_job_put_best_of_leaderboard(db, rebuild->leaderboard_id, error);
	if (!rc)
		rc = order_rankings(db, arena, rebuild, error);
	if (!rc)
		rc = baseline_rebuild(db, rebuild->leaderboard_id, error);
	return rc ? rc : records_rebuild(db, rebuild->leaderboard_id, error);
}

int ranking_refresh_leaderboard(struct database *db, int64_t leaderboard_id, struct error *error)
{
	struct rebuild rebuild = { .leaderboard_id = leaderboard_id, .compares = true };
	return database_transaction(db, rebuild_leaderboard, &rebuild, error);
}

static const struct statement DUE = SELECT(struct id_row, ID_COLUMNS,
	"SELECT id FROM leaderboards FORCE INDEX (leaderboards_due) WHERE ranking_due = TRUE LIMIT 10");
static const struct statement TAKE_DUE =
	COMMAND("UPDATE leaderboards SET ranking_due = FALSE WHERE id = ?");

/* Rebuilds before it changes the leaderboard's row: every transaction locks the rankings first and
 * then the leaderboard, so that none waits for another in a circle. */
static int settle_body(struct database *db, void *context, struct error *error)
{
	const struct id_row *leaderboard = context;
	int rc = ranking_refresh_leaderboard(db, leaderboard->id, error);
	return rc ? rc : database_execute(db, &TAKE_DUE, error, "i", leaderboard->id);
}

int rankings_settle(struct database *db, struct error *error)
{
	cleanup_arena struct arena *arena = arena_new();
	struct id_row *leaderboards;
	size_t count;
	int rc = database_rows(db, arena, &DUE, &leaderboards, &count, error, "");
	for (size_t i = 0; i < count && !rc; i++) {
		rc = database_transaction(db, settle_body, &leaderboards[i], error);
		if (rc == ERROR_NOT_FOUND) /* deleted meanwhile */
			rc = 0;
	}
	return rc;
}

int ranking_rebuild(struct database *db, int64_t leaderboard_id, struct error *error)
{
	cleanup_arena struct arena *arena = arena_new();
	struct id_row *leaderboards;
	size_t count;
	int rc =
		database_rows(db, arena, &LEADERBOARDS, &leaderboards, &count, error, "i", leaderboard_id);
	for (size_t i = 0; i < count && !rc; i++) {
		struct rebuild rebuild = { .leaderboard_id = leaderboards[i].id };
		rc = database_transaction(db, rebuild_leaderboard, &rebuild, error);
		if (rc == ERROR_NOT_FOUND) /* deleted meanwhile */
			rc = 0;
	}
	return rc;
}
