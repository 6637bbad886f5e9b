/* An Atom feed (RFC 4287) of a leaderboard's records (lib/ranking/records.h). */
#include "cgi/page/pages.h"
#include "cgi/page/shown_leaderboard.h"
#include "cgi/render/html.h"
#include "lib/base/format.h"
#include "lib/base/scope.h"
#include "lib/gpu/floor.h"
#include "lib/ranking/records.h"

#include <math.h>

struct record_row {
	int64_t submission_id, ranked_at_ms;
	int64_t other_job_id; /* of another submission of the same file; 0: none */
	const char *gpu, *user;
	double score_ns, score_err_ns, before_ns; /* before_ns NAN: this was the first result */
};
static const struct column RECORD_COLUMNS[] = {
	INTEGER(struct record_row, submission_id),
	TEXT(struct record_row, gpu),
	TEXT(struct record_row, user),
	REAL(struct record_row, score_ns),
	REAL(struct record_row, score_err_ns),
	REAL(struct record_row, before_ns),
	TIME(struct record_row, ranked_at_ms),
	INTEGER(struct record_row, other_job_id),
};
/* Reads the newest records on one device or on all devices with a ranking. The query finds the
 * devices first, so that it can look up each device's records in their index. */
#define RECORD_ERR SQL_RECORD_ERR("r")
#define SUBMISSION SQL_RECORD_SUBMISSION("r")
static const struct statement RECORDS = SELECT(struct record_row, RECORD_COLUMNS,
	"SELECT " SUBMISSION " AS submission_id, r.gpu, u.name AS user, r.score_ns, " RECORD_ERR
	" AS score_err_ns, r.before_ns, "
	"r.ranked_at AS ranked_at_ms, IF(r.held_id IS NULL, 0, r.job_id) AS other_job_id "
	"FROM (SELECT e.submission_id, e.held_id, e.gpu, e.user_id, e.score_ns, e.ranked_at, e.job_id, "
	"    LAG(e.score_ns) OVER (PARTITION BY e.gpu ORDER BY e.score_ns DESC) AS before_ns "
	"  FROM (SELECT DISTINCT leaderboard_id, task_version_id, gpu FROM ranking "
	"WHERE leaderboard_id = ? AND task_version_id = ?) g "
	"  STRAIGHT_JOIN records e FORCE INDEX (PRIMARY) ON e.leaderboard_id = g.leaderboard_id AND "
	"e.task_version_id = g.task_version_id "
	"    AND e.gpu = g.gpu AND e.line = 0 WHERE g.gpu = COALESCE(?, g.gpu)) r "
	"STRAIGHT_JOIN users u ON u.id = r.user_id ORDER BY r.ranked_at DESC, r.job_id DESC "
	"LIMIT 50");

struct feed {
	const char *site; /* "https://example.org" */
	const struct shown_leaderboard *shown;
	const struct ranked_gpu *gpu; /* NULL: all */
	struct record_row *records;
	size_t count; /* newest first */
	struct arena *arena;
};

static void append_element(struct buffer *out, const char *name, const char *text)
{
	buffer_printf(out, "<%s>", name);
	html_text(out, text);
	buffer_printf(out, "</%s>\n", name);
}

static void append_time(struct buffer *out, const char *name, int64_t ms)
{
	format_text text;
	format_iso(text, ms);
	append_element(out, name, text);
}

static void append_link(
	struct buffer *out, const struct feed *feed, const char *kind, const char *path)
{
	buffer_printf(out, "<link rel=\"%s\" href=\"", kind);
	html_attribute(out, feed->site);
	html_attribute(out, path);
	buffer_text(out, "\"/>\n");
}

