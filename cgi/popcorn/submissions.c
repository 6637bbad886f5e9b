/* The viewer's submissions for popcorn-cli, which polls one until it is done. */
#include "cgi/popcorn/popcorn.h"

#include "cgi/action/cancellation.h"
#include "cgi/action/withdrawal.h"
#include "cgi/api/api.h"
#include "cgi/popcorn/state.h"
#include "lib/base/scope.h"
#include "lib/job/job.h"
#include "lib/leaderboard/leaderboard.h"

#include <stdlib.h>
#include <string.h>

enum { usual_rows = 50, most_rows = 100 };

/* ---- the list ---- */

struct listed {
	int64_t id, submitted_at_ms;
	const char *leaderboard, *file_name;
};
static const struct column LISTED_COLUMNS[] = {
	INTEGER(struct listed, id),
	TIME(struct listed, submitted_at_ms),
	TEXT(struct listed, leaderboard),
	TEXT(struct listed, file_name),
};
static const struct statement OF_USER = SELECT(struct listed, LISTED_COLUMNS,
	"SELECT s.id, s.submitted_at AS submitted_at_ms, l.name AS leaderboard, s.file_name "
	"FROM submissions s FORCE INDEX (submissions_user) "
	"JOIN leaderboards l ON l.id = s.leaderboard_id "
	"WHERE s.user_id = ? AND NOT s.dry_run AND s.withdrawn_at IS NULL ORDER BY s.id DESC "
	"LIMIT ? OFFSET ?");
/* The submissions of the viewer, who is in teams, and of the teams. */
static const struct statement OF_USER_AND_TEAMS = SELECT(struct listed, LISTED_COLUMNS,
	"SELECT s.id, s.submitted_at AS submitted_at_ms, l.name AS leaderboard, s.file_name "
	"FROM (SELECT ? AS id UNION SELECT team_id FROM team_members WHERE user_id = ?) own "
	"STRAIGHT_JOIN submissions s FORCE INDEX (submissions_user) ON s.user_id = own.id "
	"JOIN leaderboards l ON l.id = s.leaderboard_id "
	"WHERE ? IN ('', l.name) AND NOT s.dry_run AND s.withdrawn_at IS NULL ORDER BY s.id DESC "
	"LIMIT ? OFFSET ?");
static const struct statement OF_LEADERBOARD = SELECT(struct listed, LISTED_COLUMNS,
	"SELECT s.id, s.submitted_at AS submitted_at_ms, l.name AS leaderboard, s.file_name "
	"FROM leaderboards l STRAIGHT_JOIN submissions s FORCE INDEX (submissions_history) ON "
	"s.leaderboard_id = l.id AND s.user_id = ? "
	"WHERE l.name = ? AND NOT s.dry_run AND s.withdrawn_at IS NULL ORDER BY s.id DESC "
	"LIMIT ? OFFSET ?");

struct listed_job {
	int64_t submission_id, open;
	const char *gpu, *verdict;
	double score_ns, score_err_ns;
};
static const struct column JOB_COLUMNS[] = {
	INTEGER(struct listed_job, submission_id),
	INTEGER(struct listed_job, open),
	TEXT(struct listed_job, gpu),
	TEXT(struct listed_job, verdict),
	REAL(struct listed_job, score_ns),
	REAL(struct listed_job, score_err_ns),
};
#define STOPPING_JOB SQL_IS_STOPPING("j")
static const struct statement JOBS = SELECT(struct listed_job, JOB_COLUMNS,
	"SELECT j.submission_id, j.state IN ('queued', 'running') OR " STOPPING_JOB " AS `open`, "
	"j.gpu, j.verdict, IF(j.verdict = 'passed', j.score_ns, NULL) AS score_ns, j.score_err_ns "
	"FROM JSON_TABLE(?, '$[*]' COLUMNS (id BIGINT UNSIGNED PATH '$')) asked "
	"STRAIGHT_JOIN jobs j ON j.submission_id = asked.id ORDER BY j.id");

static int read_listed_submissions(struct request *request, struct listed **rows, size_t *count)
{
	int64_t limit, offset;
	const char *leaderboard = request_query(request, "leaderboard");
	int rc = api_query_integer(request, "limit", 1, most_rows, usual_rows, &limit);
	if (!rc)
		rc = api_query_integer(request, "offset", 0, 1000000, 0, &offset);
	if (rc)
		return rc;
	if (request->viewer.team_count)
		return database_rows(request->db, request->arena, &OF_USER_AND_TEAMS, rows, count,
			request->error, "iisii", request->viewer.id, request->viewer.id,
			leaderboard ? leaderboard : "", limit, offset);
	return leaderboard ? database_rows(request->db, request->arena, &OF_LEADERBOARD, rows, count,
			   request->error, "isii", request->viewer.id, leaderboard, limit, offset)
					   : database_rows(request->db, request->arena, &OF_USER, rows, count,
						   request->error, "iii", request->viewer.id, limit, offset);
}

static int read_listed_jobs(struct request *request, const struct listed *rows, size_t count,
	struct listed_job **jobs, size_t *job_count)
{
	cleanup_buffer struct buffer ids = { 0 };
	buffer_byte(&ids, '[');
	for (size_t i = 0; i < count; i++)
		buffer_printf(&ids, "%s%lld", i ? "," : "", (long long)rows[i].id);
	buffer_byte(&ids, ']');
	return database_rows(request->db, request->arena, &JOBS, jobs, job_count, request->error, "s",
		buffer_string(&ids));
}

