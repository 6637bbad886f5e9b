/* Reads a submission: its results, its state for polling, its samples, source and output. Lists the
 * viewer's submissions. */
#include "cgi/api/submission.h"

#include "cgi/api/api.h"
#include "cgi/api/calls.h"
#include "cgi/http/paging.h"
#include "cgi/page/history.h"
#include "lib/base/format.h"
#include "lib/base/interval.h"
#include "lib/base/quote.h"
#include "lib/base/scope.h"
#include "lib/base/text.h"
#include "lib/gpu/floor.h"
#include "lib/gpu/peaks.h"
#include "lib/leaderboard/leaderboard.h"
#include "lib/result/result.h"
#include "lib/result/verdict.h"

#include <math.h>
#include <string.h>

/* Like submission_state, but returns "failed" or "cancelled" instead of "done" if no job has a
 * result. */
const char *submission_outcome(const struct job_row *jobs, size_t count)
{
	const char *state = submission_state(jobs, count);
	size_t cancelled = 0, failed = 0;
	for (size_t i = 0; i < count; i++) {
		cancelled += strcmp(jobs[i].state, "cancelled") == 0;
		failed += strcmp(jobs[i].state, "failed") == 0;
	}
	if (strcmp(state, "done") != 0 || !count || cancelled + failed < count)
		return state;
	return failed ? "failed" : "cancelled";
}

/* ---- jobs ---- */

/* Returns when the job is expected to start, rounded up to 10 s so that repeated polls give the
 * same answer; null: unknown. */
static json_t *expected_start(const struct job_row *job)
{
	enum { step_ms = 10000 };
	if (strcmp(job->state, "queued") != 0 || !job->start || !isfinite(job->start_ms))
		return json_null();
	int64_t at_ms = now_ms() + (int64_t)job->start_ms;
	return json_moment((at_ms + step_ms - 1) / step_ms * step_ms);
}

static json_t *position_of(const struct job_row *job)
{
	return strcmp(job->state, "queued") == 0 ? json_integer(job->ahead + 1) : json_null();
}

static const char *stage_of(const struct job_row *job)
{
	return job->stopping == 1 ? "cancelling" : *job->progress ? job->progress : NULL;
}

/* Reads the numbers from a progress such as "test 4/12": 4 of 12 cases have finished. */
static json_t *progress_of(const struct job_row *job)
{
	long long done, all;
	const char *digits = job->progress + strcspn(job->progress, "0123456789");
	if (sscanf(digits, "%lld/%lld", &done, &all) != 2)
		return json_null();
	return json_pack("{s:I, s:I}", "done", (json_int_t)done, "of", (json_int_t)all);
}

static json_t *job_state_json(const struct job_row *job)
{
	return json_pack("{s:s, s:s, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o}", "gpu",
		job->gpu, "state", job->state, "verdict", json_text(job->verdict), "reason",
		json_text(job->reason), "message", json_text(job->words), "stage", json_text(stage_of(job)),
		"progress", progress_of(job), "position", position_of(job), "expected_start",
		expected_start(job), "score_ns", json_number(job->score_ns), "score_err_ns",
		json_number(job->score_err_ns), "floor_ns",
		json_number(floor_reached_ns(job->gpu, job->score_ns)));
}

/* ---- results of a job ---- */

static json_t *case_json(
	const struct submission_row *row, const struct job_row *job, const struct case_row *one)
{
	double floor_ns = floor_reached_ns(job->gpu, one->mean_ns),
		   rated_ns = floor_ns > 0 ? NAN : one->mean_ns;
	const struct interval interval = floor_interval_of(job->gpu, one->mean_ns, one->err_ns);
	struct rates rates = rates_of_case(row->flops, row->bytes, one->spec, rated_ns, job->gpu);
	double share = fmax(rates.memory_percent, rates.compute_percent) / 100;
	return json_pack(
		"{s:I, s:s, s:s, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o, "
		"s:o, s:o, s:o}",
		"index", (json_int_t)one->number - 1, "spec", one->spec, "verdict", one->verdict, "message",
		json_text(one->message && *one->message ? one->message : NULL), "runs",
		json_count(one->runs), "mean_ns", json_number(one->mean_ns), "err_ns",
		json_number(one->err_ns), "lower_ns", json_number(interval.low_ns), "upper_ns",
		json_number(interval.high_ns), "floor_ns", json_number(floor_ns), "best_ns",
		json_number(one->best_ns), "worst_ns", json_number(one->worst_ns), "median_ns",
		json_number(one->median_ns), "constant_ns", json_number(one->constant_ns), "flops",
		json_number(peaks_evaluate(row->flops, one->spec)), "bytes",
		json_number(peaks_evaluate(row->bytes, one->spec)), "peak_share", json_number(share),
		"report", json_text(one->report), "plan", plan_json(one->plan));
}

