/* The trend of a ranking's best times, which is part of the leaderboard's page. */
#include "cgi/page/leaderboard_charts.h"

#include "cgi/http/thread_cache.h"
#include "lib/base/clock.h"
#include "lib/base/scope.h"
#include "lib/gpu/floor.h"
#include "lib/ranking/records.h"
#include "templates/leaderboard_charts.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* A row of the query: the line of one user, the line of all users together, or a baseline. A
 * baseline has a role and no points. */
struct trend_row {
	int64_t position, user_id, submission_id, at_ms;
	const char *user, *role;
	double best_ns, best_err_ns;
	const char *points;
};
static const struct column TREND_COLUMNS[] = {
	INTEGER(struct trend_row, position),
	INTEGER(struct trend_row, user_id),
	INTEGER(struct trend_row, submission_id),
	TIME(struct trend_row, at_ms),
	TEXT(struct trend_row, user),
	TEXT(struct trend_row, role),
	REAL(struct trend_row, best_ns),
	REAL(struct trend_row, best_err_ns),
	TEXT(struct trend_row, points),
};
/* SQL expression: a line's newest 200 points as text, newest first. Each point is "submission at_ms
 * score_ns score_err_ns user", and ";" separates points. CONCAT_WS would leave out a NULL. */
#define RECORD_ERR SQL_RECORD_ERR("e")
#define SUBMISSION SQL_RECORD_SUBMISSION("e")
#define POINTS(leaderboard, version, gpu, line) \
	"(SELECT GROUP_CONCAT(CONCAT_WS(' ', " SUBMISSION ", " \
	"  CAST(UNIX_TIMESTAMP(e.ranked_at) * 1000 AS INT), e.score_ns, " \
	"  COALESCE(" RECORD_ERR ", 'nan'), eu.name) " \
	"ORDER BY e.score_ns SEPARATOR ';' LIMIT 200) " \
	"FROM records e JOIN users eu ON eu.id = e.user_id WHERE e.leaderboard_id = " leaderboard \
	" AND e.task_version_id = " version " AND e.gpu = " gpu " AND e.line = " line ") AS points "
#define POINTS_OF_USER POINTS("r.leaderboard_id", "r.task_version_id", "r.gpu", "r.user_id")
#define LINE_OF_USER \
	"r.position, r.user_id, NULL AS submission_id, NULL AS at_ms, u.name AS user, " \
	"NULL AS role, r.score_ns AS best_ns, r.score_err_ns AS best_err_ns, " POINTS_OF_USER \
	"FROM ranking r JOIN users u ON u.id = r.user_id WHERE r.leaderboard_id = ? " \
	"AND r.task_version_id = ? AND r.gpu = ? "
#define POINTS_OF_ALL POINTS("?", "?", "?", "0")
/* The line of all users comes last. Baselines come first, fastest first. */
static const struct statement TREND = SELECT(struct trend_row, TREND_COLUMNS,
	"SELECT " LINE_OF_USER "AND r.position <= ? "
	"UNION ALL SELECT " LINE_OF_USER "AND r.user_id = ? AND r.position > ? "
	"UNION ALL SELECT 4294967295, NULL, NULL, NULL, NULL, NULL, NULL, NULL, " POINTS_OF_ALL
	"UNION ALL SELECT 0, NULL, b.submission_id, b.measured_at, b.path, "
	"b.role, b.score_ns, b.score_err_ns, NULL FROM baselines b "
	"WHERE b.task_version_id = ? AND b.gpu = ? ORDER BY position, best_ns");

/* Reads one point of the text that POINTS selects. Returns the text after it, or NULL at the
 * end. */
static const char *read_point(struct arena *arena, const char *text, struct trend_point *point)
{
	char *end;
	point->submission_id = strtoll(text, &end, 10);
	point->at_ms = strtoll(end, &end, 10);
	point->score_ns = strtod(end, &end);
	point->score_err_ns = strtod(end, &end);
	end += *end == ' ';
	size_t length = strcspn(end, ";");
	point->user = arena_strndup(arena, end, length);
	return end[length] ? end + length + 1 : NULL;
}

static size_t points_in(const char *text)
{
	size_t count = text && *text;
	for (; text && *text; text++)
		count += *text == ';';
	return count;
}

