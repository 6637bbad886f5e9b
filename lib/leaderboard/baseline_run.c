#include "lib/leaderboard/baseline_run.h"

#include "lib/base/scope.h"
#include "lib/leaderboard/dry_run.h"

/* The number of the lowest priority (jobs.priority), as rejudgings have. */
enum { priority = 2 };

/* ---- what is missing ---- */

struct missing_run {
	int64_t leaderboard_id, version_id, tester_id;
	const char *gpu, *file_name;
	struct blob_value sha256;
};
static const struct column MISSING_COLUMNS[] = {
	INTEGER(struct missing_run, leaderboard_id),
	INTEGER(struct missing_run, version_id),
	INTEGER(struct missing_run, tester_id),
	TEXT(struct missing_run, gpu),
	TEXT(struct missing_run, file_name),
	BLOB(struct missing_run, sha256),
};
/* About a version v and a device g: a dry run of the version on the device. */
#define DRY_RUN \
	"SELECT 1 FROM dry_runs d JOIN dry_run_entries e ON e.dry_run_id = d.id " \
	"JOIN jobs k ON k.submission_id = e.submission_id " \
	"WHERE d.task_version_id = v.id AND k.gpu = g.gpu "
/* Whether a submission is a run of a baseline. */
#define IS_RUN(submission) \
	submission ".dry_run AND NOT EXISTS (SELECT 1 FROM dry_run_entries own " \
			   "WHERE own.submission_id = " submission ".id) "
#define HAS_RUN \
	"SELECT 1 FROM submissions s JOIN jobs j ON j.submission_id = s.id AND j.gpu = g.gpu " \
	"WHERE s.sha256 = f.sha256 AND s.task_version_id = v.id AND " IS_RUN( \
		"s") "AND NOT EXISTS (" DRY_RUN "AND d.started_at > s.submitted_at) "
/* Baselines with the same bytes share one run. */
static const struct statement MISSING = SELECT(struct missing_run, MISSING_COLUMNS,
	"SELECT l.id AS leaderboard_id, v.id AS version_id, " SQL_TESTER(
		"l") "AS tester_id, g.gpu, "
			 "CONCAT(MIN(f.path), IF(v.language = 'cu', '.cu', '.py')) AS file_name, "
			 "f.sha256 FROM task_files f FORCE INDEX (task_files_role) "
			 "JOIN task_versions v ON v.id = f.task_version_id "
			 "JOIN leaderboards l ON l.id = v.leaderboard_id "
			 "LEFT JOIN publications p ON p.leaderboard_id = l.id "
			 "JOIN leaderboard_gpus g ON g.leaderboard_id = l.id "
			 "WHERE f.role = 'baseline' AND ? IN (0, l.id) AND v.id IN (l.task_version_id, "
			 "p.task_version_id) AND ((v.id = l.task_version_id AND l.visibility <> 'hidden' "
			 "AND g.closed_at IS NULL) OR EXISTS (" DRY_RUN ")) "
			 "AND NOT EXISTS (" DRY_RUN "AND k.state IN ('queued', 'running')) "
			 "AND NOT EXISTS (" HAS_RUN ") AND " SQL_TESTER(
				 "l") "IS NOT NULL "
					  "GROUP BY l.id, v.id, g.gpu, f.sha256 ORDER BY l.id LIMIT 500");

/* ---- starting ---- */

struct id_row {
	int64_t id;
};
static const struct column ID_COLUMNS[] = { INTEGER(struct id_row, id) };
/* Without this lock, two podium-webs could both start the same run. */
static const struct statement LOCK =
	SELECT(struct id_row, ID_COLUMNS, "SELECT id FROM leaderboards WHERE id = ? FOR UPDATE");
static const struct statement INSERT_SUBMISSION =
	COMMAND("INSERT INTO submissions (leaderboard_id, task_version_id, user_id, file_name, sha256, "
			"mode, practice, dry_run) VALUES (?, ?, ?, ?, ?, 'ranked', TRUE, TRUE)");
/* With user_id 0, as in dry runs. */
static const struct statement INSERT_JOB =
	COMMAND("INSERT INTO jobs (submission_id, user_id, gpu, priority) VALUES (?, 0, ?, ?)");

static int start_run(struct database *db, const struct missing_run *run, struct error *error)
{
	int rc = database_execute(db, &INSERT_SUBMISSION, error, "iiisb", run->leaderboard_id,
		run->version_id, run->tester_id, run->file_name, run->sha256.bytes, run->sha256.length);
	return rc ? rc
			  : database_execute(db, &INSERT_JOB, error, "isi", (int64_t)database_insert_id(db),
				  run->gpu, (int64_t)priority);
}

static int start_body(struct database *db, void *context, struct error *error)
{
	const int64_t *leaderboard_id = context;
	cleanup_arena struct arena *arena = arena_new();
	struct id_row row;
	struct missing_run *runs;
	size_t count = 0;
	int rc = database_row(db, arena, &LOCK, &row, error, "i", *leaderboard_id);
	if (rc == ERROR_NOT_FOUND) /* deleted meanwhile */
		return 0;
	if (!rc)
		rc = database_rows(db, arena, &MISSING, &runs, &count, error, "i", *leaderboard_id);
	for (size_t i = 0; i < count && !rc; i++)
		rc = start_run(db, &runs[i], error);
	return rc;
}

int baseline_runs_start(struct database *db, struct error *error)
{
	cleanup_arena struct arena *arena = arena_new();
	struct missing_run *runs;
	size_t count = 0;
	int first = database_rows(db, arena, &MISSING, &runs, &count, error, "i", INT64_C(0));
	for (size_t i = 0; i < count && database_is_connected(db); i++) {
		struct error one_error = { 0 };
		if (i && runs[i].leaderboard_id == runs[i - 1].leaderboard_id)
			continue;
		int rc = database_transaction(db, start_body, &runs[i].leaderboard_id, &one_error);
		if (rc && !first) {
			first = rc;
			*error = one_error;
		}
	}
	return first;
}

/* ---- reading ---- */

static const struct column RUN_COLUMNS[] = {
	TEXT(struct baseline_run, name),
	TEXT(struct baseline_run, gpu),
	TEXT(struct baseline_run, state),
	TEXT(struct baseline_run, verdict),
	TEXT(struct baseline_run, reason),
	INTEGER(struct baseline_run, submission_id),
	REAL(struct baseline_run, score_ns),
	REAL(struct baseline_run, score_err_ns),
};
const struct statement baseline_run_reading = SELECT(struct baseline_run, RUN_COLUMNS,
	"SELECT f.path AS name, j.gpu, j.state, j.verdict, j.reason, s.id AS submission_id, "
	"j.score_ns, j.score_err_ns FROM task_versions v "
	"JOIN task_files f ON f.task_version_id = v.id AND f.role = 'baseline' "
	"JOIN submissions s ON s.sha256 = f.sha256 AND s.task_version_id = v.id AND " IS_RUN(
		"s") "JOIN jobs j ON j.submission_id = s.id WHERE v.leaderboard_id = ? AND v.number = ? "
			 "AND NOT EXISTS (SELECT 1 FROM submissions t JOIN jobs k ON k.submission_id = t.id "
			 "WHERE t.sha256 = s.sha256 AND t.task_version_id = v.id AND k.gpu = j.gpu AND t.id > "
			 "s.id "
			 "AND " IS_RUN("t") ") ORDER BY j.gpu, f.path");
