/* The front page. */
#include "cgi/page/home.h"

#include "cgi/http/kept_answer.h"
#include "cgi/page/announcement.h"
#include "cgi/page/pages.h"
#include "cgi/page/shown_leaderboard.h"
#include "lib/base/quote.h"
#include "lib/base/scope.h"
#include "lib/base/text.h"
#include "lib/job/job.h"
#include "lib/judging/internal_error.h"
#include "lib/leaderboard/freeze.h"
#include "lib/leaderboard/visibility.h"
#include "lib/ranking/records.h"
#include "lib/task/task.h"
#include "templates/home.h"

#include <stdlib.h>
#include <string.h>

static const struct column HOME_COLUMNS[] = {
	INTEGER(struct home_row, leaderboard_id),
	INTEGER(struct home_row, is_public),
	TEXT(struct home_row, name),
	TEXT(struct home_row, language),
	TEXT(struct home_row, description),
	TIME(struct home_row, deadline_ms),
	INTEGER(struct home_row, accepting),
	INTEGER(struct home_row, practice),
	INTEGER(struct home_row, is_frozen),
	INTEGER(struct home_row, is_closed),
	INTEGER(struct home_row, participants),
	INTEGER(struct home_row, submissions),
	TIME(struct home_row, active_at_ms),
	TEXT(struct home_row, gpu),
	TEXT(struct home_row, engine),
	INTEGER(struct home_row, entries),
	TEXT(struct home_row, holder),
	TIME(struct home_row, record_at_ms),
	REAL(struct home_row, record_ns),
	REAL(struct home_row, record_err_ns),
};
#define ENGINE_ON_GPU SQL_ENGINE_OF("l.task_version_id", "g.gpu")
#define OF_DEVICE(record) SQL_IS_RECORD(record, "l.id", "l.task_version_id", "g.gpu")
#define RECORD_OF_DEVICE OF_DEVICE("r")
#define RECORD_ERR SQL_RECORD_ERR("r")
#define NEWEST_OF_DEVICE OF_DEVICE("e") " ORDER BY " SQL_RECORD_ORDER("e") " LIMIT 1"
/* Returns a row for each device of every leaderboard, whoever may see it. The join order is fixed,
 * because MariaDB would otherwise read whole rankings while its statistics lag behind a growing
 * ranking. The number of entries is the last position, which is looked up once per device. */
static const struct statement HOME = SELECT(struct home_row, HOME_COLUMNS,
	"SELECT STRAIGHT_JOIN l.id AS leaderboard_id, l.visibility = 'public' AS is_public, "
	"l.name, v.language, LEFT(v.description, 600) AS description, "
	"l.deadline AS deadline_ms, l.accepting, l.practice, " SQL_IS_FROZEN(
		"l") " AS is_frozen, "
			 "l.visibility = 'closed' AS is_closed, "
			 "COALESCE(c.participants, 0) AS participants, "
			 "COALESCE(c.submissions, 0) AS submissions, "
			 "(SELECT s.submitted_at FROM submissions s FORCE INDEX (submissions_leaderboard) "
			 "WHERE s.leaderboard_id = l.id AND NOT s.dry_run ORDER BY s.id DESC LIMIT 1) AS "
			 "active_at_ms, "
			 "g.gpu, " ENGINE_ON_GPU " AS engine, "
			 "(SELECT e.position FROM ranking e FORCE INDEX (ranking_order) "
			 "WHERE e.leaderboard_id = l.id "
			 "AND e.task_version_id = l.task_version_id AND e.gpu = g.gpu "
			 "ORDER BY e.position DESC LIMIT 1) AS entries, "
			 "u.name AS holder, r.ranked_at AS record_at_ms, r.score_ns AS record_ns, " RECORD_ERR
			 " AS record_err_ns "
			 "FROM leaderboards l JOIN task_versions v ON v.id = l.task_version_id "
			 "LEFT JOIN leaderboard_counts c ON c.leaderboard_id = l.id "
			 "LEFT JOIN leaderboard_gpus g ON g.leaderboard_id = l.id "
			 "LEFT JOIN records r FORCE INDEX (PRIMARY) ON " RECORD_OF_DEVICE
			 " AND r.submission_id = "
			 "(SELECT e.submission_id FROM records e WHERE " NEWEST_OF_DEVICE ") "
			 "LEFT JOIN users u ON u.id = r.user_id "
			 "WHERE l.archived_at IS NULL ORDER BY l.name, g.position, g.gpu");
