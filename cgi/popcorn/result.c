#include "cgi/popcorn/result.h"

#include "lib/base/format.h"
#include "lib/base/scope.h"
#include "lib/job/job.h"
#include "lib/job/wait.h"
#include "lib/result/verdict.h"

#include <math.h>
#include <sodium.h>
#include <string.h>
#include <strings.h>

/* ---- reading ---- */

static const struct column RESULT_COLUMNS[] = {
	INTEGER(struct popcorn_result, id),
	INTEGER(struct popcorn_result, user_id),
	INTEGER(struct popcorn_result, leaderboard_id),
	TIME(struct popcorn_result, submitted_at_ms),
	INTEGER(struct popcorn_result, practice),
	INTEGER(struct popcorn_result, withdrawn),
	INTEGER(struct popcorn_result, sees),
	TEXT(struct popcorn_result, leaderboard),
	TEXT(struct popcorn_result, file_name),
	TEXT(struct popcorn_result, mode),
	BLOB(struct popcorn_result, source),
};
#define RESULT_WITH(source, sees) \
	SELECT(struct popcorn_result, RESULT_COLUMNS, \
		"SELECT s.id, s.user_id, s.leaderboard_id, s.submitted_at AS submitted_at_ms, " \
		"s.practice, s.withdrawn_at IS NOT NULL AS withdrawn, " \
		"  " sees " AS sees, l.name AS leaderboard, s.file_name, s.mode, " source " AS source " \
		"FROM submissions s JOIN leaderboards l ON l.id = s.leaderboard_id WHERE s.id = ? AND " \
		"NOT s.dry_run")
static const struct statement RESULT =
	RESULT_WITH("(SELECT b.content FROM blobs b WHERE b.sha256 = s.sha256)", SQL_MAY_SEE("l"));
static const struct statement RESULT_ALONE = RESULT_WITH("NULL", "1");

/* One statement reads the states and verdicts of all jobs, so a submission never appears as done
 * without its verdicts. */
static const struct column JOB_COLUMNS[] = {
	INTEGER(struct popcorn_job, id),
	TEXT(struct popcorn_job, gpu),
	TEXT(struct popcorn_job, state),
	TEXT(struct popcorn_job, verdict),
	TEXT(struct popcorn_job, reason),
	TEXT(struct popcorn_job, progress),
	REAL(struct popcorn_job, score_ns),
	REAL(struct popcorn_job, score_err_ns),
	TEXT(struct popcorn_job, environment),
	TIME(struct popcorn_job, started_at_ms),
	TIME(struct popcorn_job, finished_at_ms),
	TIME(struct popcorn_job, heartbeat_ms),
	INTEGER(struct popcorn_job, open),
	INTEGER(struct popcorn_job, queued),
	INTEGER(struct popcorn_job, held),
	INTEGER(struct popcorn_job, place),
	INTEGER(struct popcorn_job, is_tied),
};
#define STOPPING_JOB SQL_IS_STOPPING("j")
#define HELD_JOB SQL_IS_HELD("j")
static const struct statement JOBS = SELECT(struct popcorn_job, JOB_COLUMNS,
	"SELECT j.id, j.gpu, j.state, j.verdict, j.reason, j.progress, j.score_ns, j.score_err_ns, "
	"j.environment, "
	"j.started_at AS started_at_ms, j.finished_at AS finished_at_ms, "
	"(SELECT w.seen_at FROM workers w WHERE w.name = j.lease_owner "
	"AND j.state = 'running') AS heartbeat_ms, "
	"j.state IN ('queued', 'running') OR " STOPPING_JOB " AS `open`, "
	"j.state = 'queued' AS queued, " HELD_JOB " AS held, "
	"r.place, r.tied AS is_tied "
	"FROM jobs j JOIN submissions s ON s.id = j.submission_id "
	"LEFT JOIN leaderboard_gpus g ON g.leaderboard_id = s.leaderboard_id AND g.gpu = j.gpu "
	"LEFT JOIN ranking r ON r.leaderboard_id = s.leaderboard_id "
	"AND r.task_version_id = s.task_version_id AND r.gpu = j.gpu AND r.user_id = s.user_id "
	"AND r.job_id = j.id "
	"WHERE j.submission_id = ? ORDER BY COALESCE(g.position, 999), j.gpu");

