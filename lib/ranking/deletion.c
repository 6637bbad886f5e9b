/* Updates the rankings of a user whose submissions are deleted. */
#include "lib/ranking/ranking.h"

#include "lib/base/scope.h"
#include "lib/ranking/baseline.h"
#include "lib/ranking/file_time.h"
#include "lib/ranking/ranked_job.h"
#include "lib/ranking/records.h"
#include "lib/ranking/standing.h"

static const struct column KEY_COLUMNS[] = {
	INTEGER(struct ranking_key, leaderboard_id),
	INTEGER(struct ranking_key, task_version_id),
	TEXT(struct ranking_key, gpu),
};
/* Finds the rankings with a passed job of the user: the first such job is always in `records`. The
 * fixed order keeps two deletions from deadlocking. */
static const struct statement KEYS = SELECT(struct ranking_key, KEY_COLUMNS,
	"SELECT DISTINCT leaderboard_id, task_version_id, gpu FROM records WHERE user_id = ? "
	"ORDER BY leaderboard_id, task_version_id, gpu");

int ranking_lock_of_user(struct database *db, struct arena *arena, int64_t user_id,
	struct ranking_key **keys, size_t *count, struct error *error)
{
	int rc = database_rows(db, arena, &KEYS, keys, count, error, "i", user_id);
	for (size_t i = 0; i < *count && !rc; i++)
		rc = ranked_job_lock(db, arena, &(*keys)[i], error);
	return rc;
}

int ranking_after_deletion(
	struct database *db, const struct ranking_key *key, int64_t user_id, struct error *error)
{
	cleanup_arena struct arena *arena = arena_new();
	struct standing standing;
	int rc = file_time_refresh_ranking(db, key, error);
	if (!rc)
		rc = ranked_job_put_best_of_ranking(db, key, error);
	if (!rc)
		rc = standing_update(db, arena, key, &standing, error);
	if (!rc)
		rc = records_refresh_ranking(db, key, error);
	return rc ? rc : baseline_refresh(db, key, user_id, error);
}