static struct kept_answer home_kept = KEPT_ANSWER(&HOME, "", 0);

struct own_rank {
	int64_t leaderboard_id;
	const char *gpu;
	int64_t place, is_tie;
	double score_ns, score_err_ns;
};
static const struct column OWN_COLUMNS[] = {
	INTEGER(struct own_rank, leaderboard_id),
	TEXT(struct own_rank, gpu),
	INTEGER(struct own_rank, place),
	INTEGER(struct own_rank, is_tie),
	REAL(struct own_rank, score_ns),
	REAL(struct own_rank, score_err_ns),
};
#define JOIN_OWN SQL_JOIN_OWN("l", "?")
#define OWN SQL_OWN("?")
/* The viewer's ranks and times on all leaderboards. For a member of teams, the rank on a contest's
 * leaderboard is that of the team (lib/account/team.h). */
static const struct statement OWN_OF_PERSON = SELECT(struct own_rank, OWN_COLUMNS,
	"SELECT STRAIGHT_JOIN own.leaderboard_id, own.gpu, own.place, own.tied AS is_tie, "
	"own.score_ns, own.score_err_ns "
	"FROM ranking own FORCE INDEX (ranking_user) JOIN leaderboards l "
	"ON l.id = own.leaderboard_id AND l.task_version_id = own.task_version_id "
	"WHERE own.user_id = ?");
static const struct statement OWN_OF_MEMBER = SELECT(struct own_rank, OWN_COLUMNS,
	"SELECT STRAIGHT_JOIN own.leaderboard_id, own.gpu, own.place, own.tied AS is_tie, "
	"own.score_ns, own.score_err_ns "
	"FROM leaderboards l " JOIN_OWN "JOIN ranking own FORCE INDEX (PRIMARY) "
	"ON own.leaderboard_id = l.id AND own.task_version_id = l.task_version_id "
	"AND own.user_id = " OWN " WHERE l.archived_at IS NULL");

static bool has_private(const struct home_row *rows, size_t count)
{
	for (size_t i = 0; i < count; i++)
		if (!rows[i].is_public)
			return true;
	return false;
}

/* Keeps the rows that the viewer may see. */
static size_t keep_seen(struct home_row *rows, size_t count, const struct seen_leaderboards *seen)
{
	size_t kept = 0;
	for (size_t i = 0; i < count; i++)
		if (rows[i].is_public || seen_leaderboards_have(seen, rows[i].leaderboard_id))
			rows[kept++] = rows[i];
	return kept;
}

static void set_own_ranks(
	struct home_row *rows, size_t count, const struct own_rank *own, size_t own_count)
{
	for (size_t i = 0; i < count; i++) {
		rows[i].own_place = rows[i].own_tie = SQL_NULL_INTEGER;
		for (size_t o = 0; o < own_count && rows[i].gpu; o++)
			if (own[o].leaderboard_id == rows[i].leaderboard_id
				&& strcmp(own[o].gpu, rows[i].gpu) == 0) {
				rows[i].own_place = own[o].place;
				rows[i].own_tie = own[o].is_tie;
				rows[i].own_ns = own[o].score_ns;
				rows[i].own_err_ns = own[o].score_err_ns;
			}
	}
}

static int read_own_ranks(struct request *request, struct own_rank **own, size_t *count)
{
	const int64_t viewer = request->viewer.id;
	*count = 0;
	if (!viewer)
		return 0;
	return request->viewer.team_count ? database_rows(request->db, request->arena, &OWN_OF_MEMBER,
			   own, count, request->error, "ii", viewer, viewer)
									  : database_rows(request->db, request->arena, &OWN_OF_PERSON,
										  own, count, request->error, "i", viewer);
}

static int read_rows(struct request *request, struct home_row **rows, size_t *count)
{
	struct database_answer answer;
	struct seen_leaderboards seen = { 0 };
	struct own_rank *own = NULL;
	size_t own_count = 0;
	int rc = kept_answer_read(request->db, request->arena, &home_kept, &answer, request->error);
	if (!rc && has_private(answer.rows, answer.count))
		rc = seen_leaderboards_read(request, &seen);
	if (!rc)
		rc = read_own_ranks(request, &own, &own_count);
	if (rc)
		return rc;
	*rows = answer.rows;
	*count = keep_seen(answer.rows, answer.count, &seen);
	set_own_ranks(*rows, *count, own, own_count);
	return 0;
}