static const struct column STAGE_COLUMNS[] = {
	INTEGER(struct popcorn_stage, id),
	INTEGER(struct popcorn_stage, job_id),
	INTEGER(struct popcorn_stage, exit_code),
	INTEGER(struct popcorn_stage, duration_ms),
	TEXT(struct popcorn_stage, name),
	TEXT(struct popcorn_stage, verdict),
	TEXT(struct popcorn_stage, message),
	TEXT(struct popcorn_stage, command),
	TEXT(struct popcorn_stage, out),
	TEXT(struct popcorn_stage, err),
};
#define STAGES_WITH(command, out, err) \
	SELECT(struct popcorn_stage, STAGE_COLUMNS, \
		"SELECT t.id, t.job_id, t.exit_code, t.duration_ms, t.name, t.verdict, " \
		"t.message, " command " AS command, " out " AS `out`, " \
		"  " err " AS err " \
		"FROM stages t JOIN jobs j ON j.id = t.job_id WHERE j.submission_id = ? ORDER BY " \
		"t.job_id, t.position")
static const struct statement STAGES = STAGES_WITH("''", "''", "''"),
							  STAGES_WITH_OUTPUT = STAGES_WITH("t.command", "t.stdout", "t.stderr");

static const struct column CASE_COLUMNS[] = {
	INTEGER(struct popcorn_case, stage_id),
	INTEGER(struct popcorn_case, case_index),
	TEXT(struct popcorn_case, spec),
	TEXT(struct popcorn_case, verdict),
	TEXT(struct popcorn_case, message),
	INTEGER(struct popcorn_case, runs),
	REAL(struct popcorn_case, mean_ns),
	REAL(struct popcorn_case, std_ns),
	REAL(struct popcorn_case, err_ns),
	REAL(struct popcorn_case, best_ns),
	REAL(struct popcorn_case, worst_ns),
	INTEGER(struct popcorn_case, blocks),
	TEXT(struct popcorn_case, report),
};
#define CASES_WITH(report) \
	SELECT(struct popcorn_case, CASE_COLUMNS, \
		"SELECT m.stage_id, m.case_index, m.spec, m.verdict, m.message, m.runs, m.mean_ns, " \
		"m.std_ns, m.err_ns, m.best_ns, m.worst_ns, m.blocks, " \
		"  " report " AS report FROM measurements m JOIN stages t ON t.id = m.stage_id JOIN jobs " \
		"j ON j.id = t.job_id " \
		"WHERE j.submission_id = ? ORDER BY t.job_id, t.position, m.case_index")
static const struct statement CASES = CASES_WITH("NULL"),
							  CASES_WITH_REPORTS = CASES_WITH("m.report");

static const struct statement *const PARTS[] = { &JOBS, &STAGES, &CASES, &wait_reading };
static const struct bundle SHORT = BUNDLE(PARTS);
static const struct statement *const WHOLE_PARTS[] = { &JOBS, &STAGES_WITH_OUTPUT,
	&CASES_WITH_REPORTS };
static const struct bundle WHOLE = BUNDLE(WHOLE_PARTS);

static void attach_cases(
	struct popcorn_stage *stages, size_t stage_count, struct popcorn_case *cases, size_t case_count)
{
	for (size_t i = 0; i < stage_count; i++)
		for (size_t c = 0; c < case_count; c++)
			if (cases[c].stage_id == stages[i].id && !stages[i].case_count++)
				stages[i].cases = &cases[c];
}

static void attach_stages(struct popcorn_result *result, const struct database_answer *answers)
{
	result->jobs = answers[0].rows;
	result->job_count = answers[0].count;
	struct popcorn_stage *stages = answers[1].rows;
	attach_cases(stages, answers[1].count, answers[2].rows, answers[2].count);
	for (size_t j = 0; j < result->job_count; j++)
		for (size_t i = 0; i < answers[1].count; i++)
			if (stages[i].job_id == result->jobs[j].id && !result->jobs[j].stage_count++)
				result->jobs[j].stages = &stages[i];
}

/* In the order of the queue's page. */
static void find_places_in_line(
	struct arena *arena, struct popcorn_result *result, const struct database_answer *answer)
{
	struct wait *waits = arena_array(arena, struct wait, result->job_count + 1);
	int64_t *ids = arena_array(arena, int64_t, result->job_count + 1);
	for (size_t i = 0; i < result->job_count; i++)
		ids[i] = result->jobs[i].id;
	wait_of_jobs(arena, answer, ids, result->job_count, waits);
	for (size_t i = 0; i < result->job_count; i++)
		if (waits[i].position > 0)
			result->jobs[i].before = waits[i].position - 1;
}

