/* popcorn-cli's admin commands for the site and its submissions. */
#include "cgi/popcorn/admin.h"

#include "cgi/action/cancellation.h"
#include "cgi/action/moderation.h"
#include "cgi/api/api.h"
#include "cgi/popcorn/popcorn.h"
#include "lib/base/scope.h"
#include "lib/intake/intake.h"
#include "lib/leaderboard/role.h"

#include <string.h>

int popcorn_ok(struct request *request, json_t *members)
{
	json_t *json = json_pack("{s:s}", "status", "ok");
	if (members)
		json_object_update(json, members);
	json_decref(members);
	return respond_json(request, json);
}

/* ---- intake ---- */

static int set_intake(struct request *request, bool accepts)
{
	const struct actor actor = actor_of(request);
	int rc = intake_set(request->db, accepts, &actor, request->error);
	return rc ? rc : popcorn_ok(request, json_pack("{s:b}", "accepts_jobs", accepts));
}

int popcorn_admin_start(struct request *request)
{
	return set_intake(request, true);
}

int popcorn_admin_stop(struct request *request)
{
	return set_intake(request, false);
}

/* ---- statistics ---- */

struct totals {
	int64_t submissions, waiting, users, codes;
};
static const struct column TOTAL_COLUMNS[] = {
	INTEGER(struct totals, submissions),
	INTEGER(struct totals, waiting),
	INTEGER(struct totals, users),
	INTEGER(struct totals, codes),
};
/* SQL condition. Binds whether to count only the last day, and a leaderboard's name; "": all. */
#define SINCE \
	"s.submitted_at > IF(?, UTC_TIMESTAMP(3) - INTERVAL 1 DAY, '1000-01-01') AND ? IN ('', " \
	"l.name) AND NOT s.dry_run"
static const struct statement TOTALS = SELECT(struct totals, TOTAL_COLUMNS,
	"SELECT COUNT(*) AS submissions, "
	"  CAST(COALESCE(SUM(EXISTS (SELECT 1 FROM jobs j WHERE j.submission_id = s.id "
	"AND j.state = 'queued')), 0) AS SIGNED) AS waiting, "
	"  COUNT(DISTINCT s.user_id) AS users, COUNT(DISTINCT s.sha256) AS codes "
	"FROM submissions s JOIN leaderboards l ON l.id = s.leaderboard_id WHERE " SINCE);

struct device_row {
	const char *gpu;
	int64_t runs, passed, scored;
	double most_delay_s, mean_delay_s, runtime_s;
};
static const struct column DEVICE_COLUMNS[] = {
	TEXT(struct device_row, gpu),
	INTEGER(struct device_row, runs),
	INTEGER(struct device_row, passed),
	INTEGER(struct device_row, scored),
	REAL(struct device_row, most_delay_s),
	REAL(struct device_row, mean_delay_s),
	REAL(struct device_row, runtime_s),
};
static const struct statement DEVICES = SELECT(struct device_row, DEVICE_COLUMNS,
	"SELECT j.gpu, COUNT(*) AS runs, CAST(SUM(j.verdict = 'passed') AS SIGNED) AS passed, "
	"  CAST(SUM(j.score_ns IS NOT NULL AND j.verdict = 'passed') AS SIGNED) AS scored, "
	"  MAX(TIMESTAMPDIFF(MICROSECOND, j.queued_at, j.started_at) / 1e6) AS most_delay_s, "
	"  AVG(TIMESTAMPDIFF(MICROSECOND, j.queued_at, j.started_at) / 1e6) AS mean_delay_s, "
	"  SUM(TIMESTAMPDIFF(MICROSECOND, j.started_at, j.finished_at) / 1e6) AS runtime_s "
	"FROM jobs j JOIN submissions s ON s.id = j.submission_id "
	"JOIN leaderboards l ON l.id = s.leaderboard_id "
	"WHERE j.finished_at IS NOT NULL AND j.started_at IS NOT NULL AND " SINCE
	" GROUP BY j.gpu ORDER BY j.gpu");

struct heavy_row {
	int64_t user_id;
	double runtime_s;
};
static const struct column HEAVY_COLUMNS[] = { INTEGER(struct heavy_row, user_id),
	REAL(struct heavy_row, runtime_s) };
static const struct statement HEAVY = SELECT(struct heavy_row, HEAVY_COLUMNS,
	"SELECT s.user_id, SUM(TIMESTAMPDIFF(MICROSECOND, j.started_at, "
	"j.finished_at) / 1e6) AS runtime_s "
	"FROM jobs j JOIN submissions s ON s.id = j.submission_id "
	"JOIN leaderboards l ON l.id = s.leaderboard_id "
	"WHERE j.finished_at IS NOT NULL AND j.started_at IS NOT NULL AND " SINCE
	" GROUP BY s.user_id ORDER BY runtime_s DESC LIMIT 10");

static const struct statement *const STATS_PARTS[] = { &TOTALS, &DEVICES, &HEAVY };
static const struct bundle STATS = BUNDLE(STATS_PARTS);