/* Reads the line's points, oldest first, and thins them to charted_points. */
static void read_points(
	struct arena *arena, const char *text, struct trend_line *line, struct chart_line *drawn)
{
	size_t count = points_in(text);
	struct trend_point *points = arena_array(arena, struct trend_point, count + 1);
	struct chart_point *spots = arena_array(arena, struct chart_point, count + 1);
	for (size_t i = count; i-- > 0 && text;)
		text = read_point(arena, text, &points[i]);
	for (size_t i = 0; i < count; i++)
		spots[i] = (struct chart_point){ (double)points[i].at_ms, points[i].score_ns };
	size_t left = chart_thin(spots, count, charted_points);
	for (size_t i = 0, from = 0; i < left; i++, from++) { /* times only fall, so each is unique */
		while (points[from].score_ns > spots[i].ns)
			from++;
		points[i] = points[from];
	}
	line->points = points;
	line->count = left;
	*drawn = (struct chart_line){ .style = line->style, .points = spots, .count = left };
}

static void format_point(
	format_text out, const struct trend *trend, const struct trend_point *point)
{
	format_score(out, point->score_ns, point->score_err_ns,
		floor_reached_ns(trend->gpu->name, point->score_ns));
}

static const char *trend_words(struct arena *arena, const struct trend *trend)
{
	const struct trend_line *record =
		trend->line_count ? &trend->lines[trend->line_count - 1] : NULL;
	format_text first, last;
	if (!record || !record->count)
		return "";
	format_point(first, trend, &record->points[0]);
	const struct trend_point *newest = &record->points[record->count - 1];
	format_point(last, trend, newest);
	return arena_printf(arena,
		"Best times on %s since the first submission: the record went from %s of %s to %s of %s. "
		"The table below has the numbers.",
		trend->gpu->name, first, record->points[0].user, last, newest->user);
}

static void add_mark(
	struct trend *trend, struct chart_mark *drawn, const struct trend_mark *mark, double ns)
{
	bool is_own_file = strcmp(mark->kind, "baseline") != 0 && mark->at_ms != TIME_NULL;
	*drawn = (struct chart_mark){ is_own_file ? mark->kind : mark->name, ns,
		mark->submission_id == SQL_NULL_INTEGER && mark->at_ms == TIME_NULL };
	trend->marks[trend->mark_count] = *mark;
	trend->marks[trend->mark_count++].drawn = drawn;
}

/* Makes the reference lines: the speed of light if known, and the baselines, which are the first
 * `count` rows. */
static const struct chart_mark *make_marks(
	struct arena *arena, struct trend *trend, const struct trend_row *rows, size_t count)
{
	struct chart_mark *drawn = arena_array(arena, struct chart_mark, count + 1);
	const struct speed_of_light *light = trend->light;
	trend->marks = arena_array(arena, struct trend_mark, count + 1);
	if (light->ns > 0)
		add_mark(trend, drawn,
			&(struct trend_mark){ .name = "Speed of light",
				.kind = arena_printf(arena, "%s, %s", light->limit, light->peak),
				.submission_id = SQL_NULL_INTEGER,
				.at_ms = TIME_NULL,
				.err_ns = NAN },
			light->ns);
	for (size_t i = 0; i < count; i++)
		add_mark(trend, &drawn[trend->mark_count],
			&(struct trend_mark){ .name = rows[i].user,
				.kind = rows[i].role,
				.submission_id = rows[i].submission_id,
				.at_ms = rows[i].at_ms,
				.err_ns = rows[i].best_err_ns },
			rows[i].best_ns);
	return drawn;
}

bool trend_has_levels(const struct trend *trend, bool is_bound)
{
	for (size_t i = 0; i < trend->mark_count; i++)
		if (trend->marks[i].drawn->is_bound == is_bound
			&& chart_has_room(&trend->chart, trend->marks[i].drawn))
			return true;
	return false;
}

static void make_line(struct arena *arena, const struct trend_row *row, int64_t own_id,
	struct trend_line *line, struct chart_line *drawn)
{
	*line = (struct trend_line){
		.user = row->user,
		.best_ns = row->best_ns,
		.best_err_ns = row->best_err_ns,
		.is_own = row->user && row->user_id == own_id,
		.style = row->user ? (size_t)(row->position - 1) % chart_styles : chart_record,
	};
	read_points(arena, row->points, line, drawn);
	drawn->is_own = line->is_own;
}

/* Best times last until now, or until the deadline. A replaced version gets no more results, so its
 * axis ends at its last one. */
static double end_of(const struct shown_leaderboard *shown)
{
	int64_t deadline_ms = shown->leaderboard.deadline_ms, now = now_ms();
	if (shows_old_version(shown))
		return 0;
	return (double)(deadline_ms != TIME_NULL && deadline_ms < now ? deadline_ms : now);
}

