#include "lib/ranking/file_time.h"

#include "lib/job/job.h"

#define RESULTS "submissions s JOIN jobs j ON j.submission_id = s.id WHERE "
#define COUNTS SQL_HAS_SCORE("s", "j") " AND " SQL_IS_MEASURED("s", "j")
/* The results of the file that a job ran, on the job's device. The parameter is the job's ID. */
#define RESULTS_OF_SAME_FILE \
	"jobs q JOIN submissions o ON o.id = q.submission_id " \
	"STRAIGHT_JOIN submissions s ON s.file_sha256 = o.file_sha256 " \
	"AND s.task_version_id = o.task_version_id " \
	"STRAIGHT_JOIN jobs j ON j.submission_id = s.id AND j.gpu = q.gpu WHERE q.id = ?"
#define ERROR_OF_RESULTS "SQRT(SUM(j.score_err_ns * j.score_err_ns)) / COUNT(*)"
#define ERROR_BETWEEN_RESULTS "STDDEV_SAMP(j.score_ns) / SQRT(COUNT(*))"
/* Rounds the mean, because the last digits of a sum depend on the order of its parts. A single
 * result stays as it is; it was charged for its noise already. */
#define MEAN_NS "IF(COUNT(*) = 1, MIN(j.score_ns), ROUND(AVG(j.score_ns), 3)) AS mean_ns"
#define ERR_NS \
	"CASE WHEN COUNT(j.score_err_ns) < COUNT(*) THEN NULL WHEN COUNT(*) = 1 " \
	"THEN MIN(j.score_err_ns) " \
	"ELSE ROUND(GREATEST(" ERROR_OF_RESULTS ", " ERROR_BETWEEN_RESULTS "), 3) END AS err_ns"
#define MEASURED(results) \
	"(SELECT s.task_version_id, j.gpu, s.file_sha256 AS sha256, COUNT(*) AS results, " MEAN_NS \
	", " ERR_NS " FROM " results " AND " COUNTS \
	" GROUP BY s.task_version_id, j.gpu, s.file_sha256)"
#define HALF_NS "1.96 * err_ns"
#define MOST_HALF_NS "(400 + 0.01 * mean_ns)"
#define IF_NOISY(yes, no) \
	"IF(results > 1 AND gpu <> 'CPU' AND " HALF_NS " > " MOST_HALF_NS ", " yes ", " no ")"
#define TIMES \
	"results, mean_ns + " IF_NOISY(HALF_NS, "0") ", " IF_NOISY(MOST_HALF_NS " / 1.96", "err_ns")
#define FIELDS "task_version_id, gpu, sha256, results, score_ns, score_err_ns"
#define PUT \
	"INSERT INTO file_times (" FIELDS ") SELECT task_version_id, gpu, sha256, " TIMES " FROM "
#define REPLACE \
	" measured ON DUPLICATE KEY UPDATE results = VALUES(results), score_ns = VALUES(score_ns), " \
	"score_err_ns = VALUES(score_err_ns)"
#define PUT_TIMES(results) COMMAND(PUT MEASURED(results) REPLACE)
static const struct statement PUT_FILE = PUT_TIMES(RESULTS_OF_SAME_FILE);
static const struct statement PUT_LEADERBOARD = PUT_TIMES(RESULTS "s.leaderboard_id = ?");
static const struct statement PUT_RANKING =
	PUT_TIMES(RESULTS "s.leaderboard_id = ? AND s.task_version_id = ? AND j.gpu = ?");
static const struct statement DROP_FILE =
	COMMAND("DELETE f FROM file_times f JOIN jobs q ON q.id = ? "
			"JOIN submissions o ON o.id = q.submission_id "
			"WHERE f.task_version_id = o.task_version_id AND f.gpu = q.gpu "
			"AND f.sha256 = o.file_sha256");
/* The forced index keeps the statement from reading all results for each file. */
#define RESULTS_BY_FILE \
	"submissions s FORCE INDEX (submissions_file) STRAIGHT_JOIN jobs j ON j.submission_id = s.id " \
	"WHERE "
#define OF_FILE \
	"s.task_version_id = f.task_version_id AND j.gpu = f.gpu AND s.file_sha256 = f.sha256 AND "
#define DROP_UNUSED(which) \
	COMMAND("DELETE f FROM file_times f JOIN task_versions v ON v.id = f.task_version_id " \
			"WHERE v.leaderboard_id = ? " which \
			"AND NOT EXISTS (SELECT 1 FROM " RESULTS_BY_FILE OF_FILE COUNTS ")")
static const struct statement DROP_UNUSED_OF_LEADERBOARD = DROP_UNUSED("");
static const struct statement DROP_UNUSED_OF_RANKING =
	DROP_UNUSED("AND f.task_version_id = ? AND f.gpu = ? ");

int file_time_refresh(struct database *db, int64_t job_id, struct error *error)
{
	int rc = database_execute(db, &PUT_FILE, error, "i", job_id);
	return rc || database_affected(db) ? rc : database_execute(db, &DROP_FILE, error, "i", job_id);
}

int file_time_refresh_ranking(
	struct database *db, const struct ranking_key *key, struct error *error)
{
	int rc = database_execute(db, &DROP_UNUSED_OF_RANKING, error, "iis", key->leaderboard_id,
		key->task_version_id, key->gpu);
	return rc ? rc
			  : database_execute(db, &PUT_RANKING, error, "iis", key->leaderboard_id,
				  key->task_version_id, key->gpu);
}

int file_time_rebuild(struct database *db, int64_t leaderboard_id, struct error *error)
{
	int rc = database_execute(db, &DROP_UNUSED_OF_LEADERBOARD, error, "i", leaderboard_id);
	return rc ? rc : database_execute(db, &PUT_LEADERBOARD, error, "i", leaderboard_id);
}
