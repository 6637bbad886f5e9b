#include "lib/baseline.h"

#include "lib/job.h"

/* The best of each file, also by a dry run, whose submission is nobody's to see; equal ones keep
 * the earlier. */
#define BASELINES_FROM(condition) \
	"INSERT INTO baselines (task_version_id, gpu, role, path, job_id, submission_id, score_ns, " \
	"score_err_ns, measured_at) " \
	"SELECT f.task_version_id, j.gpu, f.role, f.path, j.id, IF(s.dry_run, NULL, s.id), " \
	"j.score_ns, j.score_err_ns, COALESCE(j.finished_at, s.submitted_at) " \
	"FROM submissions s JOIN jobs j ON j.submission_id = s.id " \
	"JOIN task_files f ON f.task_version_id = s.task_version_id AND f.sha256 = s.sha256 AND " \
	"f.role IN ('template', 'sample') " \
	"WHERE " condition " AND (" SQL_IS_RANKED("s", "j") " OR (s.dry_run AND " SQL_HAS_SCORE( \
		"s", "j") ")) ORDER BY j.id " \
				  "ON DUPLICATE KEY UPDATE job_id = IF(VALUES(score_ns) < baselines.score_ns, " \
	              "VALUES(job_id), baselines.job_id), " \
				  "  submission_id = IF(VALUES(score_ns) < baselines.score_ns, " \
	              "VALUES(submission_id), baselines.submission_id), " \
				  "  score_err_ns = IF(VALUES(score_ns) < baselines.score_ns, " \
	              "VALUES(score_err_ns), baselines.score_err_ns), " \
				  "  measured_at = IF(VALUES(score_ns) < baselines.score_ns, " \
	              "VALUES(measured_at), baselines.measured_at), " \
				  "  score_ns = LEAST(VALUES(score_ns), baselines.score_ns)"
static const struct statement TAKE = COMMAND(BASELINES_FROM("j.id = ?"));
/* Where it was the best of its file, the next best follows. */
static const struct statement TAKE_SAME = COMMAND(
	BASELINES_FROM("(s.leaderboard_id, s.task_version_id, s.sha256, j.gpu) = (SELECT "
                   "t.leaderboard_id, t.task_version_id, t.sha256, o.gpu "
				   "FROM jobs o JOIN submissions t ON t.id = o.submission_id WHERE o.id = ?)"));
static const struct statement FORGET = COMMAND("DELETE FROM baselines WHERE job_id = ?");
static const struct statement FORGET_ALL =
	COMMAND("DELETE b FROM baselines b JOIN task_versions v ON v.id = b.task_version_id WHERE "
            "v.leaderboard_id = ? AND b.job_id IS NOT NULL");
static const struct statement FORGET_USER =
	COMMAND("DELETE b FROM baselines b JOIN jobs j ON j.id = b.job_id WHERE b.task_version_id = ? "
            "AND b.gpu = ? AND j.user_id = ?");
static const struct statement FIND_RANKING =
	COMMAND(BASELINES_FROM("s.leaderboard_id = ? AND s.task_version_id = ? AND j.gpu = ?"));
static const struct statement FIND_ALL = COMMAND(BASELINES_FROM("s.leaderboard_id = ?"));

int baseline_take(struct database *db, int64_t job_id, struct error *error)
{
	int rc = database_execute(db, &FORGET, error, "i", job_id);
	if (rc)
		return rc;
	return database_execute(db, database_affected(db) ? &TAKE_SAME : &TAKE, error, "i", job_id);
}

int baseline_renew(
	struct database *db, const struct ranking_key *key, int64_t user_id, struct error *error)
{
	int rc =
		database_execute(db, &FORGET_USER, error, "isi", key->task_version_id, key->gpu, user_id);
	return rc ? rc
			  : database_execute(db, &FIND_RANKING, error, "iis", key->leaderboard_id,
				  key->task_version_id, key->gpu);
}

int baseline_rebuild(struct database *db, int64_t leaderboard_id, struct error *error)
{
	int rc = database_execute(db, &FORGET_ALL, error, "i", leaderboard_id);
	return rc ? rc : database_execute(db, &FIND_ALL, error, "i", leaderboard_id);
}