static void add_device_stats(struct arena *arena, json_t *stats, const struct device_row *row)
{
	const struct {
		const char *name;
		json_t *value;
	} figures[] = {
		{ "num_run", json_integer(row->runs) },
		{ "runs_passed", json_integer(row->passed) },
		{ "runs_scored", json_integer(row->scored) },
		{ "runs_secret", json_integer(0) },
		{ "max_delay", json_number(row->most_delay_s) },
		{ "avg_delay", json_number(row->mean_delay_s) },
		{ "total_runtime", json_number(row->runtime_s) },
	};
	for (size_t i = 0; i < COUNT(figures); i++)
		json_object_set_new(
			stats, arena_printf(arena, "%s.%s", figures[i].name, row->gpu), figures[i].value);
}

int popcorn_admin_stats(struct request *request)
{
	const char *day = request_query(request, "last_day_only"),
			   *leaderboard = request_query(request, "leaderboard_name");
	int64_t is_day = day && strcmp(day, "true") == 0;
	struct database_answer answers[COUNT(STATS_PARTS)] = { 0 };
	const char *name = leaderboard ? leaderboard : "";
	int rc = database_answers(request->db, request->arena, &STATS, answers, request->error,
		"isisis", is_day, name, is_day, name, is_day, name);
	if (rc)
		return rc;
	const struct totals *totals = answers[0].rows;
	const struct device_row *devices = answers[1].rows;
	const struct heavy_row *users = answers[2].rows;
	json_t *stats = json_pack("{s:I, s:I, s:I}", "num_submissions", (json_int_t)totals->submissions,
		"sub_waiting", (json_int_t)totals->waiting, "num_users", (json_int_t)totals->users);
	for (size_t i = 0; i < answers[1].count; i++)
		add_device_stats(request->arena, stats, &devices[i]);
	if (!is_day)
		json_object_set_new(stats, "num_unique_codes", json_integer(totals->codes));
	for (size_t i = 0; is_day && i < answers[2].count; i++)
		json_object_set_new(stats,
			arena_printf(request->arena, "total.%lld", (long long)users[i].user_id),
			json_number(users[i].runtime_s));
	return popcorn_ok(request, json_pack("{s:o}", "stats", stats));
}

/* ---- submissions ---- */

static int read_submission(
	struct request *request, enum leaderboard_right least, struct popcorn_result *result)
{
	int64_t id;
	int rc = api_path_id(request, 0, "submission", &id);
	if (!rc)
		rc = leaderboard_right_to_submission(
			request->db, request->arena, request->viewer.id, id, least, request->error);
	if (!rc)
		rc = popcorn_result_read(
			request->db, request->arena, id, request->viewer.id, result, request->error);
	return rc == ERROR_NOT_FOUND ? fail(request->error, rc, "Submission not found") : rc;
}

int popcorn_admin_submission(struct request *request)
{
	struct popcorn_result result;
	int rc = read_submission(request, RIGHT_READ, &result);
	if (rc)
		return rc;
	int64_t heartbeat_ms = result.job_count ? result.jobs[0].heartbeat_ms : TIME_NULL;
	json_t *submission = json_pack("{s:I, s:I, s:s, s:s, s:s, s:o, s:b, s:o, s:s, s:o, s:o}",
		"submission_id", (json_int_t)result.id, "leaderboard_id", (json_int_t)result.leaderboard_id,
		"leaderboard_name", result.leaderboard, "file_name",
		popcorn_ascii(request->arena, result.file_name), "user_id",
		arena_printf(request->arena, "%lld", (long long)result.user_id), "submission_time",
		popcorn_time(result.submitted_at_ms), "done", popcorn_is_done(&result), "runs",
		popcorn_runs(&result), "job_status", popcorn_status(&result), "job_error",
		json_text(popcorn_failure(request->arena, request->config, &result)), "job_last_heartbeat",
		popcorn_time(heartbeat_ms));
	json_object_set_new(submission, "code",
		json_stringn(result.source.bytes ? result.source.bytes : "", result.source.length));
	return popcorn_ok(request, json_pack("{s:o}", "submission", submission));
}

/* Deletes nothing: cancels the submission and hides it from all but its readers. */
int popcorn_admin_submission_delete(struct request *request)
{
	struct popcorn_result result;
	struct cancellation done;
	const struct actor actor = actor_of(request);
	int rc = read_submission(request, RIGHT_CHANGE, &result);
	if (!rc && !popcorn_is_done(&result))
		rc = submission_cancel(
			request->db, result.id, result.user_id, &actor, &done, request->error);
	if (!rc)
		rc = submission_hide(
			request->db, result.id, "It was deleted with popcorn-cli.", &actor, request->error);
	if (rc == ERROR_CONFLICT)
		rc = 0; /* already hidden */
	return rc ? rc
			  : popcorn_ok(request, json_pack("{s:I}", "submission_id", (json_int_t)result.id));
}