static json_t *artifacts_json(const struct stage_row *stage)
{
	json_t *list = json_array();
	for (size_t i = 0; i < stage->artifact_count; i++)
		json_array_append_new(list,
			json_pack("{s:I, s:s, s:I}", "id", (json_int_t)stage->artifacts[i].id, "name",
				stage->artifacts[i].name, "size_bytes", (json_int_t)stage->artifacts[i].size));
	return list;
}

/* Returns the stage's stdout followed by its stderr; null if the viewer may not see the output. */
static json_t *output_json(
	struct arena *arena, const struct submission_view *view, const struct stage_row *stage)
{
	if (!view->may_see_output)
		return json_null();
	bool gap = *stage->out && *stage->err && !text_ends_with(stage->out, "\n");
	return json_text(arena_printf(arena, "%s%s%s", stage->out, gap ? "\n" : "", stage->err));
}

static bool is_cut(const char *output)
{
	const char *gap = strstr(output, "[... ");
	return gap && strstr(gap, " bytes left out ...]");
}

static json_t *stage_json(struct request *request, const struct submission_view *view,
	const struct job_row *job, const struct stage_row *stage)
{
	json_t *cases = json_array();
	for (size_t i = 0; i < stage->case_count; i++)
		json_array_append_new(cases, case_json(view->row, job, &stage->cases[i]));
	double duration_ns =
		stage->duration_ms == SQL_NULL_INTEGER ? NAN : 1e6 * (double)stage->duration_ms;
	return json_pack("{s:s, s:o, s:o, s:o, s:o, s:o, s:b, s:o, s:o}", "name", stage->name,
		"verdict", json_text(stage->verdict), "message",
		json_text(*stage->message ? stage->message : NULL), "exit_code",
		json_count(stage->exit_code), "duration_ns", json_number(duration_ns), "output",
		output_json(request->arena, view, stage), "output_cut",
		(int)(view->may_see_output && (is_cut(stage->out) || is_cut(stage->err))), "cases", cases,
		"artifacts", artifacts_json(stage));
}

/* Returns the job's environment. The members have the same names as on the submission's page. */
static json_t *environment_json(struct arena *arena, const struct job_row *job)
{
	struct fact *facts;
	json_t *json = json_object();
	size_t count = result_environment(arena, job->environment, &facts);
	for (size_t i = 0; i < count; i++)
		json_object_set_new(json, facts[i].name, json_text(facts[i].value));
	return json;
}

static const char *job_device_name(struct arena *arena, const struct job_row *job)
{
	struct fact *facts;
	return result_environment(arena, job->environment, &facts) ? facts[0].value : NULL;
}

static json_t *submission_job_json(
	struct request *request, const struct submission_view *view, const struct job_row *job)
{
	json_t *stages = json_array(), *json = job_state_json(job);
	bool hides = job->hides_times;
	for (size_t i = 0; i < job->stage_count; i++)
		json_array_append_new(stages, stage_json(request, view, job, &job->stages[i]));
	const struct interval interval = floor_interval_of(job->gpu, job->score_ns, job->score_err_ns);
	json_object_update_new(json,
		json_pack(
			"{s:I, s:o, s:o, s:o, s:b, s:o, s:b, s:b, s:b, s:o, s:o, s:o, s:o, s:o, s:o, s:o}",
			"id", (json_int_t)job->id, "lower_ns", json_number(interval.low_ns), "upper_ns",
			json_number(interval.high_ns), "rank", json_count(job->place), "tie",
			(int)(job->is_tied == 1), "rank_before",
			hides ? json_null() : json_count(job->place_before), "tie_before",
			(int)(!hides && job->tied_before == 1), "personal_best",
			(int)(!hides && job->place_after != SQL_NULL_INTEGER), "held",
			(int)(job->is_held == 1 && !hides), "engine", json_text(job->engine), "engine_reason",
			json_text(job->engine_reason), "device",
			json_text(job_device_name(request->arena, job)), "environment",
			environment_json(request->arena, job), "started_at", json_moment(job->started_at_ms),
			"finished_at", json_moment(job->finished_at_ms), "stages", stages));
	return json;
}

