/* Finds a submission for pages and programs, and says what the viewer may see and do. */
#include "cgi/page/submission.h"

#include "cgi/http/paging.h"
#include "lib/database/blob.h"
#include "lib/intake/submission.h"
#include "lib/job/job.h"
#include "lib/leaderboard/visibility.h"

#include <string.h>

static const struct column SUBMISSION_COLUMNS[] = {
	INTEGER(struct submission_row, right),
	INTEGER(struct submission_row, id),
	INTEGER(struct submission_row, user_id),
	INTEGER(struct submission_row, leaderboard_id),
	TEXT(struct submission_row, user),
	TEXT(struct submission_row, leaderboard),
	TEXT(struct submission_row, file_name),
	TEXT(struct submission_row, mode),
	TIME(struct submission_row, submitted_at_ms),
	INTEGER(struct submission_row, version_number),
	INTEGER(struct submission_row, current_version),
	INTEGER(struct submission_row, may_see_source),
	TEXT(struct submission_row, sources),
	TEXT(struct submission_row, license),
	INTEGER(struct submission_row, practice),
	INTEGER(struct submission_row, dry_run),
	TIME(struct submission_row, frozen_at_ms),
	BLOB(struct submission_row, sha256),
	TEXT(struct submission_row, note),
	INTEGER(struct submission_row, withdrawn),
	INTEGER(struct submission_row, is_final),
	INTEGER(struct submission_row, hidden),
	TEXT(struct submission_row, hidden_reason),
	TEXT(struct submission_row, disqualified),
	TEXT(struct submission_row, submitted_by),
	TEXT(struct submission_row, slot),
	TEXT(struct submission_row, flops),
	TEXT(struct submission_row, bytes),
	TEXT(struct submission_row, tolerance),
	BLOB(struct submission_row, source),
};
#define RIGHT SQL_RIGHT("l")
#define DISQUALIFICATION SQL_DISQUALIFICATION("s")
#define MAY_SEE_LEADERBOARD SQL_MAY_SEE("l")
#define MAY_SEE_TRIAL SQL_MAY_SEE_TRIAL("s", "l")
#define MAY_SEE_SOURCE SQL_MAY_SEE_SOURCE("s", "l")
#define POLICY SQL_SOURCE_POLICY("l")
#define SUBMISSION_WITH(task, source) \
	SELECT(struct submission_row, SUBMISSION_COLUMNS, \
		"SELECT " RIGHT \
		" AS `right`, s.id, s.user_id, s.leaderboard_id, u.name AS user, l.name AS leaderboard, " \
		"s.file_name, s.mode, " \
		"  s.submitted_at AS submitted_at_ms, v.number AS version_number, v.id = " \
		"l.task_version_id AS current_version, " \
		"  " MAY_SEE_SOURCE " AS may_see_source, " POLICY \
		" AS sources, s.source_license AS license, s.practice, s.dry_run, " \
		"  l.frozen_at AS frozen_at_ms, s.sha256, s.note, s.withdrawn_at IS NOT " \
		"NULL AS withdrawn, EXISTS (SELECT 1 FROM contest_problems p JOIN contests c " \
		"ON c.id = p.contest_id WHERE p.leaderboard_id = l.id AND c.final_at IS NOT NULL) " \
		"AS is_final, " \
		"  s.hidden_at IS NOT NULL AS hidden, s.hidden_reason, " DISQUALIFICATION \
		" AS disqualified, " SQL_SUBMITTED_BY( \
			"s") " AS submitted_by, " task ", " source " AS source " \
				 "FROM submissions s JOIN users u ON u.id = s.user_id JOIN leaderboards l ON " \
				 "l.id = " \
				 "s.leaderboard_id " \
				 "JOIN task_versions v ON v.id = s.task_version_id WHERE s.id = ? " \
				 "AND " MAY_SEE_LEADERBOARD " AND " MAY_SEE_TRIAL)
