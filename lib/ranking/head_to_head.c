#include "lib/ranking/head_to_head.h"

#include "lib/database/job_count.h"
#include "lib/leaderboard/visibility.h"

/* A higher number is a lower priority (jobs.priority). Submissions have 0. */
enum { priority = 1 };

static const struct column COMPARISON_COLUMNS[] = {
	INTEGER(struct ranking_head_to_head, id),
	INTEGER(struct ranking_head_to_head, challenger_file_id),
	INTEGER(struct ranking_head_to_head, incumbent_file_id),
	REAL(struct ranking_head_to_head, ratio_low),
	REAL(struct ranking_head_to_head, ratio_high),
	INTEGER(struct ranking_head_to_head, is_failure),
};
#define IS_WITHHELD SQL_IS_WITHHELD("l", "j")
/* The side that failed counts as a billion times slower. */
#define RATIO_BOUND(column) \
	"COALESCE(c." column ", IF(c.loser = 'challenger', 1e9, 1e-9)) AS " column
#define LOW_BOUND RATIO_BOUND("ratio_low")
#define HIGH_BOUND RATIO_BOUND("ratio_high")
/* Joins the time of the file on one side of the comparison. STRAIGHT_JOIN makes the server begin
 * with the comparisons. With outdated statistics it would otherwise first join all files with all
 * files. */
#define JOIN_SIDE(join, time, submission, side) \
	"STRAIGHT_JOIN submissions " submission " ON " submission ".id = c." side " " join \
	" file_times " time " ON " time ".task_version_id = c.task_version_id " \
	"AND " time ".gpu = c.gpu AND " time ".sha256 = " submission ".file_sha256 "
#define SIDES(join) \
	JOIN_SIDE(join, "fa", "sa", "challenger_id") JOIN_SIDE(join, "fb", "sb", "incumbent_id")
#define JOIN_SIDES SIDES("STRAIGHT_JOIN")
#define LEFT_JOIN_SIDES SIDES("LEFT JOIN")
#define OF_RANKING "c.leaderboard_id = ? AND c.task_version_id = ? AND c.gpu = ? "
#define KEY(key) (key)->leaderboard_id, (key)->task_version_id, (key)->gpu
#define RANKED_FILES \
	"(SELECT file_id FROM ranking WHERE leaderboard_id = ? AND task_version_id = ? AND gpu = ?)"
static const struct statement RESULTS = SELECT(struct ranking_head_to_head, COMPARISON_COLUMNS,
	"SELECT c.id, fa.id AS challenger_file_id, fb.id AS incumbent_file_id, " LOW_BOUND
	", " HIGH_BOUND ", c.loser IS NOT NULL AS is_failure FROM comparisons c "
	"JOIN jobs j ON j.comparison_id = c.id JOIN leaderboards l ON l.id = c.leaderboard_id "
	"AND NOT " IS_WITHHELD " " JOIN_SIDES "WHERE " OF_RANKING
	"AND (c.ratio IS NOT NULL OR c.loser IS NOT NULL) "
	"AND fa.id IN " RANKED_FILES " AND fb.id IN " RANKED_FILES);

static const struct statement INSERT_COMPARISON =
	COMMAND("INSERT INTO comparisons (leaderboard_id, task_version_id, gpu, challenger_id, "
			"challenger_job_id, incumbent_id, incumbent_job_id) "
			"SELECT a.leaderboard_id, a.task_version_id, a.gpu, a.submission_id, a.job_id, "
			"b.submission_id, b.job_id FROM ranking a "
			"JOIN ranking b ON b.leaderboard_id = a.leaderboard_id "
			"AND b.task_version_id = a.task_version_id AND b.gpu = a.gpu "
			"WHERE a.leaderboard_id = ? AND a.task_version_id = ? AND a.gpu = ? AND a.user_id = ? "
			"AND b.user_id = ? "
			"AND a.engine = b.engine AND a.engine IN ('isolated', 'sealed') "
			"AND a.file_id <> b.file_id "
			"AND NOT EXISTS (SELECT 1 FROM users u WHERE u.id IN (a.user_id, b.user_id) "
			"AND u.deleted_at IS NOT NULL) "
			"AND NOT EXISTS (SELECT 1 FROM comparisons c JOIN jobs j ON j.comparison_id = c.id "
			"  " JOIN_SIDES "WHERE c.leaderboard_id = a.leaderboard_id "
			"  AND c.task_version_id = a.task_version_id AND c.gpu = a.gpu "
			"  AND fa.id IN (a.file_id, b.file_id) AND fb.id IN (a.file_id, b.file_id) "
			"  AND " SQL_COMPARISON_STANDS("c", "j") ")");
static const struct statement INSERT_JOB =
	COMMAND("INSERT INTO jobs (comparison_id, user_id, gpu, priority) VALUES (?, 0, ?, ?)");

struct id_row {
	int64_t id;
};
static const struct column ID_COLUMNS[] = { INTEGER(struct id_row, id) };
static const struct statement OUTDATED = SELECT(struct id_row, ID_COLUMNS,
	"SELECT j.id FROM comparisons c JOIN jobs j ON j.comparison_id = c.id " LEFT_JOIN_SIDES
	"WHERE " OF_RANKING "AND j.state = 'queued' "
	"AND NOT (COALESCE(fa.id, 0) IN " RANKED_FILES " AND COALESCE(fb.id, 0) IN " RANKED_FILES ")");
