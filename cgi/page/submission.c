/* A submission: the page, its state as JSON, its source. */
#include "cgi/page/submission.h"

#include "cgi/http/paging.h"
#include "cgi/page/pages.h"
#include "cgi/render/json.h"
#include "lib/base/gzip.h"
#include "lib/base/interval.h"
#include "lib/base/scope.h"
#include "lib/base/text.h"
#include "lib/leaderboard/visibility.h"
#include "lib/result/verdict.h"
#include "templates/submission.h"

#include <jansson.h>
#include <math.h>
#include <string.h>

/* Returns the notice for the page to which a form redirects. */
static const char *outcome_notice(struct request *request)
{
	const char *cancelled = request_query(request, "cancelled"),
			   *outcome = cancelled ? cancelled : request_query(request, "done");
	static const struct {
		const char *outcome, *sentence;
	} notices[] = {
		{ "withdrawn", "The submission was withdrawn: it is in no ranking any more." },
		{ "restored", "The submission counts again." },
		{ "noted", "The note was stored." },
		{ "all", "The submission was cancelled." },
		{ "rest",
			"What had not ended was cancelled; the jobs that had ended before keep their "
			"results." },
		{ "none", "It had ended before it could be cancelled, so its result stands." },
	};
	for (size_t i = 0; outcome && i < COUNT(notices); i++)
		if (strcmp(notices[i].outcome, outcome) == 0)
			return notices[i].sentence;
	return NULL;
}

/* ---- the page ---- */

enum { reload_s = 2 };

const char *submission_state(const struct job_row *jobs, size_t count)
{
	bool queued = false, pending = false;
	for (size_t i = 0; i < count; i++) {
		if (strcmp(jobs[i].state, "running") == 0 || jobs[i].stopping == 1)
			return "running";
		queued = queued || strcmp(jobs[i].state, "queued") == 0;
		pending = pending || jobs[i].is_withheld;
	}
	return queued ? "queued" : pending ? "pending" : "done";
}

/* Whether the page no longer changes: all jobs and comparisons are over, or a freeze hides them. */
static bool is_settled(const struct job_row *jobs, size_t count)
{
	const char *state = submission_state(jobs, count);
	bool open = strcmp(state, "done") != 0 && strcmp(state, "pending") != 0;
	for (size_t i = 0; i < count; i++)
		for (size_t c = 0; c < jobs[i].comparison_count; c++)
			open = open || head_to_head_is_open(&jobs[i].comparisons[c]);
	return !open;
}

/* The tab's icon says how the submission stands. */
static const char *icon_of(const struct submission_view *view)
{
	const char *verdict = submission_verdict(view->jobs, view->job_count);
	if (strcmp(submission_state(view->jobs, view->job_count), "done") != 0)
		return "/static/state-open.svg";
	return verdict && strcmp(verdict, "passed") == 0 ? "/static/state-passed.svg"
													 : "/static/state-failed.svg";
}

int page_submission(struct request *request)
{
	struct submission_row row;
	struct submission_view view;
	int rc = submission_read_view(request, path_number(request, 0), &row, &view);
	if (rc)
		return rc;
	struct page page = page_make(request,
		arena_printf(request->arena, "%s · Submission %lld",
			submission_title_state(request->arena, &view), (long long)row.id),
		"leaderboards");
	page.sheet = "/static/submission.css";
	page.icon = icon_of(&view);
	if (!is_settled(view.jobs, view.job_count)) {
		page.refresh_s = reload_s;
		page.live_url = arena_printf(request->arena, "/submission/%lld/status", (long long)row.id);
	}
	page.notice = outcome_notice(request);
	submission_page(&request->body, &page, &view, request->arena);
	request->may_be_cached = true;
	return 0;
}

/* ---- the state as JSON ---- */

/* The values of enum verdict are sorted from best to worst. */
const char *submission_verdict(const struct job_row *jobs, size_t count)
{
	enum verdict worst = VERDICT_NONE;
	for (size_t i = 0; i < count; i++) {
		enum verdict verdict = verdict_from_name(jobs[i].verdict);
		if (verdict == VERDICT_NONE)
			return NULL;
		if (verdict > worst)
			worst = verdict;
	}
	return verdict_name(worst);
}

static json_t *comparisons_json(const struct job_row *job)
{
	json_t *list = json_array();
	for (size_t i = 0; i < job->comparison_count; i++) {
		const struct head_to_head_row *one = &job->comparisons[i];
		const bool is_bounded = interval_bounds_ratio(one->ratio, one->ratio_low, one->ratio_high);
		json_array_append_new(list,
			json_pack("{s:I, s:I, s:s, s:o, s:o, s:o, s:s?}", "id", (json_int_t)one->id, "with",
				(json_int_t)one->rival_id, "state", one->state, "ratio", json_number(one->ratio),
				"ratio_low", json_number(is_bounded ? one->ratio_low : NAN), "ratio_high",
				json_number(is_bounded ? one->ratio_high : NAN), "loser",
				one->loser > 0       ? "this"
					: one->loser < 0 ? "other"
									 : NULL));
	}
	return list;
}

