#include "lib/judging/internal_error.h"

#include "lib/leaderboard/right.h"

#define OF_JOB \
	"LEFT JOIN comparisons c ON c.id = j.comparison_id " \
	"LEFT JOIN rejudged_jobs r ON r.id = j.rejudged_id " \
	"LEFT JOIN submissions s ON s.id = COALESCE(j.submission_id, c.challenger_id, " \
	"r.submission_id) "
static const struct statement NOTE =
	COMMAND("INSERT INTO internal_errors (leaderboard_id, newest_job_id) "
			"SELECT s.leaderboard_id, j.id FROM jobs j " OF_JOB
			"WHERE j.id = ? AND s.leaderboard_id IS NOT NULL "
			"ON DUPLICATE KEY UPDATE errors = errors + 1, newest_job_id = VALUES(newest_job_id)");
static const struct statement SEEN =
	COMMAND("DELETE FROM internal_errors WHERE leaderboard_id = ?");

static const struct column COLUMNS[] = {
	TEXT(struct internal_errors, leaderboard),
	INTEGER(struct internal_errors, errors),
	TIME(struct internal_errors, since_ms),
	INTEGER(struct internal_errors, newest_job_id),
	INTEGER(struct internal_errors, submission_id),
};
#define UNSEEN(condition) \
	SELECT(struct internal_errors, COLUMNS, \
		"SELECT l.name AS leaderboard, i.errors, i.since AS since_ms, i.newest_job_id, " \
		"COALESCE(s.id, 0) AS submission_id FROM internal_errors i " \
		"JOIN leaderboards l ON l.id = i.leaderboard_id " \
		"LEFT JOIN jobs j ON j.id = i.newest_job_id " OF_JOB "WHERE " condition \
		" ORDER BY i.since DESC LIMIT 50")
#define IS_CREATOR SQL_IS_CREATOR("l")
const struct statement internal_errors_reading =
	UNSEEN(IS_CREATOR " OR (? AND (? OR l.creator_id IS NULL))");
const struct statement internal_errors_of_leaderboard = UNSEEN("l.name = ?");

int internal_error_note(struct database *db, int64_t job_id, struct error *error)
{
	return database_execute(db, &NOTE, error, "i", job_id);
}

int internal_errors_seen(struct database *db, int64_t leaderboard_id, struct error *error)
{
	return database_execute(db, &SEEN, error, "i", leaderboard_id);
}
