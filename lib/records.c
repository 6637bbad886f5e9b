#include "lib/records.h"

#include "lib/job.h"

#define FIELDS "leaderboard_id, task_version_id, gpu, line, submission_id, job_id, user_id, score_ns, submitted_at"
/* Of the rows of a part of it, in the order in which they were submitted: the fastest of those before. */
#define FASTEST_BEFORE(score, part, order) \
	"MIN(" score ") OVER (PARTITION BY " part " ORDER BY " order " ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING) AS before_ns "
#define IS_FASTER "WHERE before_ns IS NULL OR score_ns < before_ns"

static const struct statement PUT = COMMAND(
	"INSERT INTO records (" FIELDS ") "
	"SELECT s.leaderboard_id, s.task_version_id, j.gpu, ?, s.id, j.id, s.user_id, j.score_ns, s.submitted_at "
	"FROM jobs j JOIN submissions s ON s.id = j.submission_id WHERE j.id = ? "
	"AND NOT EXISTS (SELECT 1 FROM records r WHERE r.leaderboard_id = s.leaderboard_id AND r.task_version_id = s.task_version_id "
	"  AND r.gpu = j.gpu AND r.line = ? AND r.submission_id < s.id AND r.score_ns <= j.score_ns)");
static const struct statement DROP_BEATEN = COMMAND(
	"DELETE FROM records WHERE leaderboard_id = ? AND task_version_id = ? AND gpu = ? AND line = ? "
	"AND submission_id > ? AND score_ns >= ?");
static const struct statement DROP_JOB = COMMAND("DELETE FROM records WHERE job_id = ?");
static const struct statement DROP_LINE = COMMAND(
	"DELETE FROM records WHERE leaderboard_id = ? AND task_version_id = ? AND gpu = ? AND line = ?");
static const struct statement CLEAR = COMMAND("DELETE FROM records WHERE leaderboard_id = ?");

/* Users' lines from their jobs, and everybody's from those. */
#define FILL_USERS(which) COMMAND( \
	"INSERT INTO records (" FIELDS ") " \
	"SELECT leaderboard_id, task_version_id, gpu, user_id, submission_id, job_id, user_id, score_ns, submitted_at " \
	"FROM (SELECT s.leaderboard_id, s.task_version_id, j.gpu, s.user_id, s.id AS submission_id, j.id AS job_id, j.score_ns, s.submitted_at, " \
	FASTEST_BEFORE("j.score_ns", "s.task_version_id, j.gpu, s.user_id", "s.id") \
	"  FROM submissions s JOIN jobs j ON j.submission_id = s.id WHERE s.leaderboard_id = ? " which "AND " SQL_IS_RANKED("s", "j") ") ranked " \
	IS_FASTER)
#define FILL_EVERYBODY(which) COMMAND( \
	"INSERT INTO records (" FIELDS ") " \
	"SELECT leaderboard_id, task_version_id, gpu, 0, submission_id, job_id, user_id, score_ns, submitted_at " \
	"FROM (SELECT leaderboard_id, task_version_id, gpu, submission_id, job_id, user_id, score_ns, submitted_at, " \
	FASTEST_BEFORE("score_ns", "task_version_id, gpu", "submission_id") \
	"  FROM records WHERE leaderboard_id = ? " which "AND line <> 0) best " IS_FASTER)
static const struct statement FILL_ALL_USERS = FILL_USERS("");
static const struct statement FILL_USER = FILL_USERS("AND s.task_version_id = ? AND j.gpu = ? AND s.user_id = ? ");
static const struct statement FILL_EVERY_RANKING = FILL_EVERYBODY("");
static const struct statement FILL_RANKING = FILL_EVERYBODY("AND task_version_id = ? AND gpu = ? ");

static int put(struct database *db, const struct record *record, int64_t line, struct error *error)
{
	const struct ranking_key *key = record->key;
	int rc = database_execute(db, &PUT, error, "iii", line, record->job_id, line);
	if (rc || !database_affected(db))
		return rc;
	/* One that was submitted earlier and ended later may have beaten what came behind it. */
	return database_execute(db, &DROP_BEATEN, error, "iisiid", key->leaderboard_id, key->task_version_id, key->gpu, line,
		record->submission_id, record->score_ns);
}

static int drop_line(struct database *db, const struct ranking_key *key, int64_t line, struct error *error)
{
	return database_execute(db, &DROP_LINE, error, "iisi", key->leaderboard_id, key->task_version_id, key->gpu, line);
}

int records_renew(struct database *db, const struct ranking_key *key, int64_t user_id, struct error *error)
{
	int rc = drop_line(db, key, user_id, error);
	if (!rc)
		rc = database_execute(db, &FILL_USER, error, "iisi", key->leaderboard_id, key->task_version_id, key->gpu, user_id);
	if (!rc)
		rc = drop_line(db, key, records_everybody, error);
	return rc ? rc : database_execute(db, &FILL_RANKING, error, "iis", key->leaderboard_id, key->task_version_id, key->gpu);
}

int records_insert(struct database *db, const struct record *record, struct error *error)
{
	int rc = database_execute(db, &DROP_JOB, error, "i", record->job_id);
	if (rc || database_affected(db))
		return rc ? rc : records_renew(db, record->key, record->user_id, error); /* what its former time had beaten may be back */
	rc = put(db, record, record->user_id, error);
	return rc ? rc : put(db, record, records_everybody, error);
}

int records_rebuild(struct database *db, int64_t leaderboard_id, struct error *error)
{
	static const struct statement *const steps[] = { &CLEAR, &FILL_ALL_USERS, &FILL_EVERY_RANKING };
	int rc = 0;
	for (size_t i = 0; i < sizeof steps / sizeof *steps && !rc; i++)
		rc = database_execute(db, steps[i], error, "i", leaderboard_id);
	return rc;
}