/* Describes a record: "ada: 31.90 µs on H200, 3.1 % faster than the record before". */
static const char *record_words(struct arena *arena, const struct record_row *record)
{
	format_text time;
	format_score(time, record->score_ns, record->score_err_ns,
		floor_reached_ns(record->gpu, record->score_ns));
	if (isnan(record->before_ns))
		return arena_printf(
			arena, "%s: %s on %s, the first result", record->user, time, record->gpu);
	double ratio = record->score_ns / record->before_ns;
	format_text change;
	format_change(change, ratio);
	return arena_printf(
		arena, "%s: %s on %s, %s than the record before", record->user, time, record->gpu, change);
}

static void append_entry(
	struct buffer *out, const struct feed *feed, const struct record_row *record)
{
	const char *path =
		arena_printf(feed->arena, "/submission/%lld", (long long)record->submission_id);
	const char *words = record_words(feed->arena, record);
	buffer_text(out, "<entry>\n");
	append_element(out, "title", words);
	const char *other = record->other_job_id
		? arena_printf(feed->arena, "-%lld", (long long)record->other_job_id)
		: "";
	append_element(
		out, "id", arena_printf(feed->arena, "%s%s#%s%s", feed->site, path, record->gpu, other));
	append_time(out, "updated", record->ranked_at_ms);
	buffer_text(out, "<author>");
	append_element(out, "name", record->user);
	buffer_text(out, "</author>\n");
	append_link(out, feed, "alternate", path);
	append_element(out, "content",
		arena_printf(feed->arena, "%s. It leads %s.", words, feed->shown->leaderboard.name));
	buffer_text(out, "</entry>\n");
}

/* Returns the address of the leaderboard's page, or with the ending ".atom" that of the feed. */
static const char *feed_address(const struct feed *feed, const char *ending)
{
	cleanup_buffer struct buffer path = { 0 };
	buffer_printf(&path, "/leaderboard/%s%s", feed->shown->leaderboard.name, ending);
	if (feed->gpu) {
		buffer_text(&path, "?gpu=");
		html_url_part(&path, feed->gpu->name);
	}
	return arena_strdup(feed->arena, path.data);
}

static void feed_document(struct buffer *out, const struct feed *feed)
{
	buffer_text(out,
		"<?xml version=\"1.0\" encoding=\"utf-8\"?>\n<feed "
		"xmlns=\"http://www.w3.org/2005/Atom\">\n");
	append_element(out, "title",
		arena_printf(feed->arena, feed->gpu ? "Records of %s on %s" : "Records of %s",
			feed->shown->leaderboard.name, feed->gpu ? feed->gpu->name : ""));
	append_element(
		out, "id", arena_printf(feed->arena, "%s%s", feed->site, feed_address(feed, ".atom")));
	append_time(
		out, "updated", feed->count ? feed->records->ranked_at_ms : feed->shown->version_at_ms);
	append_link(out, feed, "self", feed_address(feed, ".atom"));
	append_link(out, feed, "alternate", feed_address(feed, ""));
	append_element(out, "generator", "Podium");
	for (size_t i = 0; i < feed->count; i++)
		append_entry(out, feed, &feed->records[i]);
	buffer_text(out, "</feed>\n");
}

int page_leaderboard_feed(struct request *request)
{
	struct shown_leaderboard shown;
	struct feed feed = {
		.shown = &shown, .arena = request->arena, .site = request->config->public_url
	};
	const char *gpu = request_query(request, "gpu");
	int rc = shown_leaderboard_of_request(request, &shown);
	if (!rc && gpu && *gpu)
		rc = ranked_gpu_of_request(request, &shown, &feed.gpu);
	if (!rc)
		rc = database_rows(request->db, request->arena, &RECORDS, &feed.records, &feed.count,
			request->error, "iis", shown.leaderboard.id, shown.leaderboard.task_version_id,
			feed.gpu ? feed.gpu->name : NULL);
	if (rc)
		return rc;
	feed_document(&request->body, &feed);
	request->content_type = "application/atom+xml; charset=utf-8";
	request->may_be_cached = true;
	return 0;
}