/* ---- what happens on the site ---- */

static const struct column SITE_COLUMNS[] = {
	INTEGER(struct home_site, running),
	INTEGER(struct home_site, queued),
	INTEGER(struct home_site, finished),
	TEXT(struct home_site, offered),
};
#define JOBS_WHERE(condition) \
	"(SELECT COUNT(*) FROM (SELECT 1 FROM jobs WHERE " condition " LIMIT ?) few)"
#define RUNNING JOBS_WHERE("state = 'running'")
#define QUEUED JOBS_WHERE("state = 'queued'")
#define FINISHED JOBS_WHERE("finished_at >= UTC_DATE()")
#define TAKES_JOBS "w.seen_at" SQL_IS_ONLINE "AND " SQL_TAKES_JOBS("g", "w")
static const struct statement SITE = SELECT(struct home_site, SITE_COLUMNS,
	"SELECT " RUNNING " AS running, " QUEUED " AS queued, " FINISHED " AS finished, "
	"(SELECT GROUP_CONCAT(DISTINCT g.model SEPARATOR ', ') FROM gpus g "
	"JOIN workers w ON w.id = g.worker_id WHERE " TAKES_JOBS ") AS offered");

static struct kept_answer site_kept =
	KEPT_ANSWER(&SITE, "iii", home_most_counted, home_most_counted, home_most_counted);

int home_site_read(struct request *request, struct home_site *site)
{
	struct database_answer answer;
	int rc = kept_answer_read(request->db, request->arena, &site_kept, &answer, request->error);
	if (!rc)
		*site = *(const struct home_site *)answer.rows;
	return rc;
}

static bool is_offered(const struct home_site *site, const char *gpu)
{
	size_t length = strlen(gpu);
	for (const char *at = site->offered ? site->offered : ""; *at; at += strspn(at, ", ")) {
		size_t own = strcspn(at, ",");
		if (own == length && strncmp(at, gpu, length) == 0)
			return true;
		at += own;
	}
	return false;
}

/* ---- summaries ---- */

static bool is_between_spaces(const char *line, size_t length, size_t i)
{
	return i && line[i - 1] == ' ' && i + 1 < length && line[i + 1] == ' ';
}

/* Appends a line without the marks of Markdown: emphasis, code, and the addresses of links. A mark
 * between spaces is none. */
static void append_plain(struct buffer *out, const char *line, size_t length)
{
	for (size_t i = 0; i < length; i++) {
		if (line[i] == ']' && i + 1 < length && line[i + 1] == '(')
			while (i < length && line[i] != ')')
				i++;
		else if (!strchr("*`[", line[i]) || is_between_spaces(line, length, i))
			buffer_append(out, &line[i], 1);
	}
}

/* The length of the first sentence, or where the text is too long for a line. */
static size_t sentence_length(const char *text)
{
	enum { most_bytes = 140 };
	const char *end = strstr(text, ". ");
	size_t length = end ? (size_t)(end - text) + 1 : strlen(text);
	if (length <= most_bytes)
		return length;
	length = most_bytes;
	while (length && text[length] != ' ')
		length--;
	return length ? length : most_bytes;
}

const char *home_summary(struct arena *arena, const char *markdown)
{
	cleanup_buffer struct buffer text = { 0 };
	for (const char *line = markdown ? markdown : ""; *line && !text.length;) {
		line += strspn(line, " \t\r\n");
		size_t length = strcspn(line, "\r\n");
		bool is_text = !strchr("#|!>-=<", *line) && strncmp(line, "```", 3) != 0;
		for (; is_text && length; length = strcspn(line, "\r\n")) {
			append_plain(&text, line, length);
			line += length + (line[length] == '\r');
			line += *line == '\n';
			if (*line && !strchr("\r\n", *line))
				buffer_text(&text, " ");
		}
		line += length;
	}
	const char *whole = buffer_string(&text);
	size_t length = sentence_length(whole);
	bool is_cut = whole[length] && whole[length - 1] != '.';
	return arena_printf(arena, "%s%s", arena_strndup(arena, whole, text_utf8_prefix(whole, length)),
		is_cut ? "…" : "");
}

