/* The front page. */
#include "cgi/page/home.h"

#include "cgi/page/announcement.h"
#include "cgi/page/judge.h"
#include "cgi/page/pages.h"
#include "cgi/page/shown_leaderboard.h"
#include "lib/base/quote.h"
#include "lib/job/job.h"
#include "lib/judging/internal_error.h"
#include "lib/leaderboard/visibility.h"
#include "templates/home.h"

#include <stdlib.h>
#include <string.h>

static const struct column HOME_COLUMNS[] = {
	TEXT(struct home_row, name),
	TEXT(struct home_row, language),
	TIME(struct home_row, deadline_ms),
	INTEGER(struct home_row, accepting),
	INTEGER(struct home_row, practice),
	INTEGER(struct home_row, participants),
	INTEGER(struct home_row, submissions),
	TEXT(struct home_row, gpu),
	TEXT(struct home_row, engine),
	INTEGER(struct home_row, entries),
	INTEGER(struct home_row, place),
	INTEGER(struct home_row, user_id),
	TEXT(struct home_row, user),
	INTEGER(struct home_row, is_tie),
	REAL(struct home_row, score_ns),
	REAL(struct home_row, score_err_ns),
};
#define MAY_SEE_LEADERBOARD SQL_MAY_SEE("l")
#define ENGINE_ON_GPU SQL_ENGINE_OF("l.task_version_id", "g.gpu")
/* Returns a row for each of the first three positions on each device, with NULL where a position is
 * empty. The query names the positions 1 to 3, so each row takes one index lookup even in a long
 * ranking.
 *
 * The join order is fixed, because MariaDB would otherwise read whole rankings while its statistics
 * lag behind a growing ranking. The number of entries is the last position, which is looked up once
 * per device. */
static const struct statement HOME = SELECT(struct home_row, HOME_COLUMNS,
	"SELECT STRAIGHT_JOIN l.name, v.language, l.deadline AS deadline_ms, l.accepting, l.practice, "
	"  COALESCE(c.participants, 0) AS participants, COALESCE(c.submissions, 0) AS submissions, "
	"g.gpu, IF(top.position = 1, " ENGINE_ON_GPU ", NULL) AS engine, "
	"  IF(top.position = 1, (SELECT e.position FROM ranking e FORCE INDEX (ranking_order) "
	"WHERE e.leaderboard_id = l.id "
	"    AND e.task_version_id = l.task_version_id AND e.gpu = g.gpu "
	"ORDER BY e.position DESC LIMIT 1), NULL) AS entries, "
	"  r.place, r.user_id, u.name AS user, "
	"r.tied AS is_tie, r.score_ns, r.score_err_ns "
	"FROM leaderboards l JOIN task_versions v ON v.id = l.task_version_id "
	"LEFT JOIN leaderboard_counts c ON c.leaderboard_id = l.id "
	"LEFT JOIN leaderboard_gpus g ON g.leaderboard_id = l.id "
	"JOIN (SELECT 1 AS position UNION ALL SELECT 2 UNION ALL SELECT 3) top "
	"LEFT JOIN ranking r FORCE INDEX (ranking_order) ON r.leaderboard_id = l.id "
	"AND r.task_version_id = l.task_version_id AND r.gpu = g.gpu "
	"  AND r.position = top.position "
	"LEFT JOIN users u ON u.id = r.user_id "
	"WHERE l.archived_at IS NULL AND " MAY_SEE_LEADERBOARD " "
	"ORDER BY l.name, g.position, g.gpu, top.position");

/* ---- rows to leaderboards ---- */

static void add_home_entry(struct home_gpu *gpu, const struct home_row *row)
{
	if (row->entries != SQL_NULL_INTEGER)
		gpu->entries = row->entries;
	if (!row->user || gpu->top_count == home_top)
		return;
	gpu->top[gpu->top_count++] = (struct home_entry){
		.place = row->place,
		.user_id = row->user_id,
		.is_tie = row->is_tie,
		.user = row->user,
		.score_ns = row->score_ns,
		.score_err_ns = row->score_err_ns,
	};
}

/* Adds a device from the rows at the front. Returns how many rows belong to it. */
static size_t add_gpu(
	struct home_leaderboard *leaderboard, const struct home_row *rows, size_t count)
{
	struct home_gpu *gpu = &leaderboard->gpus[leaderboard->gpu_count++];
	gpu->name = rows->gpu;
	gpu->engine = rows->engine;
	size_t taken = 0;
	while (taken < count && strcmp(rows[taken].gpu, rows->gpu) == 0)
		add_home_entry(gpu, &rows[taken++]);
	return taken;
}

/* Adds a leaderboard from the rows at the front. Returns how many rows belong to it. */
static size_t add_leaderboard(struct arena *arena, struct home_leaderboard *leaderboard,
	const struct home_row *rows, size_t count, int64_t now)
{
	size_t own = 1;
	while (own < count && strcmp(rows[own].name, rows->name) == 0)
		own++;
	*leaderboard = (struct home_leaderboard){
		.name = rows->name,
		.language = rows->language,
		.deadline_ms = rows->deadline_ms,
		.state = leaderboard_state_of(
			rows->deadline_ms, rows->accepting, rows->practice, TIME_NULL, now),
		.participants = rows->participants,
		.submissions = rows->submissions,
		.gpus = arena_array(arena, struct home_gpu, own),
	};
	for (size_t i = 0; rows->gpu && i < own;)
		i += add_gpu(leaderboard, rows + i, own - i);
	return own;
}