/* ---- a submission ---- */

static json_t *held_json(const struct submission_view *view)
{
	for (size_t i = 0; i < view->job_count; i++)
		if (view->jobs[i].is_held == 1 && !view->jobs[i].hides_times)
			return json_pack("{s:o}", "reason", json_text(view->jobs[i].held_reason));
	return json_null();
}

json_t *submission_json(struct request *request, const struct submission_view *view)
{
	const struct submission_row *row = view->row;
	json_t *jobs = json_array();
	for (size_t i = 0; i < view->job_count; i++)
		json_array_append_new(jobs, submission_job_json(request, view, &view->jobs[i]));
	return json_pack(
		"{s:I, s:s, s:I, s:s, s:o, s:s, s:s, s:o, s:s, s:o, s:o, s:b, s:b, s:b, s:b, s:o, s:o, "
		"s:o}",
		"id", (json_int_t)row->id, "leaderboard", row->leaderboard, "task_version",
		(json_int_t)row->version_number, "user", row->user, "submitted_by",
		json_text(row->submitted_by), "mode", row->mode, "file_name", row->file_name,
		"submitted_at", json_moment(row->submitted_at_ms), "state",
		submission_outcome(view->jobs, view->job_count), "verdict",
		json_text(submission_verdict(view->jobs, view->job_count)), "note",
		view->may_see_output ? json_text(row->note) : json_null(), "practice",
		(int)(row->practice == 1), "withdrawn", (int)(row->withdrawn == 1), "hidden",
		(int)(row->hidden == 1), "disqualified", (int)(row->disqualified != NULL), "held",
		held_json(view), "license", json_text(row->license), "jobs", jobs);
}

int respond_submission(struct request *request)
{
	struct submission_row row;
	struct submission_view view;
	int rc = submission_read_results(request, path_number(request, 0), &row, &view);
	return rc ? rc : respond_json(request, submission_json(request, &view));
}

int api_submission(struct request *request)
{
	return respond_submission(request);
}

/* Returns after how many seconds the client should poll again. A running job changes soon, a job
 * far back in the queue does not. */
static int poll_s(const struct submission_view *view)
{
	enum { when_running = 1, when_next = 2, when_waiting = 5, when_ended = 30 };
	int wait = when_ended;
	for (size_t i = 0; i < view->job_count; i++) {
		const struct job_row *job = &view->jobs[i];
		bool queued = strcmp(job->state, "queued") == 0;
		int own = strcmp(job->state, "running") == 0 || job->stopping == 1 ? when_running
			: !queued                                                      ? when_ended
			: job->ahead < 3                                               ? when_next
																		   : when_waiting;
		wait = own < wait ? own : wait;
	}
	return wait;
}

int api_submission_status(struct request *request)
{
	struct submission_row row;
	struct submission_view view;
	int rc = submission_read_state(request, path_number(request, 0), &row, &view);
	if (rc)
		return rc;
	json_t *jobs = json_array();
	for (size_t i = 0; i < view.job_count; i++)
		json_array_append_new(jobs, job_state_json(&view.jobs[i]));
	return respond_json(request,
		json_pack("{s:I, s:s, s:o, s:o, s:i}", "id", (json_int_t)row.id, "state",
			submission_outcome(view.jobs, view.job_count), "verdict",
			json_text(submission_verdict(view.jobs, view.job_count)), "jobs", jobs, "poll_s",
			poll_s(&view)));
}

/* ---- parts of a submission ---- */

