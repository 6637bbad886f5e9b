#include "lib/ranking/ranked_job.h"

#include "lib/job/job.h"
#include "lib/ranking/file_time.h"

struct id_row {
	int64_t id;
};
static const struct column ID_COLUMNS[] = { INTEGER(struct id_row, id) };
static const struct column RANKED_JOB_COLUMNS[] = {
	INTEGER(struct ranked_job, leaderboard_id),
	INTEGER(struct ranked_job, task_version_id),
	TEXT(struct ranked_job, gpu),
	INTEGER(struct ranked_job, user_id),
	INTEGER(struct ranked_job, submission_id),
	INTEGER(struct ranked_job, job_id),
	REAL(struct ranked_job, score_ns),
	REAL(struct ranked_job, score_err_ns),
	TIME(struct ranked_job, submitted_at_ms),
	TEXT(struct ranked_job, engine),
	TEXT(struct ranked_job, dialect),
	INTEGER(struct ranked_job, results),
};

#define RANKED_JOB_FIELDS \
	"s.leaderboard_id, s.task_version_id, j.gpu, s.user_id, s.id AS submission_id, " \
	"j.id AS job_id, f.score_ns, f.score_err_ns, s.submitted_at AS submitted_at_ms, " \
	"j.engine, s.dialect"
#define IS_RANKED SQL_IS_RANKED("s", "j")
#define RANKING_FIELDS \
	"leaderboard_id, task_version_id, gpu, user_id, submission_id, job_id, " \
	"score_ns, score_err_ns, submitted_at, engine, dialect, attempts, position, place, file_id"

static const struct statement JOB = SELECT(struct ranked_job, RANKED_JOB_COLUMNS,
	"SELECT " RANKED_JOB_FIELDS ", COALESCE(f.results, 0) AS results "
	"FROM jobs j JOIN submissions s ON s.id = j.submission_id LEFT " SQL_JOIN_FILE_TIME(
		"s", "j") "WHERE j.id = ?");
static const struct statement HAS_SCORE = SELECT(struct id_row, ID_COLUMNS,
	"SELECT j.id FROM jobs j JOIN submissions s ON s.id = j.submission_id WHERE j.id = ? "
	"AND " SQL_HAS_SCORE("s", "j"));
static const struct statement COUNTS = SELECT(struct id_row, ID_COLUMNS,
	"SELECT j.id FROM jobs j JOIN submissions s ON s.id = j.submission_id WHERE j.id = ? "
	"AND " IS_RANKED);
/* Locks a ranking by a write. The nodes of a cluster see each other's writes, but not each other's
 * locks. */
static const struct statement TAKE_TURN =
	COMMAND("UPDATE leaderboard_gpus SET turn = turn + 1 WHERE leaderboard_id = ? AND gpu = ?");
static const struct statement LOCK_LEADERBOARD =
	SELECT(struct id_row, ID_COLUMNS, "SELECT id FROM leaderboards WHERE id = ? FOR UPDATE");

static const struct column CURRENT_COLUMNS[] = {
	INTEGER(struct ranked_job, submission_id),
	INTEGER(struct ranked_job, job_id),
	REAL(struct ranked_job, score_ns),
	INTEGER(struct ranked_job, place),
	INTEGER(struct ranked_job, is_tied),
};
static const struct statement CURRENT = SELECT(struct ranked_job, CURRENT_COLUMNS,
	"SELECT submission_id, job_id, score_ns, place, tied AS is_tied FROM ranking "
	"WHERE leaderboard_id = ? AND task_version_id = ? AND gpu = ? AND user_id = ?");

/* Position and place keep their values (0 for a new entry) until the new order is computed. If a
 * user submitted one file several times, the first submission is the entry. */
#define BEST_OF(jobs) \
	"(SELECT " RANKED_JOB_FIELDS ", f.id AS file_id, " \
	"  COUNT(*) OVER (PARTITION BY s.task_version_id, j.gpu, s.user_id) AS attempts, " \
	"  ROW_NUMBER() OVER (PARTITION BY s.task_version_id, j.gpu, s.user_id " \
	"  ORDER BY f.score_ns, s.id) AS number FROM " jobs " AND " IS_RANKED ")"
#define PUT \
	"INSERT INTO ranking (" RANKING_FIELDS ") SELECT leaderboard_id, task_version_id, gpu, " \
	"user_id, submission_id, job_id, score_ns, score_err_ns, submitted_at_ms, engine, dialect, " \
	"attempts, 0, 0, file_id FROM "