#define CANCEL(reason) \
	"j.state = 'cancelled', j.verdict = 'cancelled', j.reason = '" reason \
	"', j.finished_at = UTC_TIMESTAMP(3) "
#define REPLACED "A better entry replaced one of the two before the comparison."
static const struct statement CANCEL_OUTDATED =
	COMMAND("UPDATE jobs j SET " CANCEL(REPLACED) "WHERE j.id = ? AND j.state = 'queued'");
#define COMPARED \
	"jobs j JOIN comparisons c ON c.id = j.comparison_id JOIN submissions s ON s.id IN " \
	"(c.challenger_id, c.incumbent_id) "
#define QUEUED_OF_USER "WHERE j.user_id = 0 AND j.state = 'queued' AND s.user_id = ?"
static const struct statement COUNT_OF_USER = COMMAND(SQL_COUNT_CANCELLED(COMPARED QUEUED_OF_USER));
#define ACCOUNT_GONE \
	"The account of one of the two authors was banned or deleted before the comparison."
static const struct statement CANCEL_OF_USER =
	COMMAND("UPDATE " COMPARED "SET " CANCEL(ACCOUNT_GONE) QUEUED_OF_USER);

struct comparison_row {
	struct ranking_key key;
	struct head_to_head_pair pair;
};
#define COMPARISON_COLUMN(kind, path, member) \
	{ \
#member, kind, offsetof(struct comparison_row, path.member) \
	}
static const struct column COMPARISON_OF_JOB_COLUMNS[] = {
	COMPARISON_COLUMN(COLUMN_INTEGER, key, leaderboard_id),
	COMPARISON_COLUMN(COLUMN_INTEGER, key, task_version_id),
	COMPARISON_COLUMN(COLUMN_TEXT, key, gpu),
	COMPARISON_COLUMN(COLUMN_INTEGER, pair, challenger_user_id),
	COMPARISON_COLUMN(COLUMN_INTEGER, pair, incumbent_user_id),
};
static const struct statement FIND_COMPARISON =
	SELECT(struct comparison_row, COMPARISON_OF_JOB_COLUMNS,
		"SELECT c.leaderboard_id, c.task_version_id, c.gpu, a.user_id AS challenger_user_id, "
		"b.user_id AS incumbent_user_id "
		"FROM jobs j JOIN comparisons c ON c.id = j.comparison_id "
		"JOIN submissions a ON a.id = c.challenger_id "
		"JOIN submissions b ON b.id = c.incumbent_id WHERE j.id = ?");
static const struct statement STORE_RESULT =
	COMMAND("UPDATE comparisons c JOIN jobs j ON j.comparison_id = c.id "
			"SET c.ratio = ?, c.ratio_low = ?, c.ratio_high = ?, c.loser = ? WHERE j.id = ?");

int head_to_head_open(struct database *db, const struct ranking_key *key,
	int64_t challenger_user_id, int64_t incumbent_user_id, struct error *error)
{
	int rc = database_execute(db, &INSERT_COMPARISON, error, "iisii", key->leaderboard_id,
		key->task_version_id, key->gpu, challenger_user_id, incumbent_user_id);
	if (rc || !database_affected(db))
		return rc;
	return database_execute(db, &INSERT_JOB, error, "isi", (int64_t)database_insert_id(db),
		key->gpu, (int64_t)priority);
}

int head_to_head_read(struct database *db, struct arena *arena, const struct ranking_key *key,
	struct ranking_head_to_head **comparisons, size_t *count, struct error *error)
{
	return database_rows(
		db, arena, &RESULTS, comparisons, count, error, "iisiisiis", KEY(key), KEY(key), KEY(key));
}

/* Finds the outdated comparisons without a lock and cancels each one only if it is still queued. A
 * comparison that a worker has just claimed therefore runs to its end. */
int head_to_head_withdraw(
	struct database *db, struct arena *arena, const struct ranking_key *key, struct error *error)
{
	struct id_row *outdated;
	size_t count;
	int rc = database_rows(
		db, arena, &OUTDATED, &outdated, &count, error, "iisiisiis", KEY(key), KEY(key), KEY(key));
	for (size_t i = 0; !rc && i < count; i++) {
		rc = database_execute(db, &CANCEL_OUTDATED, error, "i", outdated[i].id);
		if (!rc && database_affected(db))
			rc = job_count_end(db, outdated[i].id, error);
	}
	return rc;
}

int head_to_head_withdraw_user(struct database *db, int64_t user_id, struct error *error)
{
	int rc = database_execute(db, &COUNT_OF_USER, error, "i", user_id);
	return rc ? rc : database_execute(db, &CANCEL_OF_USER, error, "i", user_id);
}

int head_to_head_find(struct database *db, struct arena *arena, int64_t job_id,
	struct ranking_key *key, struct head_to_head_pair *pair, struct error *error)
{
	struct comparison_row row;
	int rc = database_row(db, arena, &FIND_COMPARISON, &row, error, "i", job_id);
	if (rc == ERROR_NOT_FOUND)
		return fail(error, rc, "Job %lld does not belong to a comparison.", (long long)job_id);
	if (rc)
		return rc;
	*key = row.key;
	*pair = row.pair;
	return 0;
}

int head_to_head_store(struct database *db, int64_t job_id,
	const struct head_to_head_result *result, struct error *error)
{
	return database_execute(db, &STORE_RESULT, error, "dddsi", result->ratio, result->low,
		result->high, result->loser, job_id);
}