/* Finds the job on the device ?gpu=. Without this parameter, finds the submission's only job. */
static int chosen_job(
	struct request *request, const struct submission_view *view, const struct job_row **job)
{
	const char *gpu = request_query(request, "gpu");
	for (size_t i = 0; i < view->job_count; i++) {
		*job = &view->jobs[i];
		if (gpu ? strcmp(gpu, (*job)->gpu) == 0 : view->job_count == 1)
			return 0;
	}
	return gpu ? fail(request->error, ERROR_NOT_FOUND,
			   "Submission %lld was not sent to a device named %s.", (long long)view->row->id,
			   quote(request->arena, gpu))
			   : fail_field(request->error, "gpu",
				   "Submission %lld has several jobs. Choose one with ?gpu=NAME.",
				   (long long)view->row->id);
}

static json_t *samples_json(const struct case_row *one)
{
	json_t *samples = json_array();
	for (size_t i = 0; i < one->samples.count; i++)
		json_array_append_new(samples, json_number(one->samples.ns[i]));
	return samples;
}

int api_submission_samples(struct request *request)
{
	struct submission_row row;
	struct submission_view view;
	const struct job_row *job;
	int rc = submission_read_samples(request, path_number(request, 0), &row, &view);
	if (!rc)
		rc = chosen_job(request, &view, &job);
	if (rc)
		return rc;
	json_t *cases = json_array();
	int64_t removed_after_days = SQL_NULL_INTEGER;
	for (size_t i = 0; i < job->stage_count; i++) {
		if (job->stages[i].samples_days != SQL_NULL_INTEGER)
			removed_after_days = job->stages[i].samples_days;
		for (size_t c = 0; c < job->stages[i].case_count; c++) {
			const struct case_row *one = &job->stages[i].cases[c];
			if (one->samples.count)
				json_array_append_new(cases,
					json_pack("{s:s, s:I, s:s, s:o, s:o}", "stage", job->stages[i].name, "index",
						(json_int_t)one->number - 1, "spec", one->spec, "blocks",
						json_count(one->blocks), "samples_ns", samples_json(one)));
		}
	}
	return respond_json(request,
		json_pack("{s:I, s:s, s:o, s:o}", "id", (json_int_t)row.id, "gpu", job->gpu, "cases", cases,
			"removed_after_days", json_count(removed_after_days)));
}

int api_submission_source(struct request *request)
{
	struct submission_row row;
	struct blob_value content;
	int rc = submission_of_address(request, &row);
	if (!rc)
		rc = submission_read_source(request, &row, &content);
	return rc ? rc : respond_text(request, row.file_name, content.bytes, content.length);
}

/* Answers with a job's latest output: a running stage's last lines, or all stored output. */
int api_submission_output(struct request *request)
{
	struct submission_row row;
	struct submission_view view;
	const struct job_row *job;
	int rc = submission_read_results(request, path_number(request, 0), &row, &view);
	if (!rc && !view.may_see_output)
		rc =
			fail(request->error, ERROR_FORBIDDEN, "Only the author may see a submission's output.");
	if (!rc)
		rc = chosen_job(request, &view, &job);
	if (rc)
		return rc;
	const struct stage_row *stage = job->stage_count ? &job->stages[job->stage_count - 1] : NULL;
	struct printed printed = job_printed(request->arena, job);
	bool is_live = stage && !stage->verdict;
	return respond_json(request,
		json_pack("{s:I, s:s, s:s, s:o, s:b, s:s, s:s, s:o}", "id", (json_int_t)row.id, "gpu",
			job->gpu, "state", job->state, "stage", json_text(stage ? stage->name : NULL), "live",
			(int)is_live, "stdout", is_live || !stage ? printed.out : stage->out, "stderr",
			is_live || !stage ? printed.err : stage->err, "removed_after_days",
			json_count(stage ? stage->output_days : SQL_NULL_INTEGER)));
}

/* ---- the viewer's submissions ---- */

