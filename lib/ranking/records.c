#include "lib/ranking/records.h"

#include "lib/base/buffer.h"
#include "lib/base/scope.h"
#include "lib/job/job.h"
#include "lib/ranking/file_time.h"

#include <math.h>
#include <string.h>

#define IS_RANKED SQL_IS_RANKED("s", "j")
#define IS_MEASURED SQL_IS_MEASURED("s", "j")
#define HAS_SCORE SQL_HAS_SCORE("s", "j")
#define FIELDS \
	"leaderboard_id, task_version_id, gpu, line, submission_id, job_id, user_id, score_ns, " \
	"submitted_at, ranked_at, held_id"
/* When a result was ranked. Rows from before the column `ranked_at` have none. */
#define RANKED_AT "COALESCE(j.ranked_at, j.finished_at, s.submitted_at)"

/* Compares (ranked_at, job_id), because several results can be ranked in one millisecond and clocks
 * can go back. */
static const struct statement INSERT_RECORD = COMMAND(
	"INSERT INTO records (" FIELDS ") "
	"SELECT s.leaderboard_id, s.task_version_id, j.gpu, ?, s.id, j.id, s.user_id, "
	"f.score_ns, s.submitted_at, " RANKED_AT " AS ranked_at, NULL "
	"FROM jobs j JOIN submissions s ON s.id = j.submission_id " SQL_JOIN_FILE_TIME("s",
		"j") "WHERE j.id = ? "
			 "AND NOT EXISTS (SELECT 1 FROM records r WHERE r.leaderboard_id = s.leaderboard_id "
			 "  AND r.task_version_id = s.task_version_id AND r.gpu = j.gpu AND r.line = ? "
			 "  AND r.score_ns <= f.score_ns "
			 "  AND (r.ranked_at < " RANKED_AT " OR (r.ranked_at = " RANKED_AT
			 " AND r.job_id < j.id)))");
static const struct statement DELETE_BEATEN =
	COMMAND("DELETE later FROM records new JOIN records later "
			"ON later.leaderboard_id = new.leaderboard_id "
			"AND later.task_version_id = new.task_version_id AND later.gpu = new.gpu "
			"AND later.line = new.line AND later.score_ns >= new.score_ns "
			"AND (later.ranked_at > new.ranked_at "
			"  OR (later.ranked_at = new.ranked_at AND later.job_id > new.job_id)) "
			"WHERE new.job_id = ? AND new.line = ?");
static const struct statement DELETE_JOB = COMMAND("DELETE FROM records WHERE job_id = ?");
static const struct statement DELETE_LINE =
	COMMAND("DELETE FROM records WHERE leaderboard_id = ? AND task_version_id = ? AND gpu = ? "
			"AND line = ?");
static const struct statement DELETE_LINES_OF_FILE =
	COMMAND("DELETE r FROM records r JOIN " SQL_USERS_OF_FILE "ON r.line = who.user_id "
			"WHERE r.leaderboard_id = ? AND r.task_version_id = ? AND r.gpu = ?");
static const struct statement DELETE_RANKING =
	COMMAND("DELETE FROM records WHERE leaderboard_id = ? AND task_version_id = ? AND gpu = ?");
static const struct statement DELETE_ALL = COMMAND("DELETE FROM records WHERE leaderboard_id = ?");

/* All results of files. mean_ns is the mean of the file's results up to this one, whoever sent
 * them, and now_ns the file's time now. */
#define MEASURED(jobs) \
	"(SELECT s.leaderboard_id, s.task_version_id, j.gpu, s.file_sha256, s.user_id, " \
	"    s.id AS submission_id, j.id AS job_id, s.submitted_at, " RANKED_AT " AS ranked_at, " \
	"    f.score_ns AS now_ns, " IS_RANKED " AS is_ranked, ROUND(AVG(j.score_ns) OVER " \
	"      (PARTITION BY s.task_version_id, j.gpu, s.file_sha256 ORDER BY " RANKED_AT \
	"      , j.id), 3) AS mean_ns FROM " jobs " AND " HAS_SCORE " AND " IS_MEASURED ") measured "
/* The time of a result is mean_ns, but not less than the file's time now. The file's last result
 * has exactly the time now. */
#define FROM_LAST \
	"(PARTITION BY task_version_id, gpu, file_sha256 ORDER BY ranked_at DESC, job_id DESC)"