#define REPLACE \
	" numbered WHERE number = 1 ON DUPLICATE KEY UPDATE submission_id = VALUES(submission_id), " \
	"job_id = VALUES(job_id), score_ns = VALUES(score_ns), score_err_ns = VALUES(score_err_ns), " \
	"submitted_at = VALUES(submitted_at), engine = VALUES(engine), dialect = VALUES(dialect), " \
	"attempts = VALUES(attempts), file_id = VALUES(file_id)"
#define PUT_BEST(jobs) COMMAND(PUT BEST_OF(jobs) REPLACE)
static const struct statement PUT_BEST_OF_LEADERBOARD =
	PUT_BEST(SQL_JOBS_WITH_FILE_TIMES "s.leaderboard_id = ?");
static const struct statement PUT_BEST_OF_RANKING = PUT_BEST(
	SQL_JOBS_WITH_FILE_TIMES "s.leaderboard_id = ? AND s.task_version_id = ? AND j.gpu = ?");
/* All users who sent the file: when its time changes, another job may become a user's best. */
static const struct statement PUT_BEST_OF_USERS = PUT_BEST(SQL_JOBS_OF_USERS_OF_FILE);
static const struct statement DROP_UNFOUNDED =
	COMMAND("DELETE r FROM ranking r WHERE r.leaderboard_id = ? AND r.task_version_id = ? "
			"AND r.gpu = ? AND r.user_id = ? AND NOT EXISTS (SELECT 1 FROM submissions s "
			"  JOIN jobs j ON j.submission_id = s.id WHERE s.user_id = r.user_id "
			"  AND s.leaderboard_id = r.leaderboard_id AND s.task_version_id = r.task_version_id "
			"  AND j.gpu = r.gpu AND " IS_RANKED ")");

struct ranking_key ranked_job_key(const struct ranked_job *job)
{
	return (struct ranking_key){ job->leaderboard_id, job->task_version_id, job->gpu };
}

/* If the leaderboard no longer uses this GPU, TAKE_TURN finds no row. The leaderboard's own row is
 * then locked instead. */
int ranked_job_lock(
	struct database *db, struct arena *arena, const struct ranking_key *key, struct error *error)
{
	struct id_row row;
	int rc = database_execute(db, &TAKE_TURN, error, "is", key->leaderboard_id, key->gpu);
	return rc || database_affected(db)
		? rc
		: database_row(db, arena, &LOCK_LEADERBOARD, &row, error, "i", key->leaderboard_id);
}

int ranked_job_find(struct database *db, struct arena *arena, int64_t job_id,
	struct ranked_job *job, struct error *error)
{
	return database_row(db, arena, &JOB, job, error, "i", job_id);
}

static int finds_row(struct database *db, struct arena *arena, const struct statement *question,
	int64_t job_id, bool *answer, struct error *error)
{
	struct id_row row;
	int rc = database_row(db, arena, question, &row, error, "i", job_id);
	*answer = rc == 0;
	return rc == ERROR_NOT_FOUND ? 0 : rc;
}

int ranked_job_has_score(
	struct database *db, struct arena *arena, int64_t job_id, bool *answer, struct error *error)
{
	return finds_row(db, arena, &HAS_SCORE, job_id, answer, error);
}

int ranked_job_counts(
	struct database *db, struct arena *arena, int64_t job_id, bool *answer, struct error *error)
{
	return finds_row(db, arena, &COUNTS, job_id, answer, error);
}

int ranked_job_current(struct database *db, struct arena *arena, const struct ranked_job *job,
	struct ranked_job *current, struct error *error)
{
	return database_row(db, arena, &CURRENT, current, error, "iisi", job->leaderboard_id,
		job->task_version_id, job->gpu, job->user_id);
}

int ranked_job_put_best(struct database *db, const struct ranked_job *job, struct error *error)
{
	int rc = database_execute(db, &DROP_UNFOUNDED, error, "iisi", job->leaderboard_id,
		job->task_version_id, job->gpu, job->user_id);
	return rc ? rc
			  : database_execute(db, &PUT_BEST_OF_USERS, error, "is", job->submission_id, job->gpu);
}

int ranked_job_put_best_of_ranking(
	struct database *db, const struct ranking_key *key, struct error *error)
{
	return database_execute(db, &PUT_BEST_OF_RANKING, error, "iis", key->leaderboard_id,
		key->task_version_id, key->gpu);
}

int ranked_job_put_best_of_leaderboard(
	struct database *db, int64_t leaderboard_id, struct error *error)
{
	return database_execute(db, &PUT_BEST_OF_LEADERBOARD, error, "i", leaderboard_id);
}