static json_t *listed_json(
	struct arena *arena, const struct listed *row, const struct listed_job *jobs, size_t job_count)
{
	json_t *runs = json_array();
	bool done = true;
	for (size_t i = 0; i < job_count; i++) {
		if (jobs[i].submission_id != row->id)
			continue;
		done = done && !jobs[i].open;
		json_array_append_new(runs,
			json_pack("{s:s, s:o, s:o}", "gpu_type", jobs[i].gpu, "score",
				popcorn_seconds(jobs[i].score_ns, jobs[i].score_err_ns), "verdict",
				json_text(jobs[i].verdict)));
	}
	return json_pack("{s:I, s:s, s:s, s:o, s:b, s:o}", "id", (json_int_t)row->id,
		"leaderboard_name", row->leaderboard, "file_name", popcorn_ascii(arena, row->file_name),
		"submission_time", popcorn_time(row->submitted_at_ms), "done", done, "runs", runs);
}

int popcorn_submissions(struct request *request)
{
	struct listed *rows;
	struct listed_job *jobs;
	size_t count, job_count;
	int rc = read_listed_submissions(request, &rows, &count);
	if (!rc)
		rc = read_listed_jobs(request, rows, count, &jobs, &job_count);
	if (rc)
		return rc;
	json_t *list = json_array();
	for (size_t i = 0; i < count; i++)
		json_array_append_new(list, listed_json(request->arena, &rows[i], jobs, job_count));
	return respond_json(request, list);
}

/* ---- one submission ---- */

int popcorn_read_own(
	struct request *request, int64_t id, const char *action, struct popcorn_result *result)
{
	int rc = popcorn_result_read(
		request->db, request->arena, id, request->viewer.id, result, request->error);
	bool is_own = !rc && viewer_acts_for(&request->viewer, result->user_id);
	if (rc == ERROR_NOT_FOUND || (!rc && !is_own && !result->sees))
		return fail(request->error, ERROR_NOT_FOUND, "Submission not found");
	if (!rc && !is_own)
		return fail(
			request->error, ERROR_FORBIDDEN, "Not authorized to %s this submission", action);
	return rc;
}

/* Reads the submission whose number is in the URL. */
static int read_own(struct request *request, const char *action, struct popcorn_result *result)
{
	int64_t id;
	int rc = api_path_id(request, 0, "submission", &id);
	return rc ? rc : popcorn_read_own(request, id, action, result);
}

static json_t *submission_result_json(struct request *request, const struct popcorn_result *result)
{
	struct arena *arena = request->arena;
	int64_t heartbeat_ms = TIME_NULL;
	for (size_t i = 0; i < result->job_count; i++)
		if (result->jobs[i].heartbeat_ms != TIME_NULL)
			heartbeat_ms = result->jobs[i].heartbeat_ms;
	return json_pack("{s:I, s:I, s:s, s:s, s:s, s:o, s:b, s:s, s:o, s:{s:s, s:o, s:o}, s:o}", "id",
		(json_int_t)result->id, "leaderboard_id", (json_int_t)result->leaderboard_id,
		"leaderboard_name", result->leaderboard, "file_name",
		popcorn_ascii(arena, result->file_name), "user_id",
		arena_printf(arena, "%lld", (long long)result->user_id), "submission_time",
		popcorn_time(result->submitted_at_ms), "done", popcorn_is_done(result), "code", "", "runs",
		popcorn_runs(result), "job", "status", popcorn_status(result), "error",
		json_text(popcorn_failure(arena, request->config, result)), "last_heartbeat",
		popcorn_time(heartbeat_ms), "runner_queue", popcorn_queue(result));
}

/* Keeps the answer for polls while the database does not answer. Call it before adding the source,
 * because popcorn_state_keep drops long answers. */
static void keep_state(struct request *request, int64_t id, json_t *json)
{
	const char *secret = request_header(request, "X-Popcorn-Cli-Id");
	cleanup_free char *text = secret ? json_dumps(json, JSON_ENSURE_ASCII | JSON_COMPACT) : NULL;
	if (text)
		popcorn_state_keep(secret, id, text);
}

int popcorn_submission(struct request *request)
{
	struct popcorn_result result;
	int rc = read_own(request, "view", &result);
	if (!rc && result.withdrawn)
		rc = fail(request->error, ERROR_NOT_FOUND,
			"Submission not found: you have withdrawn it. You can restore it at "
			"%s/submission/%lld.",
			request->config->public_url, (long long)result.id);
	if (rc)
		return rc;
	json_t *json = submission_result_json(request, &result);
	keep_state(request, result.id, json);
	json_object_set_new(json, "code",
		json_stringn(result.source.bytes ? result.source.bytes : "", result.source.length));
	return respond_json(request, json);
}

/* Deletes nothing: cancels open jobs and withdraws the submission, which still counts toward the
 * quota. */
int popcorn_submission_delete(struct request *request)
{
	struct popcorn_result result;
	struct cancellation done;
	const struct actor actor = actor_of(request);
	int rc = read_own(request, "delete", &result);
	if (!rc && !popcorn_is_done(&result))
		rc = submission_cancel(
			request->db, result.id, result.user_id, &actor, &done, request->error);
	if (!rc)
		rc = submission_withdraw(request->db, result.id, result.user_id, &actor, request->error);
	return rc ? rc
			  : respond_json(request,
				  json_pack("{s:s, s:I}", "status", "ok", "submission_id", (json_int_t)result.id));
}