/* Reads ?state= or ?verdict= into one value, because the statement binds one value for both. */
static int read_result_filter(struct request *request, const char **result)
{
	static const char *const states[] = { "queued", "running", "done", "failed", "cancelled" };
	const char *state = request_query(request, "state"),
			   *verdict = request_query(request, "verdict");
	*result = state ? state : verdict ? verdict : "";
	if (state && verdict)
		return fail_field(
			request->error, "state", "Ask for a state or for a verdict, not for both.");
	if (verdict && verdict_from_name(verdict) == VERDICT_NONE)
		return fail_field(
			request->error, "verdict", "There is no verdict %s.", quote(request->arena, verdict));
	for (size_t i = 0; state && i < COUNT(states); i++)
		if (strcmp(states[i], state) == 0)
			return 0;
	return state ? fail_field(request->error, "state",
			   "There is no state %s; choose queued, running, done, failed or cancelled.",
			   quote(request->arena, state))
				 : 0;
}

static int read_submission_filter(struct request *request, struct history_filter *filter)
{
	*filter = (struct history_filter){ .leaderboard = request_query_or(request, "leaderboard", ""),
		.gpu = request_query_or(request, "gpu", ""),
		.mode = request_query_or(request, "mode", ""),
		.team = request_query_or(request, "team", "") };
	int rc = read_result_filter(request, &filter->result);
	if (rc)
		return rc;
	if (*filter->leaderboard && !text_is_leaderboard_name(filter->leaderboard))
		return fail_field(request->error, "leaderboard", "%s is not a valid leaderboard name.",
			quote(request->arena, filter->leaderboard));
	if (*filter->gpu && !gpu_is_name(filter->gpu))
		return fail_field(request->error, "gpu", "%s is not a valid device name.",
			quote(request->arena, filter->gpu));
	if (*filter->mode && !history_is_mode(filter->mode))
		return fail_field(request->error, "mode",
			"There is no mode %s; choose test, benchmark, ranked or profile.",
			quote(request->arena, filter->mode));
	return 0;
}

static json_t *own_job_json(const struct history_job *job)
{
	return json_pack("{s:s, s:s, s:o, s:o, s:o, s:o, s:o, s:b, s:b}", "gpu", job->gpu, "state",
		job->state, "verdict", json_text(job->verdict), "score_ns", json_number(job->score_ns),
		"score_err_ns", json_number(job->score_err_ns), "floor_ns",
		json_number(floor_reached_ns(job->gpu, job->score_ns)), "rank", json_count(job->place),
		"tie", (int)(job->is_tie == 1), "held", (int)(job->is_held == 1));
}

/* Describes a submission in the list. The job rows that it makes have only the members that
 * submission_outcome and submission_verdict read. */
static json_t *own_json(struct arena *arena, const struct history_submission *submission)
{
	const struct history_job *first = submission->jobs;
	struct job_row *jobs = arena_array(arena, struct job_row, submission->job_count);
	json_t *list = json_array();
	size_t count = 0;
	for (size_t i = 0; i < submission->job_count && first->gpu; i++) {
		jobs[count++] = (struct job_row){ .state = submission->jobs[i].state,
			.verdict = submission->jobs[i].verdict };
		json_array_append_new(list, own_job_json(&submission->jobs[i]));
	}
	return json_pack("{s:I, s:s, s:I, s:s, s:s, s:o, s:s, s:o, s:s, s:b, s:o}", "id",
		(json_int_t)first->submission_id, "leaderboard", first->leaderboard, "task_version",
		(json_int_t)first->version_number, "mode", first->mode, "file_name", first->file_name,
		"submitted_at", json_moment(first->submitted_at_ms), "state",
		submission_outcome(jobs, count), "verdict", json_text(submission_verdict(jobs, count)),
		"note", first->note ? first->note : "", "withdrawn", (int)(first->withdrawn == 1), "jobs",
		list);
}

int api_submissions(struct request *request)
{
	struct api_list list;
	struct history_filter filter;
	struct history_submission *submissions;
	size_t count;
	int rc = api_list_read(request, &list);
	if (!rc)
		rc = read_submission_filter(request, &filter);
	if (!rc)
		rc = history_read(request, &filter, list.is_first ? INT64_MAX : list.after[0],
			list.limit + 1, &submissions, &count);
	if (rc)
		return rc;
	bool has_more = (int64_t)count > list.limit;
	json_t *items = json_array();
	for (size_t i = 0; i < count - has_more; i++)
		json_array_append_new(items, own_json(request->arena, &submissions[i]));
	return respond_list(request, items,
		has_more ? api_cursor(request, submissions[list.limit - 1].jobs->submission_id, 0) : NULL);
}