/* ---- rows to leaderboards ---- */

/* TIME_NULL comes last. */
static int later_first(int64_t a_ms, int64_t b_ms)
{
	if (a_ms == TIME_NULL || b_ms == TIME_NULL)
		return (a_ms == TIME_NULL) - (b_ms == TIME_NULL);
	return (a_ms < b_ms) - (a_ms > b_ms);
}

/* Adds a leaderboard from the rows at the front. Returns how many rows belong to it. */
static size_t add_leaderboard(struct arena *arena, struct home_leaderboard *leaderboard,
	const struct home_row *rows, size_t count, const struct home_site *site, int64_t now)
{
	size_t own = 1;
	while (own < count && strcmp(rows[own].name, rows->name) == 0)
		own++;
	*leaderboard = (struct home_leaderboard){
		.name = rows->name,
		.language = rows->language,
		.summary = home_summary(arena, rows->description),
		.deadline_ms = rows->deadline_ms,
		.is_frozen = rows->is_frozen,
		.is_closed = rows->is_closed,
		.is_hidden = !rows->is_public && !rows->is_closed,
		.state = leaderboard_state_of(
			rows->deadline_ms, rows->accepting, rows->practice, TIME_NULL, now),
		.participants = rows->participants,
		.submissions = rows->submissions,
		.active_at_ms = rows->active_at_ms,
		.gpus = rows,
		.gpu_count = rows->gpu ? own : 0,
		.waits = rows->gpu != NULL,
	};
	for (size_t i = 0; i < leaderboard->gpu_count; i++) {
		leaderboard->waits &= !is_offered(site, rows[i].gpu);
		/* A job may run long after it was submitted. */
		int64_t record_ms = rows[i].holder ? rows[i].record_at_ms : TIME_NULL;
		if (later_first(record_ms, leaderboard->active_at_ms) < 0)
			leaderboard->active_at_ms = record_ms;
	}
	return own;
}

/* ---- the filter ---- */

static bool fits(struct arena *arena, const struct home_row *row, const struct home_filter *filter)
{
	if (*filter->gpu && !(row->gpu && strcmp(row->gpu, filter->gpu) == 0))
		return false;
	if (*filter->engine && !(row->gpu && row->engine && strcmp(row->engine, filter->engine) == 0))
		return false;
	return !*filter->text || strcasestr(row->name, filter->text)
		|| strcasestr(home_summary(arena, row->description), filter->text);
}

size_t home_rows_filter(
	struct arena *arena, struct home_row *rows, size_t count, const struct home_filter *filter)
{
	size_t kept = 0;
	for (size_t i = 0; i < count; i++)
		if (fits(arena, &rows[i], filter))
			rows[kept++] = rows[i];
	return kept;
}

static void add_name(const char **names, size_t *count, const char *name)
{
	if (name && !names_contain(names, *count, name))
		names[(*count)++] = name;
}

/* Lists what the filter offers, before it is applied. */
static void list_choices(
	struct arena *arena, const struct home_row *rows, size_t count, struct home_view *view)
{
	view->gpus = arena_array(arena, const char *, count + 1);
	view->engines = arena_array(arena, const char *, count + 1);
	for (size_t i = 0; i < count; i++) {
		add_name(view->gpus, &view->gpu_count, rows[i].gpu);
		if (rows[i].gpu)
			add_name(view->engines, &view->engine_count, rows[i].engine);
	}
}

/* ---- order ---- */

static enum home_part part_of(const struct home_leaderboard *leaderboard)
{
	if (strcmp(leaderboard->state, "active") == 0)
		return HOME_ACTIVE;
	return strcmp(leaderboard->state, "practice") == 0 ? HOME_PRACTICE : HOME_ENDED;
}

static int by_activity(const void *left, const void *right)
{
	const struct home_leaderboard *a = left, *b = right;
	enum home_part part = part_of(a);
	if (part != part_of(b))
		return part < part_of(b) ? -1 : 1;
	int order = part == HOME_ENDED ? later_first(a->deadline_ms, b->deadline_ms)
								   : later_first(a->active_at_ms, b->active_at_ms);
	return order ? order : strcasecmp(a->name, b->name);
}

