/* Finds a submission for pages and programs, and says what the viewer may see and do. */
#include "cgi/page/submission.h"

#include "cgi/http/paging.h"
#include "lib/database/blob.h"
#include "lib/leaderboard/visibility.h"

#include <string.h>

static const struct column SUBMISSION_COLUMNS[] = {
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
	INTEGER(struct submission_row, ended),
	INTEGER(struct submission_row, sources_public),
	INTEGER(struct submission_row, practice),
	INTEGER(struct submission_row, dry_run),
	TIME(struct submission_row, frozen_at_ms),
	INTEGER(struct submission_row, creator_id),
	BLOB(struct submission_row, sha256),
	TEXT(struct submission_row, note),
	INTEGER(struct submission_row, withdrawn),
	INTEGER(struct submission_row, hidden),
	TEXT(struct submission_row, hidden_reason),
	INTEGER(struct submission_row, waits),
	TEXT(struct submission_row, flops),
	TEXT(struct submission_row, bytes),
	TEXT(struct submission_row, tolerance),
};
#define MAY_SEE_LEADERBOARD SQL_MAY_SEE("l")
#define MAY_SEE_TRIAL SQL_MAY_SEE_TRIAL("s", "l")
#define SUBMISSION_WITH(flops, bytes, tolerance) \
	SELECT(struct submission_row, SUBMISSION_COLUMNS, \
		"SELECT s.id, s.user_id, s.leaderboard_id, u.name AS user, l.name AS leaderboard, " \
		"s.file_name, s.mode, " \
		"  s.submitted_at AS submitted_at_ms, v.number AS version_number, v.id = " \
		"l.task_version_id AS current_version, " \
		"  COALESCE(l.deadline <= UTC_TIMESTAMP(3), 0) AS ended, l.sources_public_after_deadline " \
		"AS sources_public, s.practice, s.dry_run, " \
		"  l.frozen_at AS frozen_at_ms, l.creator_id, s.sha256, s.note, s.withdrawn_at IS NOT " \
		"NULL AS withdrawn, " \
		"  s.hidden_at IS NOT NULL AS hidden, s.hidden_reason, " \
		"  EXISTS (SELECT 1 FROM jobs j WHERE j.submission_id = s.id AND j.state = 'queued') AS " \
		"waits, " \
		"  " flops " AS flops, " bytes " AS bytes, " tolerance " AS tolerance " \
		"FROM submissions s JOIN users u ON u.id = s.user_id JOIN leaderboards l ON l.id = " \
		"s.leaderboard_id " \
		"JOIN task_versions v ON v.id = s.task_version_id WHERE s.id = ? AND " MAY_SEE_LEADERBOARD \
		" AND " MAY_SEE_TRIAL)
/* Does not read the task's long definition: live.js polls the state often and does not need it. */
static const struct statement SUBMISSION = SUBMISSION_WITH("NULL", "NULL", "NULL");
static const struct statement SUBMISSION_AND_TASK =
	SUBMISSION_WITH("JSON_VALUE(v.definition, '$.flops')", "JSON_VALUE(v.definition, '$.bytes')",
		"NULLIF(JSON_VALUE(v.definition, '$.tolerance'), 0)");

/* ---- reading ---- */

bool submission_is_owned(const struct request *request, const struct submission_row *row)
{
	return request->viewer.id
		&& (request->viewer.id == row->user_id || request->viewer.role == ROLE_ADMIN);
}

static int find_numbered(struct request *request, const struct statement *statement, int64_t id,
	struct submission_row *row)
{
	int rc = !id ? ERROR_NOT_FOUND
				 : database_row(request->db, request->arena, statement, row, request->error, "iii",
					 id, request->viewer.id, request->viewer.id);
	if (!rc && row->hidden && !submission_is_owned(request, row))
		return fail(request->error, ERROR_NOT_FOUND, "This submission was hidden by an admin.");
	return rc == ERROR_NOT_FOUND
		? fail(request->error, rc, "There is no submission with this number.")
		: rc;
}

int submission_by_number(struct request *request, int64_t id, struct submission_row *row)
{
	return find_numbered(request, &SUBMISSION_AND_TASK, id, row);
}

int submission_of_address(struct request *request, struct submission_row *row)
{
	return submission_by_number(request, path_number(request, 0), row);
}

int submission_without_task(struct request *request, struct submission_row *row)
{
	return find_numbered(request, &SUBMISSION, path_number(request, 0), row);
}

bool submission_may_see_source(const struct request *request, const struct submission_row *row)
{
	return submission_is_owned(request, row) || (row->ended && row->sources_public);
}

/* ---- for the author ---- */

int submission_to_cancel(struct request *request, struct submission_row *row)
{
	int rc = submission_without_task(request, row);
	return rc || submission_is_owned(request, row)
		? rc
		: fail(
			request->error, ERROR_FORBIDDEN, "Only its author and admins may cancel a submission.");
}

int submission_of_author(struct request *request, const char *deed, struct submission_row *row)
{
	int rc = submission_without_task(request, row);
	return rc || request->viewer.id == row->user_id
		? rc
		: fail(request->error, ERROR_FORBIDDEN, "Only its author may %s.", deed);
}

int submission_check_source(
	struct request *request, const struct submission_row *row, const char *what)
{
	return submission_may_see_source(request, row)
		? 0
		: fail(request->error, ERROR_FORBIDDEN, "%s its author's%s.", what,
			row->sources_public ? " until the leaderboard's deadline has passed" : "");
}

int submission_read_source(
	struct request *request, const struct submission_row *row, struct blob_value *content)
{
	int rc = submission_check_source(request, row, "The source is");
	return rc ? rc
			  : blob_get(request->db, request->arena, row->sha256.bytes, content, request->error);
}