#define TIMED(jobs) \
	"(SELECT measured.*, FIRST_VALUE(job_id) OVER from_last AS last_job_id, " \
	"    FIRST_VALUE(submission_id) OVER from_last AS last_id, " \
	"    FIRST_VALUE(ranked_at) OVER from_last AS last_at, " \
	"    IF(ROW_NUMBER() OVER from_last = 1, now_ns, GREATEST(now_ns, mean_ns)) AS score_ns, " \
	"    ROW_NUMBER() OVER (PARTITION BY task_version_id, gpu, file_sha256, user_id " \
	"      ORDER BY ranked_at DESC, job_id DESC) = 1 AS is_users_last " \
	"  FROM " MEASURED(jobs) "WHERE is_ranked WINDOW from_last AS " FROM_LAST ") timed "
/* Fills users' lines. A line has the user's own results. For each file of the user it also has the
 * file's last result, even if another user sent it, so that the line ends at the file's time now.
 * before_ns is the best time of the line before this result. */
#define OWN_OR_LAST \
	" JOIN (SELECT 0 AS of_other UNION ALL SELECT 1) which " \
	"ON NOT of_other OR (is_users_last AND job_id <> last_job_id)"
#define POINTS(jobs) \
	"(SELECT leaderboard_id, task_version_id, gpu, user_id, submitted_at, " \
	"  IF(of_other, last_id, submission_id) AS submission_id, " \
	"  IF(of_other, submission_id, NULL) AS held_id, " \
	"  IF(of_other, last_job_id, job_id) AS job_id, IF(of_other, last_at, ranked_at) AS " \
	"ranked_at, " \
	"  IF(of_other, now_ns, score_ns) AS score_ns FROM " TIMED(jobs) OWN_OR_LAST ") point "
#define LINES(jobs) \
	"(SELECT point.*, MIN(score_ns) OVER (PARTITION BY task_version_id, gpu, user_id " \
	"    ORDER BY ranked_at, job_id " \
	"    ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING) AS before_ns " \
	"  FROM " POINTS(jobs) ") points "
#define PUT \
	"INSERT INTO records (" FIELDS ") SELECT leaderboard_id, task_version_id, gpu, user_id, " \
	"submission_id, job_id, user_id, score_ns, submitted_at, ranked_at, held_id FROM "
#define FASTER "WHERE (before_ns IS NULL OR score_ns < before_ns) "
static const struct statement FILL_ALL_USERS =
	COMMAND(PUT LINES(SQL_JOBS_WITH_FILE_TIMES "s.leaderboard_id = ?") FASTER);
static const struct statement FILL_RANKING = COMMAND(PUT LINES(SQL_JOBS_WITH_FILE_TIMES
	"s.leaderboard_id = ? AND s.task_version_id = ? AND j.gpu = ?") FASTER);
/* The lines of a file's users need the results of all files that they sent. */
static const struct statement FILL_USERS_OF_FILE =
	COMMAND(PUT LINES(SQL_RESULTS_OF_USERS_OF_FILE) FASTER "AND user_id IN (SELECT who.user_id "
														   "FROM " SQL_USERS_OF_FILE ")");

/* Line 0 is computed in C from the users' lines: a record of line 0 is also a record of the line of
 * its sender. In SQL, the window function of LINES would read all earlier rows for each row. One
 * user has few rows, but all users together may have millions. */
struct best_row {
	int64_t job_id, task_version_id;
	const char *gpu;
	double score_ns;
};
static const struct column BEST_COLUMNS[] = {
	INTEGER(struct best_row, job_id),
	INTEGER(struct best_row, task_version_id),
	TEXT(struct best_row, gpu),
	REAL(struct best_row, score_ns),
};
#define USERS_LINES(which) \
	SELECT(struct best_row, BEST_COLUMNS, \
		"SELECT job_id, task_version_id, gpu, score_ns FROM records " \
		"WHERE leaderboard_id = ? " which "AND line <> 0 " \
		"ORDER BY task_version_id, gpu, ranked_at, job_id")
static const struct statement LINES_OF_ALL = USERS_LINES("");
static const struct statement LINES_OF_RANKING =
	USERS_LINES("AND task_version_id = ? AND gpu = ? ");
/* The first user who sent the file holds the record. */
#define FIRST_OF_FILE \
	"(SELECT MIN(i.id) FROM submissions i JOIN jobs k ON k.submission_id = i.id AND k.gpu = " \
	"j.gpu " \
	"WHERE i.file_sha256 = s.file_sha256 AND i.task_version_id = s.task_version_id " \
	"AND " SQL_IS_RANKED("i", "k") ")"