static void find_newest_record(struct home_view *view, const struct home_leaderboard *leaderboards)
{
	for (size_t i = 0; i < view->count; i++)
		for (size_t g = 0; g < leaderboards[i].gpu_count; g++) {
			const struct home_row *gpu = &leaderboards[i].gpus[g];
			if (!gpu->holder || gpu->record_at_ms == TIME_NULL
				|| (view->newest && view->newest_gpu->record_at_ms >= gpu->record_at_ms))
				continue;
			view->newest = &leaderboards[i];
			view->newest_gpu = gpu;
		}
}

struct home_view home_view_make(struct arena *arena, const struct home_row *rows, size_t count,
	const struct home_site *site, int64_t now)
{
	struct home_view view = { .site = *site,
		.sections = { { .title = "Active", .id = "active" },
			{ .title = "Practice", .id = "practice" }, { .title = "Ended", .id = "ended" } } };
	struct home_leaderboard *leaderboards = arena_array(arena, struct home_leaderboard, count + 1);
	for (size_t i = 0; i < count;)
		i += add_leaderboard(arena, &leaderboards[view.count++], rows + i, count - i, site, now);
	if (view.count)
		qsort(leaderboards, view.count, sizeof *leaderboards, by_activity);
	find_newest_record(&view, leaderboards);
	for (size_t i = 0; i < view.count; i++)
		view.sections[part_of(&leaderboards[i])].count++;
	for (size_t part = 0; part < home_parts; leaderboards += view.sections[part++].count)
		view.sections[part].leaderboards = leaderboards;
	view.takes = view.sections[HOME_ACTIVE].count + view.sections[HOME_PRACTICE].count > 0;
	return view;
}

/* ---- the page ---- */

static int filter_of_request(struct request *request, struct home_filter *filter)
{
	*filter = (struct home_filter){ .text = request_query_or(request, "q", ""),
		.gpu = request_query_or(request, "gpu", ""),
		.engine = request_query_or(request, "engine", "") };
	return !*filter->engine || *engine_meaning(filter->engine)
		? 0
		: fail(request->error, ERROR_INPUT,
			"There is no engine %s. Choose sealed, isolated or custom.",
			quote(request->arena, filter->engine));
}

static int read_internal_errors(struct request *request, struct home_view *view)
{
	struct internal_errors *rows;
	if (!viewer_is_staff(&request->viewer))
		return 0;
	int rc = database_rows(request->db, request->arena, &internal_errors_reading, &rows,
		&view->internal_error_count, request->error, "iii", request->viewer.id,
		(int64_t)(request->viewer.role == ROLE_ADMIN), (int64_t) false);
	view->internal_errors = rows;
	return rc;
}

int page_home(struct request *request)
{
	struct home_filter filter;
	struct home_site site;
	struct home_row *rows;
	size_t count;
	int rc = filter_of_request(request, &filter);
	if (!rc)
		rc = read_rows(request, &rows, &count);
	if (!rc)
		rc = home_site_read(request, &site);
	if (rc)
		return rc;
	struct page page = page_make(request, "Leaderboards", "leaderboards");
	rc = announcements_read(request, 0, &page);
	if (rc)
		return rc;
	struct home_view choices = { 0 };
	list_choices(request->arena, rows, count, &choices);
	struct home_view view = home_view_make(request->arena, rows, count, &site, page.now_ms);
	bool is_filtered = *filter.text || *filter.gpu || *filter.engine;
	if (is_filtered) { /* the record is that of the whole site */
		const struct home_view whole = view;
		rows = arena_copy(request->arena, rows, count * sizeof *rows);
		count = home_rows_filter(request->arena, rows, count, &filter);
		view = home_view_make(request->arena, rows, count, &site, page.now_ms);
		view.newest = whole.newest, view.newest_gpu = whole.newest_gpu;
	}
	view.gpus = choices.gpus;
	view.gpu_count = choices.gpu_count;
	view.engines = choices.engines;
	view.engine_count = choices.engine_count;
	view.filter = filter;
	view.is_filtered = is_filtered;
	rc = read_internal_errors(request, &view);
	if (rc)
		return rc;
	home_page(&request->body, &page, &view);
	request->may_be_cached = true;
	return 0;
}