/* Returns the output so far of a running job, which only the author and admins see. */
static json_t *printed_json(struct arena *arena, const struct job_row *job)
{
	struct printed printed = job_printed(arena, job);
	return job->tail ? json_pack("{s:s, s:s}", "stdout", printed.out, "stderr", printed.err)
					 : json_null();
}

static json_t *job_status_json(struct arena *arena, const struct job_row *job)
{
	bool queued = strcmp(job->state, "queued") == 0;
	return json_pack("{s:s, s:s, s:o, s:o, s:s, s:s, s:I, s:o, s:o, s:o, s:o, s:b, s:o, s:o}",
		"gpu", job->gpu, "state", job->state, "verdict", json_text(job->verdict), "reason",
		json_text(job->reason), "stage", job->stopping == 1 ? "cancelling" : job->progress,
		"message", job->words, "attempt", (json_int_t)job->attempt, "score_ns",
		json_number(job->score_ns), "position", queued ? json_integer(job->ahead + 1) : json_null(),
		"expected_start", json_text(job->start), "engine", json_text(job->engine), "held",
		job->is_held && !job->hides_times, "comparisons", comparisons_json(job), "output",
		printed_json(arena, job));
}

static int respond_status(struct request *request, const struct submission_view *view)
{
	json_t *list = json_array();
	for (size_t i = 0; i < view->job_count; i++)
		json_array_append_new(list, job_status_json(request->arena, &view->jobs[i]));
	return respond_json(request,
		json_pack("{s:I, s:s, s:b, s:o, s:o}", "id", (json_int_t)view->row->id, "state",
			submission_state(view->jobs, view->job_count), "settled",
			is_settled(view->jobs, view->job_count), "verdict",
			json_text(submission_verdict(view->jobs, view->job_count)), "jobs", list));
}

int page_submission_status(struct request *request)
{
	struct submission_row row;
	struct submission_view view;
	int rc = submission_read_status(request, path_number(request, 0), &row, &view);
	return rc ? rc : respond_status(request, &view);
}

int submission_status_of_waiting(struct request *request, bool *is_answered)
{
	struct submission_row row;
	struct submission_view view;
	int rc = submission_read_waiting(request, path_number(request, 0), &row, &view, is_answered);
	return rc || !*is_answered ? rc : respond_status(request, &view);
}

/* ---- the submission's files ---- */

int page_submission_source(struct request *request)
{
	struct submission_row row;
	struct blob_value content;
	int rc = submission_without_task(request, &row);
	if (!rc)
		rc = submission_read_source(request, &row, &content);
	if (rc)
		return rc;
	response_as_text(request, row.file_name, request_query(request, "download"));
	buffer_append(&request->body, content.bytes, content.length);
	return 0;
}

struct file_row {
	const char *name, *gpu;
	int64_t size;
};
static const struct column FILE_COLUMNS[] = {
	TEXT(struct file_row, name),
	TEXT(struct file_row, gpu),
	INTEGER(struct file_row, size),
};
static const struct statement FILE_BY_ID = SELECT(struct file_row, FILE_COLUMNS,
	"SELECT a.name, j.gpu, a.size FROM artifacts a JOIN stages t ON t.id = a.stage_id "
	"JOIN jobs j ON j.id = t.job_id JOIN submissions s ON s.id = j.submission_id "
	"JOIN leaderboards l ON l.id = s.leaderboard_id "
	"WHERE a.id = ? AND s.id = ? AND " SQL_MAY_SEE_TIMES("s", "l", "j"));
struct part_row {
	struct blob_value content;
};
static const struct column PART_COLUMNS[] = { BLOB(struct part_row, content) };
static const struct statement PARTS = SELECT(struct part_row, PART_COLUMNS,
	"SELECT content FROM artifact_parts WHERE artifact_id = ? ORDER BY part");

int page_submission_artifact(struct request *request)
{
	struct submission_row row;
	struct file_row file;
	struct part_row *parts;
	size_t count;
	cleanup_buffer struct buffer packed = { 0 };
	int64_t id = path_number(request, 1);
	int rc = submission_without_task(request, &row);
	if (!rc)
		rc = submission_check_source(request, &row, "The files of a submission are");
	if (rc)
		return rc;
	rc = database_row(request->db, request->arena, &FILE_BY_ID, &file, request->error, "iii", id,
		row.id, request->viewer.id);
	if (rc == ERROR_NOT_FOUND)
		return fail(request->error, rc, "This submission has no such file.");
	if (!rc)
		rc = database_rows(
			request->db, request->arena, &PARTS, &parts, &count, request->error, "i", id);
	if (rc)
		return rc;
	bool is_text = text_ends_with(file.name, ".sass") || text_ends_with(file.name, ".ptx");
	for (size_t i = 0; i < count; i++)
		buffer_append(&packed, parts[i].content.bytes, parts[i].content.length);
	response_as_text(request,
		arena_printf(
			request->arena, "submission-%lld-%s-%s", (long long)row.id, file.gpu, file.name),
		!is_text || request_query(request, "download"));
	if (!is_text)
		request->content_type = "application/octet-stream";
	if (gzip_unpack(packed.data ? packed.data : "", packed.length, (size_t)file.size,
			&request->body, request->error))
		return fail_context(request->error, "%s", file.name), ERROR_SYSTEM;
	return 0;
}