int popcorn_result_read(struct database *db, struct arena *arena, int64_t id, int64_t viewer_id,
	struct popcorn_result *result, struct error *error)
{
	struct database_answer answers[COUNT(PARTS)];
	int rc = database_row(db, arena, &RESULT, result, error, "ii", viewer_id, id);
	if (!rc)
		rc = database_answers(
			db, arena, &SHORT, answers, error, "iiiii", id, id, id, (int64_t)0, id);
	if (rc)
		return rc;
	attach_stages(result, answers);
	find_places_in_line(arena, result, &answers[3]);
	return 0;
}

int popcorn_result_read_whole(struct database *db, struct arena *arena, int64_t id,
	struct popcorn_result *result, struct error *error)
{
	struct database_answer answers[COUNT(WHOLE_PARTS)];
	int rc = database_row(db, arena, &RESULT_ALONE, result, error, "i", id);
	if (!rc)
		rc = database_answers(db, arena, &WHOLE, answers, error, "iii", id, id, id);
	if (!rc)
		attach_stages(result, answers);
	return rc;
}

/* ---- words ---- */

static const struct {
	const char *ours, *theirs;
} MODES[] = {
	{ "test", "test" },
	{ "benchmark", "benchmark" },
	{ "ranked", "leaderboard" },
	{ "profile", "profile" },
	{ "ranked", "ranked" },
};

const char *popcorn_mode(const char *mode)
{
	for (size_t i = 0; i < COUNT(MODES); i++)
		if (strcmp(MODES[i].ours, mode) == 0)
			return MODES[i].theirs;
	return NULL;
}

const char *popcorn_mode_of_ours(const char *mode)
{
	for (size_t i = 0; i < COUNT(MODES); i++)
		if (strcasecmp(MODES[i].theirs, mode) == 0)
			return MODES[i].ours;
	return NULL;
}

bool popcorn_is_done(const struct popcorn_result *result)
{
	for (size_t i = 0; i < result->job_count; i++)
		if (result->jobs[i].open)
			return false;
	return true;
}

bool popcorn_has_passed(const char *verdict)
{
	return verdict && strcmp(verdict, verdict_name(VERDICT_PASSED)) == 0;
}

/* Returns the first job that did not pass; NULL: all passed. */
static const struct popcorn_job *first_failed(const struct popcorn_result *result)
{
	for (size_t i = 0; i < result->job_count; i++)
		if (!popcorn_has_passed(result->jobs[i].verdict))
			return &result->jobs[i];
	return NULL;
}

const char *popcorn_status(const struct popcorn_result *result)
{
	if (!popcorn_is_done(result)) {
		for (size_t i = 0; i < result->job_count; i++)
			if (!result->jobs[i].queued)
				return "running";
		return "pending";
	}
	const struct popcorn_job *failed = first_failed(result);
	if (!failed && result->job_count)
		return "succeeded";
	bool timed_out =
		failed && failed->verdict && strcmp(failed->verdict, verdict_name(VERDICT_TIME_LIMIT)) == 0;
	return timed_out ? "timed_out" : "failed";
}

const char *popcorn_failure(
	struct arena *arena, const struct config *config, const struct popcorn_result *result)
{
	const struct popcorn_job *job = popcorn_is_done(result) ? first_failed(result) : NULL;
	if (!job)
		return result->job_count ? NULL : "The submission has no job, so nothing ran.";
	const char *reason =
		job->reason && *job->reason ? job->reason : verdict_advice(verdict_from_name(job->verdict));
	return arena_printf(arena, "%s on %s. %s Details: %s/submission/%lld",
		job->verdict ? job->verdict : job->state, job->gpu, reason ? reason : "",
		config->public_url, (long long)result->id);
}

json_t *popcorn_time(int64_t ms)
{
	format_text text;
	format_iso(text, ms == TIME_NULL ? 0 : ms);
	return ms == TIME_NULL ? json_null() : json_string(text);
}

json_t *popcorn_seconds(double ns, double err_ns)
{
	return isfinite(ns) ? json_real(rounded_seconds(ns, err_ns)) : json_null();
}

const char *popcorn_ascii(struct arena *arena, const char *text)
{
	char *plain = arena_strdup(arena, text), *end = plain;
	for (const char *at = plain; *at; at++)
		if (((unsigned char)*at & 0xc0) != 0x80) /* one '_' for each character */
			*end++ = (unsigned char)*at < 0x20 || (unsigned char)*at > 0x7e ? '_' : *at;
	*end = '\0';
	return plain;
}

/* ---- a stage's result with kernelbot's keys ---- */

const char *popcorn_stage_mode(const struct popcorn_stage *stage)
{
	return strcmp(stage->name, "compile") == 0 ? NULL : popcorn_mode(stage->name);
}

static void set_text(json_t *out, const char *key, const char *text)
{
	json_object_set_new(out, key, json_string(text));
}

