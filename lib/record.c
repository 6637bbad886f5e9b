#include "lib/record.h"

#include "lib/job.h"

/* Bound three times: the leaderboard; then a version and a GPU, or NULL for all of them. */
#define OF_RANKING(row, gpu) row ".leaderboard_id = ? AND " row ".task_version_id = COALESCE(?, " row ".task_version_id) " \
	"AND " gpu " = COALESCE(?, " gpu ")"

struct later_row { int64_t later; };
static const struct column LATER_COLUMNS[] = { INTEGER(struct later_row, later) };
static const struct statement IS_LATER = SELECT(struct later_row, LATER_COLUMNS,
	"SELECT EXISTS (SELECT 1 FROM records r JOIN jobs j ON j.id = ? WHERE r.leaderboard_id = ? AND r.task_version_id = ? AND r.gpu = ? "
	"AND (r.job_id = j.id OR r.made_at > j.finished_at)) AS later");
static const struct statement TAKE = COMMAND(
	"INSERT INTO records (leaderboard_id, task_version_id, gpu, job_id, user_id, submission_id, score_ns, before_ns, made_at) "
	"SELECT s.leaderboard_id, s.task_version_id, j.gpu, j.id, s.user_id, s.id, j.score_ns, best.score_ns, "
	"  COALESCE(j.finished_at, s.submitted_at) "
	"FROM jobs j JOIN submissions s ON s.id = j.submission_id "
	"JOIN (SELECT MIN(score_ns) AS score_ns FROM records WHERE leaderboard_id = ? AND task_version_id = ? AND gpu = ?) best "
	"WHERE j.id = ? AND " SQL_IS_RANKED("s", "j") " AND (best.score_ns IS NULL OR j.score_ns < best.score_ns)");
static const struct statement FORGET = COMMAND("DELETE FROM records WHERE " OF_RANKING("records", "records.gpu"));
static const struct statement FIND = COMMAND(
	"INSERT INTO records (leaderboard_id, task_version_id, gpu, job_id, user_id, submission_id, score_ns, before_ns, made_at) "
	"SELECT leaderboard_id, task_version_id, gpu, job_id, user_id, submission_id, score_ns, before_ns, made_at "
	"FROM (SELECT s.leaderboard_id, s.task_version_id, j.gpu, j.id AS job_id, s.user_id, s.id AS submission_id, j.score_ns, "
	"    MIN(j.score_ns) OVER (PARTITION BY s.task_version_id, j.gpu ORDER BY j.finished_at, j.id "
	"      ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING) AS before_ns, COALESCE(j.finished_at, s.submitted_at) AS made_at "
	"  FROM submissions s JOIN jobs j ON j.submission_id = s.id "
	"  WHERE " OF_RANKING("s", "j.gpu") " AND " SQL_IS_RANKED("s", "j") ") run "
	"WHERE before_ns IS NULL OR score_ns < before_ns");

/* The best of each file; equal ones keep the earlier. */
#define BASELINES_FROM(condition) \
	"INSERT INTO baselines (task_version_id, gpu, role, path, job_id, submission_id, score_ns, score_err_ns, measured_at) " \
	"SELECT f.task_version_id, j.gpu, f.role, f.path, j.id, s.id, j.score_ns, j.score_err_ns, COALESCE(j.finished_at, s.submitted_at) " \
	"FROM submissions s JOIN jobs j ON j.submission_id = s.id " \
	"JOIN task_files f ON f.task_version_id = s.task_version_id AND f.sha256 = s.sha256 AND f.role IN ('template', 'sample') " \
	"WHERE " condition " AND " SQL_IS_RANKED("s", "j") " ORDER BY j.id " \
	"ON DUPLICATE KEY UPDATE job_id = IF(VALUES(score_ns) < baselines.score_ns, VALUES(job_id), baselines.job_id), " \
	"  submission_id = IF(VALUES(score_ns) < baselines.score_ns, VALUES(submission_id), baselines.submission_id), " \
	"  score_err_ns = IF(VALUES(score_ns) < baselines.score_ns, VALUES(score_err_ns), baselines.score_err_ns), " \
	"  measured_at = IF(VALUES(score_ns) < baselines.score_ns, VALUES(measured_at), baselines.measured_at), " \
	"  score_ns = LEAST(VALUES(score_ns), baselines.score_ns)"
static const struct statement TAKE_BASELINE = COMMAND(BASELINES_FROM("j.id = ?"));
static const struct statement FORGET_BASELINE = COMMAND("DELETE FROM baselines WHERE job_id = ?");
static const struct statement FORGET_BASELINES = COMMAND(
	"DELETE b FROM baselines b JOIN task_versions v ON v.id = b.task_version_id WHERE v.leaderboard_id = ? AND b.job_id IS NOT NULL");
static const struct statement FIND_BASELINES = COMMAND(BASELINES_FROM("s.leaderboard_id = ?"));

static int find_anew(struct database *db, int64_t leaderboard_id, int64_t task_version_id, const char *gpu, struct error *error)
{
	int rc = database_execute(db, &FORGET, error, "iis", leaderboard_id, task_version_id, gpu);
	return rc ? rc : database_execute(db, &FIND, error, "iis", leaderboard_id, task_version_id, gpu);
}

static int take_record(struct database *db, const struct ranking_key *key, int64_t job_id, struct error *error)
{
	return database_execute(db, &TAKE, error, "iisi", key->leaderboard_id, key->task_version_id, key->gpu, job_id);
}

int record_take(struct database *db, struct arena *arena, const struct ranking_key *key, int64_t job_id, struct error *error)
{
	struct later_row row;
	int rc = database_row(db, arena, &IS_LATER, &row, error, "iiis", job_id, key->leaderboard_id, key->task_version_id, key->gpu);
	if (!rc)
		rc = row.later ? find_anew(db, key->leaderboard_id, key->task_version_id, key->gpu, error)
			: take_record(db, key, job_id, error);
	if (!rc)
		rc = database_execute(db, &FORGET_BASELINE, error, "i", job_id);
	return rc ? rc : database_execute(db, &TAKE_BASELINE, error, "i", job_id);
}

int record_rebuild(struct database *db, int64_t leaderboard_id, struct error *error)
{
	int rc = find_anew(db, leaderboard_id, SQL_NULL_INTEGER, NULL, error);
	if (!rc)
		rc = database_execute(db, &FORGET_BASELINES, error, "i", leaderboard_id);
	return rc ? rc : database_execute(db, &FIND_BASELINES, error, "i", leaderboard_id);
}