#define NO_TASK "NULL AS slot, NULL AS flops, NULL AS bytes, NULL AS tolerance"
/* The slot is the file of the task in whose place the submission's file is. */
#define TASK \
	"JSON_VALUE(v.definition, REPLACE(JSON_UNQUOTE(JSON_SEARCH(v.definition, 'one', " \
	"'@SUBMISSION@', NULL, '$.files[*].source')), '.source', '.name')) AS slot, " \
	"JSON_VALUE(v.definition, '$.flops') AS flops, " \
	"JSON_VALUE(v.definition, '$.bytes') AS bytes, " \
	"NULLIF(JSON_VALUE(v.definition, '$.tolerance'), 0) AS tolerance"
/* Reads the source for every viewer, because checking the right here would take longer.
 * submission_read_view drops what the viewer may not see. */
#define SOURCE "(SELECT b.content FROM blobs b WHERE b.sha256 = s.sha256)"
const struct statement submission_reading = SUBMISSION_WITH(NO_TASK, "NULL"),
					   submission_and_task_reading = SUBMISSION_WITH(TASK, "NULL"),
					   submission_and_source_reading = SUBMISSION_WITH(TASK, SOURCE);

/* ---- reading ---- */

static bool is_author(const struct request *request, const struct submission_row *row)
{
	return viewer_acts_for(&request->viewer, row->user_id);
}

bool submission_is_read(const struct request *request, const struct submission_row *row)
{
	return is_author(request, row) || row->right >= RIGHT_READ;
}

bool submission_can_cancel(const struct request *request, const struct submission_row *row)
{
	return is_author(request, row) || row->right >= RIGHT_CHANGE;
}

int submission_take(
	struct request *request, const struct database_answer *answer, struct submission_row *row)
{
	if (!answer->count)
		return fail(request->error, ERROR_NOT_FOUND, "There is no submission with this number.");
	*row = *(const struct submission_row *)answer->rows;
	return row->hidden && !submission_is_read(request, row)
		? fail(request->error, ERROR_NOT_FOUND, "This submission is hidden.")
		: 0;
}

static int find_numbered(struct request *request, const struct statement *statement, int64_t id,
	struct submission_row *row)
{
	struct database_answer answer = { 0 };
	const int64_t viewer = request->viewer.id;
	int rc = database_rows(request->db, request->arena, statement, &answer.rows, &answer.count,
		request->error, "iiiii", viewer, viewer, id, viewer, viewer);
	return rc ? rc : submission_take(request, &answer, row);
}

int submission_of_address(struct request *request, struct submission_row *row)
{
	return find_numbered(request, &submission_and_task_reading, path_number(request, 0), row);
}

int submission_without_task(struct request *request, struct submission_row *row)
{
	return find_numbered(request, &submission_reading, path_number(request, 0), row);
}

bool submission_may_see_source(const struct request *request, const struct submission_row *row)
{
	return submission_is_read(request, row) || row->may_see_source == 1;
}

/* ---- for the author ---- */

int submission_to_cancel(struct request *request, struct submission_row *row)
{
	int rc = submission_without_task(request, row);
	return rc || submission_can_cancel(request, row)
		? rc
		: fail(request->error, ERROR_FORBIDDEN,
			"Only its author, the leaderboard's creators and admins may cancel a submission.");
}

int submission_of_author(struct request *request, const char *deed, struct submission_row *row)
{
	int rc = submission_without_task(request, row);
	return rc || is_author(request, row)
		? rc
		: fail(request->error, ERROR_FORBIDDEN, "Only its author may %s.", deed);
}

const char *submission_source_until(struct arena *arena, const struct submission_row *row)
{
	return source_policy_until(arena, row->sources, row->frozen_at_ms != TIME_NULL);
}

int submission_check_source(
	struct request *request, const struct submission_row *row, const char *what)
{
	return submission_may_see_source(request, row)
		? 0
		: fail(request->error, ERROR_FORBIDDEN, "%s its author's%s.", what,
			row->dry_run ? "" : submission_source_until(request->arena, row));
}

int submission_read_source(
	struct request *request, const struct submission_row *row, struct blob_value *content)
{
	int rc = submission_check_source(request, row, "The source is");
	return rc ? rc
			  : blob_get(request->db, request->arena, row->sha256.bytes, content, request->error);
}
