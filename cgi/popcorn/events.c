#include "cgi/popcorn/events.h"

#include "cgi/popcorn/report.h"
#include "lib/job/job.h"

#include <stdlib.h>
#include <string.h>

/* ---- events ---- */

static int put_sse_event(struct buffer *out, const char *event, json_t *data, struct error *error)
{
	char *text = json_dumps(data, JSON_ENSURE_ASCII | JSON_COMPACT);
	json_decref(data);
	if (!text)
		return fail(error, ERROR_SYSTEM, "An event could not be written as JSON.");
	buffer_printf(out, "event: %s\ndata: ", event);
	buffer_text(out, text);
	buffer_text(out, "\n\n");
	free(text);
	return 0;
}

void popcorn_event_status(struct buffer *out, double elapsed_s, const char *words)
{
	double tenths = (double)(int64_t)(elapsed_s * 10) / 10;
	put_sse_event(out, "status",
		json_pack(
			"{s:s, s:f, s:s}", "status", "processing", "elapsed_time", tenths, "message", words),
		NULL);
}

void popcorn_event_error(struct buffer *out, int status, const char *sentence)
{
	put_sse_event(out, "error",
		json_pack("{s:s, s:s, s:i}", "status", "error", "detail", sentence, "status_code", status),
		NULL);
}

/* Whether no job has a result, because each was cancelled or failed. */
static bool has_no_result(const struct popcorn_result *result)
{
	for (size_t i = 0; i < result->job_count; i++)
		if (strcmp(result->jobs[i].state, "done") == 0)
			return false;
	return true;
}

int popcorn_event_result(struct buffer *out, const struct config *config, struct database *db,
	struct arena *arena, int64_t submission_id, struct error *error)
{
	struct popcorn_result result;
	json_t *results, *reports;
	int rc = popcorn_result_read_whole(db, arena, submission_id, &result, error);
	if (!rc && has_no_result(&result)) {
		popcorn_event_error(out, 500, popcorn_failure(arena, config, &result));
		return 0;
	}
	if (!rc)
		rc = popcorn_results(db, arena, config, &result, &results, &reports, error);
	return rc ? rc
			  : put_sse_event(out, "result",
				  json_pack("{s:s, s:I, s:o, s:o}", "status", "success", "submission_id",
					  (json_int_t)submission_id, "results", results, "reports", reports),
				  error);
}

/* ---- progress ---- */

static const struct column PROGRESS_COLUMNS[] = {
	INTEGER(struct popcorn_progress, submission_id),
	INTEGER(struct popcorn_progress, open),
	INTEGER(struct popcorn_progress, queued),
	TEXT(struct popcorn_progress, gpu),
	TEXT(struct popcorn_progress, progress),
};
#define STOPPING_JOB SQL_IS_STOPPING("j")
static const struct statement PROGRESS = SELECT(struct popcorn_progress, PROGRESS_COLUMNS,
	"SELECT j.submission_id, j.state IN ('queued', 'running') OR " STOPPING_JOB " AS `open`, "
	"j.state = 'queued' AS queued, j.gpu, j.progress "
	"FROM JSON_TABLE(?, '$[*]' COLUMNS (id BIGINT UNSIGNED PATH '$')) asked "
	"STRAIGHT_JOIN jobs j ON j.submission_id = asked.id");

int popcorn_progress_read(struct database *db, struct arena *arena, const char *ids,
	struct popcorn_progress **rows, size_t *count, struct error *error)
{
	return database_rows(db, arena, &PROGRESS, rows, count, error, "s", ids);
}

struct popcorn_summary popcorn_progress_sum(
	struct arena *arena, const struct popcorn_progress *rows, size_t count, int64_t submission_id)
{
	struct popcorn_summary summary = { POPCORN_GONE, "" };
	for (size_t i = 0; i < count; i++) {
		const struct popcorn_progress *row = &rows[i];
		if (row->submission_id != submission_id)
			continue;
		if (summary.phase == POPCORN_GONE)
			summary.phase = POPCORN_ENDED;
		if (!row->open || summary.phase == POPCORN_RUNNING)
			continue;
		summary.phase = row->queued ? POPCORN_QUEUED : POPCORN_RUNNING;
		summary.words = arena_printf(arena, "submission %lld %s %s%s%s", (long long)submission_id,
			row->queued ? "waits for" : "runs on", row->gpu, *row->progress ? ": " : "",
			row->progress);
	}
	return summary;
}