static void set_real(json_t *out, const char *key, double value)
{
	char text[40];
	snprintf(text, sizeof text, "%.17g", value);
	if (isfinite(value))
		set_text(out, key, text);
}

static void set_times(json_t *out, const char *begin, const struct popcorn_case *one)
{
	const struct {
		const char *name;
		double ns;
	} times[] = {
		{ "mean", one->mean_ns },
		{ "std", one->std_ns },
		{ "err", one->err_ns },
		{ "best", one->best_ns },
		{ "worst", one->worst_ns },
	};
	char key[64];
	for (size_t i = 0; i < COUNT(times); i++) {
		snprintf(key, sizeof key, "%s.%s", begin, times[i].name);
		set_real(out, key, times[i].ns);
	}
	if (one->runs != SQL_NULL_INTEGER) {
		snprintf(key, sizeof key, "%s.runs", begin);
		set_real(out, key, (double)one->runs);
	}
}

json_t *popcorn_base64(const void *bytes, size_t length)
{
	size_t size = sodium_base64_ENCODED_LEN(length, sodium_base64_VARIANT_ORIGINAL);
	cleanup_free char *text = malloc(size);
	return text
		? json_string(sodium_bin2base64(text, size, bytes, length, sodium_base64_VARIANT_ORIGINAL))
		: NULL;
}

static void set_case(json_t *out, const char *kind, size_t index, const struct popcorn_case *one)
{
	char begin[40], key[64];
	bool passed = popcorn_has_passed(one->verdict), is_test = strcmp(kind, "test") == 0;
	snprintf(begin, sizeof begin, "%s.%zu", kind, index);
	snprintf(key, sizeof key, "%s.spec", begin);
	set_text(out, key, one->spec);
	snprintf(key, sizeof key, "%s.status", begin);
	if (is_test || !passed)
		set_text(out, key, passed ? "pass" : "fail");
	snprintf(key, sizeof key, "%s.%s", begin, passed ? "message" : "error");
	if (*one->message)
		set_text(out, key, one->message);
	set_times(out, begin, one);
	snprintf(key, sizeof key, "%s.report", begin);
	if (one->report)
		json_object_set_new(out, key, popcorn_base64(one->report, strlen(one->report)));
}

/* Numbers are strings, except counts: popcorn-cli shows a profile's report only if its count is a
 * number. */
json_t *popcorn_stage_result(const struct popcorn_stage *stage)
{
	json_t *out = json_object();
	const char *kind = strcmp(stage->name, "test") == 0 ? "test" : "benchmark";
	json_object_set_new(out, strcmp(kind, "test") == 0 ? "test-count" : "benchmark-count",
		json_integer((json_int_t)stage->case_count));
	for (size_t i = 0; i < stage->case_count; i++)
		set_case(out, kind, i, &stage->cases[i]);
	set_text(out, "check", popcorn_has_passed(stage->verdict) ? "pass" : "fail");
	return out;
}

/* ---- polling ---- */

json_t *popcorn_queue(const struct popcorn_result *result)
{
	for (size_t i = 0; i < result->job_count; i++)
		if (result->jobs[i].queued)
			return json_pack("{s:s, s:s, s:I, s:n, s:n, s:s, s:n}", "runner", "Podium", "gpu",
				result->jobs[i].gpu, "queued_jobs", (json_int_t)result->jobs[i].before,
				"running_jobs", "available_runners", "status", "available", "error");
	return json_null();
}

static json_t *run_json(const struct popcorn_job *job, const struct popcorn_stage *stage)
{
	bool is_ranked = strcmp(stage->name, "ranked") == 0,
		 passed = popcorn_has_passed(stage->verdict);
	return json_pack("{s:o, s:o, s:s, s:b, s:s, s:o, s:b, s:o}", "start_time",
		popcorn_time(job->started_at_ms), "end_time", popcorn_time(job->finished_at_ms), "mode",
		popcorn_stage_mode(stage), "secret", 0, "runner", job->gpu, "score",
		is_ranked && passed ? popcorn_seconds(job->score_ns, job->score_err_ns) : json_null(),
		"passed", passed, "result", stage->verdict ? popcorn_stage_result(stage) : json_null());
}

json_t *popcorn_runs(const struct popcorn_result *result)
{
	json_t *runs = json_array();
	for (size_t j = 0; j < result->job_count; j++)
		for (size_t i = 0; i < result->jobs[j].stage_count; i++)
			if (popcorn_stage_mode(&result->jobs[j].stages[i]))
				json_array_append_new(runs, run_json(&result->jobs[j], &result->jobs[j].stages[i]));
	return runs;
}
