/* Rankings made anew from jobs and comparisons. */
#include "lib/ranking.h"

#include "lib/baseline.h"
#include "lib/comparison.h"
#include "lib/ranked_job.h"
#include "lib/records.h"
#include "lib/standing.h"

#include <string.h>

struct id_row { int64_t id; };
static const struct column ID_COLUMNS[] = { INTEGER(struct id_row, id) };
static const struct statement LOCK_GPUS = SELECT(struct id_row, ID_COLUMNS,
	"SELECT leaderboard_id AS id FROM leaderboard_gpus WHERE leaderboard_id = ? FOR UPDATE");
static const struct statement LOCK_LEADERBOARD = SELECT(struct id_row, ID_COLUMNS,
	"SELECT id FROM leaderboards WHERE id = ? FOR UPDATE");
static const struct statement LEADERBOARDS = SELECT(struct id_row, ID_COLUMNS,
	"SELECT id FROM leaderboards WHERE ? IN (0, id) ORDER BY id");
static const struct statement CLEAR = COMMAND("DELETE FROM ranking WHERE leaderboard_id = ?");

static bool same_ranking(const struct ranked_job *a, const struct ranked_job *b)
{
	return a->task_version_id == b->task_version_id && strcmp(a->gpu, b->gpu) == 0;
}

/* A leaderboard whose rankings are made anew, and whether comparisons follow from it. */
struct rebuild { int64_t leaderboard_id; bool compares; };

static int ask_for_comparisons(struct database *db, struct arena *arena, const struct ranking_key *key, const struct standing *standing,
	struct error *error)
{
	int rc = comparison_withdraw(db, arena, key, error);
	for (size_t i = 0; i < standing->count && i < ranking_compared_positions && !rc; i++)
		rc = standing_compare(db, key, standing, standing->entries[i].user_id, error);
	return rc;
}

static int insert_all(struct database *db, struct arena *arena, const struct rebuild *rebuild, const struct ranked_job *jobs,
	size_t count, struct error *error)
{
	int rc = 0;
	for (size_t i = 0; i < count && !rc; i++) {
		rc = ranked_job_put(db, &jobs[i], error);
		bool last_of_ranking = i + 1 == count || !same_ranking(&jobs[i], &jobs[i + 1]);
		struct ranking_key key = ranked_job_key(&jobs[i]);
		struct standing standing;
		if (!rc && last_of_ranking)
			rc = standing_update(db, arena, &key, &standing, error);
		if (!rc && last_of_ranking && rebuild->compares)
			rc = ask_for_comparisons(db, arena, &key, &standing, error);
	}
	return rc;
}

static int rebuild_leaderboard(struct database *db, void *context, struct error *error)
{
	const struct rebuild *rebuild = context;
	cleanup_arena struct arena *arena = arena_new();
	struct id_row *locked, row;
	struct ranked_job *jobs;
	size_t count;
	int rc = database_rows(db, arena, &LOCK_GPUS, &locked, &count, error, "i", rebuild->leaderboard_id);
	if (!rc)
		rc = database_row(db, arena, &LOCK_LEADERBOARD, &row, error, "i", rebuild->leaderboard_id);
	if (!rc)
		rc = ranked_job_best_of_all(db, arena, rebuild->leaderboard_id, &jobs, &count, error);
	if (!rc)
		rc = database_execute(db, &CLEAR, error, "i", rebuild->leaderboard_id);
	if (!rc)
		rc = insert_all(db, arena, rebuild, jobs, count, error);
	if (!rc)
		rc = baseline_rebuild(db, rebuild->leaderboard_id, error);
	return rc ? rc : records_rebuild(db, rebuild->leaderboard_id, error);
}

int ranking_renew(struct database *db, int64_t leaderboard_id, struct error *error)
{
	struct rebuild rebuild = { leaderboard_id, true };
	return database_transaction(db, rebuild_leaderboard, &rebuild, error);
}

int ranking_rebuild(struct database *db, int64_t leaderboard_id, struct error *error)
{
	cleanup_arena struct arena *arena = arena_new();
	struct id_row *leaderboards;
	size_t count;
	int rc = database_rows(db, arena, &LEADERBOARDS, &leaderboards, &count, error, "i", leaderboard_id);
	for (size_t i = 0; i < count && !rc; i++) {
		struct rebuild rebuild = { leaderboards[i].id, false };
		rc = database_transaction(db, rebuild_leaderboard, &rebuild, error);
		if (rc == ERROR_NOT_FOUND) /* deleted meanwhile */
			rc = 0;
	}
	return rc;
}