size_t home_rows_of_engine(struct home_row *rows, size_t count, const char *engine)
{
	size_t kept = 0;
	bool is_wanted = false;
	for (size_t i = 0; i < count; i++) {
		const struct home_row *row = &rows[i];
		bool is_same_device = i && row->gpu && rows[i - 1].gpu
			&& strcmp(row->gpu, rows[i - 1].gpu) == 0 && strcmp(row->name, rows[i - 1].name) == 0;
		if (!is_same_device)
			is_wanted = row->gpu && row->engine && strcmp(row->engine, engine) == 0;
		if (is_wanted)
			rows[kept++] = rows[i];
	}
	return kept;
}

/* ---- order ---- */

static enum home_part part_of(const struct home_leaderboard *leaderboard)
{
	if (strcmp(leaderboard->state, "active") == 0)
		return HOME_ACTIVE;
	return strcmp(leaderboard->state, "practice") == 0 ? HOME_PRACTICE : HOME_ENDED;
}

static int by_urgency(const void *left, const void *right)
{
	const struct home_leaderboard *a = left, *b = right;
	enum home_part part = part_of(a);
	if (part != part_of(b))
		return part < part_of(b) ? -1 : 1;
	if (a->deadline_ms == b->deadline_ms)
		return strcasecmp(a->name, b->name);
	if (a->deadline_ms == TIME_NULL || b->deadline_ms == TIME_NULL)
		return a->deadline_ms == TIME_NULL ? 1 : -1;
	bool sooner = a->deadline_ms < b->deadline_ms;
	return sooner == (part == HOME_ACTIVE) ? -1 : 1;
}

struct home_view home_view_make(
	struct arena *arena, const struct home_row *rows, size_t count, int64_t now)
{
	struct home_view view = { .sections = { { .title = "Active", .id = "active" },
								  { .title = "Practice", .id = "practice" },
								  { .title = "Ended", .id = "ended" } } };
	struct home_leaderboard *leaderboards = arena_array(arena, struct home_leaderboard, count + 1);
	for (size_t i = 0; i < count;)
		i += add_leaderboard(arena, &leaderboards[view.count++], rows + i, count - i, now);
	if (view.count)
		qsort(leaderboards, view.count, sizeof *leaderboards, by_urgency);
	for (size_t i = 0; i < view.count; i++)
		view.sections[part_of(&leaderboards[i])].count++;
	for (size_t part = 0; part < home_parts; leaderboards += view.sections[part++].count)
		view.sections[part].leaderboards = leaderboards;
	view.takes = view.sections[HOME_ACTIVE].count + view.sections[HOME_PRACTICE].count > 0;
	return view;
}

/* ---- the page ---- */

static bool have_several_engines(const struct home_row *rows, size_t count)
{
	const char *first = NULL;
	for (size_t i = 0; i < count; i++) {
		if (!rows[i].engine || !rows[i].gpu)
			continue;
		if (first && strcmp(first, rows[i].engine) != 0)
			return true;
		first = rows[i].engine;
	}
	return false;
}

static int asked_engine(struct request *request, const char **engine)
{
	const char *wanted = request_query(request, "engine");
	*engine = wanted ? wanted : "";
	return !**engine || *engine_meaning(*engine)
		? 0
		: fail(request->error, ERROR_INPUT,
			"There is no engine %s. Choose sealed, isolated or custom.",
			quote(request->arena, *engine));
}

static int read_internal_errors(struct request *request, struct home_view *view)
{
	struct internal_errors *rows;
	if (request->viewer.role == ROLE_PARTICIPANT)
		return 0;
	int rc = database_rows(request->db, request->arena, &internal_errors_reading, &rows,
		&view->internal_error_count, request->error, "iii", request->viewer.id,
		(int64_t)(request->viewer.role == ROLE_ADMIN), (int64_t) false);
	view->internal_errors = rows;
	return rc;
}

int page_home(struct request *request)
{
	const char *engine;
	struct home_row *rows;
	size_t count;
	int rc = asked_engine(request, &engine);
	if (!rc)
		rc = database_rows(request->db, request->arena, &HOME, &rows, &count, request->error, "i",
			request->viewer.id);
	if (rc)
		return rc;
	struct page page = page_make(request, "Leaderboards", "leaderboards");
	rc = announcements_read(request, 0, &page);
	if (rc)
		return rc;
	bool has_filter = *engine || have_several_engines(rows, count);
	if (*engine)
		count = home_rows_of_engine(rows, count, engine);
	struct home_view view = home_view_make(request->arena, rows, count, page.now_ms);
	view.engine = engine;
	view.has_filter = has_filter;
	rc = read_internal_errors(request, &view);
	if (rc)
		return rc;
	home_page(&request->body, &page, &view);
	request->may_be_cached = true;
	return 0;
}
