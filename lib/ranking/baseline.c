#include "lib/ranking/baseline.h"

#include "lib/job/job.h"

#define IS_RANKED SQL_IS_RANKED("s", "j")
#define HAS_SCORE SQL_HAS_SCORE("s", "j")
#define HAS_OTHER_ENGINE SQL_HAS_OTHER_ENGINE("s", "j")
#define IS_FASTER "VALUES(score_ns) < baselines.score_ns"

/* Stores the best time of each file; of equal times, the earlier one. This time counts only while
 * the file has no ranked result: FOLLOW_FILES then replaces it. Jobs of dry runs count, but the row
 * does not name their submission, because most visitors may not see it. */
#define BASELINES_FROM(condition) \
	"INSERT INTO baselines (task_version_id, gpu, role, path, job_id, submission_id, score_ns, " \
	"score_err_ns, measured_at) " \
	"SELECT f.task_version_id, j.gpu, f.role, f.path, j.id, IF(s.dry_run, NULL, s.id), " \
	"j.score_ns, j.score_err_ns, COALESCE(j.finished_at, s.submitted_at) " \
	"FROM submissions s JOIN jobs j ON j.submission_id = s.id " \
	"JOIN task_files f ON f.task_version_id = s.task_version_id AND f.sha256 = s.file_sha256 " \
	"AND f.role IN ('template', 'sample', 'baseline') AND (f.role = 'baseline' " \
	"OR NOT EXISTS (SELECT 1 FROM task_files named WHERE named.task_version_id = " \
	"f.task_version_id AND named.role = 'baseline' AND named.sha256 = f.sha256)) " \
	"WHERE " condition " AND (" IS_RANKED " OR (s.dry_run AND " HAS_SCORE \
	" AND NOT " HAS_OTHER_ENGINE ")) " \
	"ORDER BY j.id " \
	"ON DUPLICATE KEY UPDATE " \
	"job_id = IF(" IS_FASTER ", VALUES(job_id), baselines.job_id), " \
	"submission_id = IF(" IS_FASTER ", VALUES(submission_id), baselines.submission_id), " \
	"score_err_ns = IF(" IS_FASTER ", VALUES(score_err_ns), baselines.score_err_ns), " \
	"measured_at = IF(" IS_FASTER ", VALUES(measured_at), baselines.measured_at), " \
	"score_ns = LEAST(VALUES(score_ns), baselines.score_ns)"
static const struct statement INSERT_JOB = COMMAND(BASELINES_FROM("j.id = ?"));
/* Inserts the best time of the file that this job ran. After DELETE_JOB, that is the next best job
 * of the file. */
static const struct statement INSERT_SAME_FILE = COMMAND(BASELINES_FROM(
	"(s.leaderboard_id, s.task_version_id, s.file_sha256, j.gpu) = (SELECT t.leaderboard_id, "
	"t.task_version_id, t.file_sha256, o.gpu "
	"FROM jobs o JOIN submissions t ON t.id = o.submission_id WHERE o.id = ?)"));
static const struct statement DELETE_JOB = COMMAND("DELETE FROM baselines WHERE job_id = ?");
static const struct statement DELETE_ALL =
	COMMAND("DELETE b FROM baselines b JOIN task_versions v ON v.id = b.task_version_id "
			"WHERE v.leaderboard_id = ? AND b.job_id IS NOT NULL");
static const struct statement DELETE_OF_USER =
	COMMAND("DELETE b FROM baselines b JOIN jobs j ON j.id = b.job_id WHERE b.task_version_id = ? "
			"AND b.gpu = ? AND j.user_id = ?");
static const struct statement INSERT_RANKING =
	COMMAND(BASELINES_FROM("s.leaderboard_id = ? AND s.task_version_id = ? AND j.gpu = ?"));
static const struct statement INSERT_ALL = COMMAND(BASELINES_FROM("s.leaderboard_id = ?"));

/* If a file has ranked results, its baseline has their common time (lib/ranking/file_time.h). */
#define FOLLOW_FILES(condition) \
	COMMAND("UPDATE baselines b JOIN task_files p ON p.task_version_id = b.task_version_id " \
			"AND p.role = b.role AND p.path = b.path JOIN file_times f " \
			"ON f.task_version_id = b.task_version_id AND f.gpu = b.gpu AND f.sha256 = p.sha256 " \
			"SET b.score_ns = f.score_ns, b.score_err_ns = f.score_err_ns WHERE " condition)
static const struct statement FOLLOW_RANKING = FOLLOW_FILES("b.task_version_id = ? AND b.gpu = ?");
static const struct statement FOLLOW_JOB =
	FOLLOW_FILES("(b.task_version_id, b.gpu) = (SELECT s.task_version_id, j.gpu FROM jobs j "
				 "JOIN submissions s ON s.id = j.submission_id WHERE j.id = ?)");
static const struct statement FOLLOW_LEADERBOARD = FOLLOW_FILES(
	"b.task_version_id IN (SELECT v.id FROM task_versions v WHERE v.leaderboard_id = ?)");

int baseline_take(struct database *db, int64_t job_id, struct error *error)
{
	int rc = database_execute(db, &DELETE_JOB, error, "i", job_id);
	if (!rc)
		rc = database_execute(
			db, database_affected(db) ? &INSERT_SAME_FILE : &INSERT_JOB, error, "i", job_id);
	return rc ? rc : database_execute(db, &FOLLOW_JOB, error, "i", job_id);
}

int baseline_refresh(
	struct database *db, const struct ranking_key *key, int64_t user_id, struct error *error)
{
	int rc = database_execute(
		db, &DELETE_OF_USER, error, "isi", key->task_version_id, key->gpu, user_id);
	if (!rc)
		rc = database_execute(
			db, &INSERT_RANKING, error, "iis", key->leaderboard_id, key->task_version_id, key->gpu);
	return rc ? rc
			  : database_execute(db, &FOLLOW_RANKING, error, "is", key->task_version_id, key->gpu);
}

int baseline_rebuild(struct database *db, int64_t leaderboard_id, struct error *error)
{
	int rc = database_execute(db, &DELETE_ALL, error, "i", leaderboard_id);
	if (!rc)
		rc = database_execute(db, &INSERT_ALL, error, "i", leaderboard_id);
	return rc ? rc : database_execute(db, &FOLLOW_LEADERBOARD, error, "i", leaderboard_id);
}