static const struct statement FILL_EVERYBODY =
	COMMAND("INSERT INTO records (" FIELDS ") "
			"SELECT r.leaderboard_id, r.task_version_id, r.gpu, 0, r.submission_id, r.job_id, "
			"o.user_id, r.score_ns, r.submitted_at, r.ranked_at, "
			"IF(o.user_id = s.user_id, NULL, o.id) "
			"FROM JSON_TABLE(?, '$[*]' COLUMNS (job_id BIGINT UNSIGNED PATH '$')) fastest "
			"STRAIGHT_JOIN jobs j ON j.id = fastest.job_id "
			"STRAIGHT_JOIN submissions s ON s.id = j.submission_id "
			"STRAIGHT_JOIN records r ON r.job_id = j.id AND r.line = s.user_id "
			"STRAIGHT_JOIN submissions o ON o.id = " FIRST_OF_FILE);

static int insert_record(struct database *db, int64_t job_id, int64_t line, struct error *error)
{
	int rc = database_execute(db, &INSERT_RECORD, error, "iii", line, job_id, line);
	return rc || !database_affected(db)
		? rc
		: database_execute(db, &DELETE_BEATEN, error, "ii", job_id, line);
}

/* Fills line 0 from the rows of all users' lines, sorted by ranking and time. */
static int fill_everybody(
	struct database *db, const struct best_row *rows, size_t count, struct error *error)
{
	cleanup_buffer struct buffer fastest = { 0 };
	double best_ns = INFINITY;
	for (size_t i = 0; i < count; i++) {
		bool is_first = i == 0 || rows[i].task_version_id != rows[i - 1].task_version_id
			|| strcmp(rows[i].gpu, rows[i - 1].gpu) != 0;
		if (!is_first && rows[i].score_ns >= best_ns)
			continue;
		best_ns = rows[i].score_ns;
		buffer_printf(&fastest, "%c%lld", fastest.length ? ',' : '[', (long long)rows[i].job_id);
	}
	if (!fastest.length)
		return 0;
	buffer_byte(&fastest, ']');
	return database_execute(db, &FILL_EVERYBODY, error, "s", buffer_string(&fastest));
}

static int refresh_everybody(
	struct database *db, const struct ranking_key *key, struct error *error)
{
	cleanup_arena struct arena *arena = arena_new();
	struct best_row *rows;
	size_t count;
	int rc = database_execute(db, &DELETE_LINE, error, "iisi", key->leaderboard_id,
		key->task_version_id, key->gpu, (int64_t)records_everybody);
	if (!rc)
		rc = database_rows(db, arena, &LINES_OF_RANKING, &rows, &count, error, "iis",
			key->leaderboard_id, key->task_version_id, key->gpu);
	return rc ? rc : fill_everybody(db, rows, count, error);
}

int records_refresh(
	struct database *db, const struct ranking_key *key, int64_t submission_id, struct error *error)
{
	int rc = database_execute(db, &DELETE_LINES_OF_FILE, error, "iiis", submission_id,
		key->leaderboard_id, key->task_version_id, key->gpu);
	if (!rc)
		rc = database_execute(
			db, &FILL_USERS_OF_FILE, error, "isi", submission_id, key->gpu, submission_id);
	return rc ? rc : refresh_everybody(db, key, error);
}

int records_refresh_ranking(struct database *db, const struct ranking_key *key, struct error *error)
{
	int rc = database_execute(
		db, &DELETE_RANKING, error, "iis", key->leaderboard_id, key->task_version_id, key->gpu);
	if (!rc)
		rc = database_execute(
			db, &FILL_RANKING, error, "iis", key->leaderboard_id, key->task_version_id, key->gpu);
	return rc ? rc : refresh_everybody(db, key, error);
}

int records_insert(struct database *db, const struct record *record, struct error *error)
{
	int rc = database_execute(db, &DELETE_JOB, error, "i", record->job_id);
	if (rc)
		return rc;
	/* Other results may become records: those that this job's old time had beaten, or the first
	 * result of the file. */
	if (database_affected(db) || !record->is_first)
		return records_refresh(db, record->key, record->submission_id, error);
	rc = insert_record(db, record->job_id, record->user_id, error);
	return rc ? rc : insert_record(db, record->job_id, records_everybody, error);
}

int records_rebuild(struct database *db, int64_t leaderboard_id, struct error *error)
{
	cleanup_arena struct arena *arena = arena_new();
	struct best_row *rows;
	size_t count;
	int rc = database_execute(db, &DELETE_ALL, error, "i", leaderboard_id);
	if (!rc)
		rc = database_execute(db, &FILL_ALL_USERS, error, "i", leaderboard_id);
	if (!rc)
		rc = database_rows(db, arena, &LINES_OF_ALL, &rows, &count, error, "i", leaderboard_id);
	return rc ? rc : fill_everybody(db, rows, count, error);
}