static void make_trend(
	struct arena *arena, struct trend *trend, const struct trend_row *rows, size_t count)
{
	size_t baselines = 0;
	while (baselines < count && !rows[baselines].position)
		baselines++;
	struct chart_line *drawn = arena_array(arena, struct chart_line, count + 1);
	const struct chart_mark *marks = make_marks(arena, trend, rows, baselines);
	trend->lines = arena_array(arena, struct trend_line, count + 1);
	trend->line_count = count - baselines;
	for (size_t i = 0; i < trend->line_count; i++)
		make_line(arena, &rows[baselines + i], trend->own_id, &trend->lines[i], &drawn[i]);
	trend->chart = (struct chart){ .id = "trend",
		.lines = drawn,
		.line_count = trend->line_count,
		.marks = marks,
		.mark_count = trend->mark_count,
		.end_ms = end_of(trend->shown),
		.alternative = trend_words(arena, trend) };
}

static int read_trend(struct request *request, struct trend *trend)
{
	const struct shown_leaderboard *shown = trend->shown;
	const char *gpu = trend->gpu->name;
	struct trend_row *rows;
	size_t count;
	int rc = database_rows(request->db, request->arena, &TREND, &rows, &count, request->error,
		"iisiiisiiiisis", shown->leaderboard.id, shown->leaderboard.task_version_id, gpu,
		(int64_t)charted_users, shown->leaderboard.id, shown->leaderboard.task_version_id, gpu,
		trend->own_id, (int64_t)charted_users, shown->leaderboard.id,
		shown->leaderboard.task_version_id, gpu, shown->leaderboard.task_version_id, gpu);
	if (!rc)
		make_trend(request->arena, trend, rows, count);
	return rc;
}

/* ---- the cache of a thread ---- */

/* Each thread caches the HTML of trends, because pages are viewed far more often than records
 * change. Viewers who are ranked get their own version, which highlights their line. */
enum { cached_trends = 32, kept_ms = 2000 };
struct cached_trend {
	int64_t leaderboard_id, version_id, own_id, read_at_ms;
	char gpu[64];
	struct buffer html;
};

static void free_cached_trends(void *value)
{
	struct cached_trend *cached = value;
	for (size_t i = 0; i < cached_trends; i++)
		buffer_free(&cached[i].html);
	free(cached);
}

static struct thread_cache cache =
	THREAD_CACHE(cached_trends * sizeof(struct cached_trend), free_cached_trends);

static size_t trend_slot(const struct trend *trend)
{
	size_t hash = (size_t)trend->shown->leaderboard.task_version_id * 31 + (size_t)trend->own_id;
	for (const char *gpu = trend->gpu->name; *gpu; gpu++)
		hash = hash * 31 + (unsigned char)*gpu;
	return hash % cached_trends;
}

static bool trend_is_fresh(const struct cached_trend *slot, const struct trend *trend)
{
	return slot->html.length && slot->leaderboard_id == trend->shown->leaderboard.id
		&& slot->version_id == trend->shown->leaderboard.task_version_id
		&& slot->own_id == trend->own_id && strcmp(slot->gpu, trend->gpu->name) == 0
		&& thread_cache_is_fresh(slot->read_at_ms, kept_ms);
}

static int write_trend(struct request *request, struct trend *trend, struct buffer *html)
{
	int rc = read_trend(request, trend);
	if (!rc)
		trend_part(html, trend);
	return rc;
}

static int cache_trend(struct request *request, struct trend *trend, struct cached_trend *slot)
{
	buffer_clear(&slot->html);
	slot->leaderboard_id = trend->shown->leaderboard.id;
	slot->version_id = trend->shown->leaderboard.task_version_id;
	slot->own_id = trend->own_id;
	slot->read_at_ms = clock_ms();
	strcpy(slot->gpu, trend->gpu->name);
	return write_trend(request, trend, &slot->html);
}

int leaderboard_trend(struct request *request, struct trend *trend, const char **html)
{
	struct cached_trend *cached = thread_cache_get(&cache);
	if (!cached || strlen(trend->gpu->name) >= sizeof cached->gpu) {
		cleanup_buffer struct buffer fresh = { 0 };
		int rc = write_trend(request, trend, &fresh);
		*html = arena_strdup(request->arena, buffer_string(&fresh));
		return rc;
	}
	struct cached_trend *slot = &cached[trend_slot(trend)];
	int rc = trend_is_fresh(slot, trend) ? 0 : cache_trend(request, trend, slot);
	*html = buffer_string(&slot->html);
	return rc;
}
