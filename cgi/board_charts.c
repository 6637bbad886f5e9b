#include "cgi/board_charts.h"

#include "cgi/keep.h"
#include "cgi/pages.h"
#include "cgi/paging.h"
#include "lib/clock.h"
#include "lib/quote.h"
#include "lib/scope.h"
#include "templates/board_charts.h"

#include <math.h>
#include <string.h>

/* ---- how the best times fell ---- */

struct trend_row { int64_t position, place; const char *user; double best_ns; const char *points; };
static const struct column TREND_COLUMNS[] = {
	INTEGER(struct trend_row, position), INTEGER(struct trend_row, place), TEXT(struct trend_row, user), REAL(struct trend_row, best_ns),
	TEXT(struct trend_row, points),
};
/* The newest points of a line, the newest first: "submission at_ms score_ns user;". More than these are not read. */
#define POINTS(leaderboard, version, gpu, line) "(SELECT GROUP_CONCAT(CONCAT_WS(' ', e.submission_id, " \
	"  CAST(UNIX_TIMESTAMP(e.submitted_at) * 1000 AS INT), e.score_ns, eu.name) ORDER BY e.submission_id DESC SEPARATOR ';' LIMIT 200) " \
	"FROM records e JOIN users eu ON eu.id = e.user_id WHERE e.leaderboard_id = " leaderboard " AND e.task_version_id = " version \
	" AND e.gpu = " gpu " AND e.line = " line ") AS points "
static const struct statement TREND = SELECT(struct trend_row, TREND_COLUMNS,
	"SELECT r.position, r.place, u.name AS user, r.score_ns AS best_ns, "
	POINTS("r.leaderboard_id", "r.task_version_id", "r.gpu", "r.user_id")
	"FROM ranking r JOIN users u ON u.id = r.user_id "
	"WHERE r.leaderboard_id = ? AND r.task_version_id = ? AND r.gpu = ? AND r.position <= ? "
	"UNION ALL SELECT 4294967295, 0, NULL, NULL, " POINTS("?", "?", "?", "0")
	"ORDER BY position");

/* One point of POINTS; what is behind it, or NULL at the end. */
static const char *read_point(struct arena *arena, const char *text, struct trend_point *point)
{
	char *end;
	point->submission_id = strtoll(text, &end, 10);
	point->at_ms = strtoll(end, &end, 10);
	point->score_ns = strtod(end, &end);
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

/* The line's points, the oldest first, and no more than a page should hold. */
static void read_points(struct arena *arena, const char *text, struct trend_line *line, struct chart_line *drawn)
{
	size_t count = points_in(text);
	struct trend_point *points = arena_array(arena, struct trend_point, count + 1);
	struct chart_point *spots = arena_array(arena, struct chart_point, count + 1);
	for (size_t i = count; i-- > 0 && text;)
		text = read_point(arena, text, &points[i]);
	for (size_t i = 0; i < count; i++)
		spots[i] = (struct chart_point){ (double)points[i].at_ms, points[i].score_ns };
	size_t left = chart_thin(spots, count, charted_points);
	for (size_t i = 0, from = 0; i < left; i++, from++) { /* times fall, so each is there once */
		while (points[from].score_ns > spots[i].ns)
			from++;
		points[i] = points[from];
	}
	line->points = points;
	line->count = left;
	*drawn = (struct chart_line){ .style = line->style, .points = spots, .count = left };
}

static const char *trend_words(struct arena *arena, const struct trend *trend)
{
	const struct trend_line *record = trend->line_count ? &trend->lines[trend->line_count - 1] : NULL;
	format_text first, last;
	if (!record || !record->count)
		return "";
	format_duration_ns(first, record->points[0].score_ns);
	format_duration_ns(last, record->points[record->count - 1].score_ns);
	return arena_printf(arena, "Best times on %s since the first submission: the record went from %s of %s to %s of %s. The table below has the numbers.",
		trend->gpu->name, first, record->points[0].user, last, record->points[record->count - 1].user);
}

static void make_trend(struct arena *arena, struct trend *trend, const struct trend_row *rows, size_t count)
{
	struct chart_line *drawn = arena_array(arena, struct chart_line, count + 1);
	trend->lines = arena_array(arena, struct trend_line, count + 1);
	trend->line_count = count;
	for (size_t i = 0; i < count; i++) {
		trend->lines[i] = (struct trend_line){ .user = rows[i].user, .place = rows[i].place, .best_ns = rows[i].best_ns,
			.style = rows[i].user ? (size_t)(rows[i].position - 1) % chart_styles : chart_record };
		read_points(arena, rows[i].points, &trend->lines[i], &drawn[i]);
	}
	trend->chart = (struct chart){ .id = "trend", .lines = drawn, .line_count = count, .alternative = trend_words(arena, trend) };
}

static int read_trend(struct request *request, struct trend *trend)
{
	const struct board *board = trend->board;
	struct trend_row *rows;
	size_t count;
	int rc = database_rows(request->db, request->arena, &TREND, &rows, &count, request->error, "iisiiis", board->id,
		board->task_version_id, trend->gpu->name, (int64_t)charted_users, board->id, board->task_version_id, trend->gpu->name);
	if (!rc)
		make_trend(request->arena, trend, rows, count);
	return rc;
}

/* ---- the trends that a thread keeps ---- */

/* The page is asked for far more often than a record falls. */
enum { kept_trends = 16, kept_ms = 2000 };
struct kept { int64_t leaderboard_id, version_id, read_at_ms; char gpu[64]; struct buffer html; };

static void free_kept(void *value)
{
	struct kept *kept = value;
	for (size_t i = 0; i < kept_trends; i++)
		buffer_free(&kept[i].html);
	free(kept);
}

static struct keep keep = KEEP(kept_trends * sizeof(struct kept), free_kept);

static size_t slot_of(const struct board *board, const char *gpu)
{
	size_t hash = (size_t)board->task_version_id;
	for (; *gpu; gpu++)
		hash = hash * 31 + (unsigned char)*gpu;
	return hash % kept_trends;
}

static bool is_fresh(const struct kept *slot, const struct board *board, const char *gpu)
{
	return slot->html.length && slot->leaderboard_id == board->id && slot->version_id == board->task_version_id
		&& strcmp(slot->gpu, gpu) == 0 && clock_ms() - slot->read_at_ms < kept_ms;
}

static int write_trend(struct request *request, const struct board *board, const struct board_gpu *gpu, struct buffer *html)
{
	struct trend trend = { .board = board, .gpu = gpu };
	int rc = read_trend(request, &trend);
	if (!rc)
		trend_part(html, &trend);
	return rc;
}

int board_charts(struct request *request, const struct board *board, const struct board_gpu *gpu, const char **html)
{
	struct kept *kept = keep_of_thread(&keep);
	if (!kept || strlen(gpu->name) >= sizeof kept->gpu) {
		cleanup_buffer struct buffer fresh = {0};
		int rc = write_trend(request, board, gpu, &fresh);
		*html = arena_strdup(request->arena, buffer_string(&fresh));
		return rc;
	}
	struct kept *slot = &kept[slot_of(board, gpu->name)];
	int rc = 0;
	if (!is_fresh(slot, board, gpu->name)) {
		buffer_clear(&slot->html);
		slot->leaderboard_id = board->id;
		slot->version_id = board->task_version_id;
		slot->read_at_ms = clock_ms();
		strcpy(slot->gpu, gpu->name);
		rc = write_trend(request, board, gpu, &slot->html);
	}
	*html = buffer_string(&slot->html);
	return rc;
}

/* ---- each shape by itself ---- */

static const struct column SHAPE_COLUMNS[] = {
	INTEGER(struct shape_entry, position), INTEGER(struct shape_entry, place), INTEGER(struct shape_entry, case_index),
	INTEGER(struct shape_entry, submission_id), TEXT(struct shape_entry, user), REAL(struct shape_entry, mean_ns),
	REAL(struct shape_entry, low_ns), REAL(struct shape_entry, high_ns),
};
static const struct statement SHAPES = SELECT(struct shape_entry, SHAPE_COLUMNS,
	"SELECT r.position, r.place, m.case_index, r.submission_id, u.name AS user, m.mean_ns, m.low_ns, m.high_ns "
	"FROM ranking r JOIN users u ON u.id = r.user_id JOIN stages t ON t.job_id = r.job_id AND t.name = 'ranked' "
	"JOIN measurements m ON m.stage_id = t.id AND m.case_index BETWEEN ? AND ? "
	"WHERE r.leaderboard_id = ? AND r.task_version_id = ? AND r.gpu = ? AND r.position <= ? AND m.mean_ns > 0 "
	"ORDER BY m.case_index, m.mean_ns, r.position");

static void group_shapes(struct arena *arena, struct shapes_view *view, const struct shape_entry *entries, size_t count)
{
	view->shapes = arena_array(arena, struct shape, charted_cases + 1);
	for (size_t i = 0; i < count; i++) {
		if (!i || entries[i].case_index != entries[i - 1].case_index)
			view->shapes[view->count++] = (struct shape){ entries[i].case_index + 1, &entries[i], 0 };
		view->shapes[view->count - 1].count++;
	}
}

static int read_shapes(struct request *request, struct shapes_view *view)
{
	const struct board *board = view->board;
	struct paging paging;
	struct shape_entry *entries;
	size_t count;
	int rc = paging_make(&paging, (int64_t)view->task->benchmarks.row_count, charted_cases, query_number(request, "page", 1), request->error);
	if (rc)
		return rc;
	view->page = paging.page;
	view->pages = paging.pages;
	if (!view->gpu)
		return 0;
	rc = database_rows(request->db, request->arena, &SHAPES, &entries, &count, request->error, "iiiisi", paging.first - 1, paging.last - 1,
		board->id, board->task_version_id, view->gpu->name, (int64_t)charted_users);
	if (!rc)
		group_shapes(request->arena, view, entries, count);
	return rc;
}

static int view_shapes(struct request *request, const struct board *board)
{
	struct shapes_view view = { .board = board };
	int rc = board_chosen_gpu(request, board, &view.gpu);
	if (!rc)
		rc = task_view_get(request, board->task_version_id, board->version_revision, &view.task);
	if (!rc)
		rc = read_shapes(request, &view);
	if (rc)
		return rc;
	struct page page = page_make(request, arena_printf(request->arena, "Shapes of %s", board->name), "leaderboards");
	shapes_page(&request->body, &page, &view);
	return 0;
}

/* ---- all devices side by side ---- */

static const struct column SCALING_COLUMNS[] = {
	TEXT(struct scaling_entry, gpu), TEXT(struct scaling_entry, user), INTEGER(struct scaling_entry, place),
	INTEGER(struct scaling_entry, submission_id), REAL(struct scaling_entry, score_ns),
};
/* The ten users that are among the first ten of the most devices, the better ones first; and where they stand on each. */
static const struct statement SCALING = SELECT(struct scaling_entry, SCALING_COLUMNS,
	"SELECT r.gpu, u.name AS user, r.place, r.submission_id, r.score_ns "
	"FROM (SELECT p.user_id, COUNT(*) AS devices, SUM(p.position) AS positions FROM leaderboard_gpus d "
	"  JOIN ranking p FORCE INDEX (ranking_order) ON p.leaderboard_id = d.leaderboard_id AND p.task_version_id = ? AND p.gpu = d.gpu AND p.position <= ? "
	"  WHERE d.leaderboard_id = ? GROUP BY p.user_id ORDER BY devices DESC, positions, p.user_id LIMIT ?) first "
	"JOIN leaderboard_gpus g ON g.leaderboard_id = ? "
	"JOIN ranking r ON r.leaderboard_id = g.leaderboard_id AND r.task_version_id = ? AND r.gpu = g.gpu AND r.user_id = first.user_id "
	"JOIN users u ON u.id = r.user_id ORDER BY first.devices DESC, first.positions, first.user_id");

static size_t device_index(const struct board *board, const char *gpu)
{
	size_t i = 0;
	while (i < board->gpu_count && strcmp(board->gpus[i].name, gpu) != 0)
		i++;
	return i;
}

/* The user whose rows begin here, with a place for each device. */
static size_t take_user(struct arena *arena, const struct board *board, const struct scaling_entry *rows, size_t count, struct scaling_user *user)
{
	size_t taken = 0;
	*user = (struct scaling_user){ .user = rows->user, .entries = arena_array(arena, const struct scaling_entry *, board->gpu_count + 1) };
	for (; taken < count && strcmp(rows[taken].user, rows->user) == 0; taken++) {
		size_t device = device_index(board, rows[taken].gpu);
		if (device == board->gpu_count) /* chosen since */
			continue;
		user->entries[device] = &rows[taken];
		user->slowest_ns = fmax(user->slowest_ns, rows[taken].score_ns);
	}
	return taken;
}

static void draw_user(struct arena *arena, const struct board *board, const struct scaling_user *user, struct chart_line *line)
{
	struct chart_point *points = arena_array(arena, struct chart_point, board->gpu_count);
	for (size_t i = 0; i < board->gpu_count; i++)
		points[i] = (struct chart_point){ (double)i, user->entries[i] ? user->entries[i]->score_ns : NAN };
	*line = (struct chart_line){ .style = user->style, .points = points, .count = board->gpu_count };
}

static const char *const *device_names(struct arena *arena, const struct board *board)
{
	const char **names = arena_array(arena, const char *, board->gpu_count + 1);
	for (size_t i = 0; i < board->gpu_count; i++)
		names[i] = board->gpus[i].name;
	return names;
}

static void make_scaling(struct arena *arena, struct scaling_view *view, const struct scaling_entry *rows, size_t count)
{
	const struct board *board = view->board;
	struct chart_line *lines = arena_array(arena, struct chart_line, charted_users);
	view->users = arena_array(arena, struct scaling_user, charted_users);
	for (size_t i = 0; i < count && view->user_count < charted_users; view->user_count++) {
		struct scaling_user *user = &view->users[view->user_count];
		i += take_user(arena, board, rows + i, count - i, user);
		user->style = view->user_count;
		draw_user(arena, board, user, &lines[view->user_count]);
	}
	view->chart = (struct chart){ .id = "devices", .lines = lines, .line_count = view->user_count, .names = device_names(arena, board),
		.name_count = board->gpu_count, .alternative = arena_printf(arena, "Best times of %zu %s on each of %zu devices. The table below has the numbers.",
			view->user_count, view->user_count == 1 ? "user" : "users", board->gpu_count) };
}

static int view_devices(struct request *request, const struct board *board)
{
	struct scaling_view view = { .board = board };
	struct scaling_entry *rows;
	size_t count;
	int rc = database_rows(request->db, request->arena, &SCALING, &rows, &count, request->error, "iiiiii", board->task_version_id,
		(int64_t)charted_users, board->id, (int64_t)charted_users, board->id, board->task_version_id);
	if (rc)
		return rc;
	make_scaling(request->arena, &view, rows, count);
	struct page page = page_make(request, arena_printf(request->arena, "Devices of %s", board->name), "leaderboards");
	scaling_page(&request->body, &page, &view);
	return 0;
}

/* ---- for a projector ---- */

static const struct column LIVE_COLUMNS[] = {
	TEXT(struct live_entry, gpu), TEXT(struct live_entry, user), INTEGER(struct live_entry, position), INTEGER(struct live_entry, place),
	TIME(struct live_entry, submitted_at_ms), REAL(struct live_entry, score_ns), REAL(struct live_entry, score_err_ns),
};
/* Of all devices, or of one. */
static const struct statement LIVE = SELECT(struct live_entry, LIVE_COLUMNS,
	"SELECT g.gpu, u.name AS user, r.position, r.place, r.submitted_at AS submitted_at_ms, r.score_ns, r.score_err_ns "
	"FROM leaderboard_gpus g JOIN ranking r FORCE INDEX (ranking_order) ON r.leaderboard_id = g.leaderboard_id AND r.task_version_id = ? "
	"  AND r.gpu = g.gpu AND r.position <= ? JOIN users u ON u.id = r.user_id "
	"WHERE g.leaderboard_id = ? AND ? IN ('', g.gpu) ORDER BY g.position, g.gpu, r.position");

static int read_live(struct request *request, const struct board *board, struct live_entry **entries, size_t *count)
{
	const struct board_gpu *gpu;
	const char *wanted = request_query(request, "gpu");
	int rc = board_chosen_gpu(request, board, &gpu);
	return rc ? rc : database_rows(request->db, request->arena, &LIVE, entries, count, request->error, "iiis", board->task_version_id,
		(int64_t)live_entries, board->id, gpu && wanted && *wanted ? gpu->name : "");
}

static void group_live(struct arena *arena, struct live_view *view, const struct live_entry *entries, size_t count)
{
	view->devices = arena_array(arena, struct live_device, count + 1);
	for (size_t i = 0; i < count; i++) {
		if (!i || strcmp(entries[i].gpu, entries[i - 1].gpu) != 0)
			view->devices[view->device_count++] = (struct live_device){ entries[i].gpu, &entries[i], 0 };
		view->devices[view->device_count - 1].count++;
	}
}

/* The address of what live.js asks for: the same devices. */
static const char *live_address(struct request *request, const struct board *board)
{
	cleanup_buffer struct buffer address = {0};
	const char *gpu = request_query(request, "gpu");
	buffer_printf(&address, "/leaderboard/%s/live%s", board->name, gpu && *gpu ? "?gpu=" : "");
	html_url_part(&address, gpu);
	return arena_strdup(request->arena, address.data);
}

static int view_live(struct request *request, const struct board *board)
{
	enum { reload_s = 10 };
	struct live_view view = { .board = board };
	struct live_entry *entries;
	size_t count;
	int rc = read_live(request, board, &entries, &count);
	if (rc)
		return rc;
	struct page page = page_make(request, arena_printf(request->arena, "%s live", board->name), "leaderboards");
	group_live(request->arena, &view, entries, count);
	view.state = board_condition(board, page.now_ms);
	page.refresh_s = reload_s;
	page.live_url = live_address(request, board);
	live_page(&request->body, &page, &view);
	return 0;
}

static json_t *live_json(const struct live_entry *entry)
{
	return json_pack("{s:s, s:I, s:s, s:f}", "gpu", entry->gpu, "rank", (json_int_t)entry->place, "user", entry->user, "score_ns",
		entry->score_ns);
}

int page_leaderboard_live(struct request *request)
{
	struct board board;
	struct live_entry *entries;
	size_t count;
	int rc = board_of_request(request, &board);
	if (!rc)
		rc = read_live(request, &board, &entries, &count);
	if (rc)
		return rc;
	json_t *rows = json_array();
	for (size_t i = 0; i < count; i++)
		json_array_append_new(rows, live_json(&entries[i]));
	request->may_be_cached = true;
	int64_t now = now_ms();
	/* With the minute, because the page says in words how long there is still time. */
	return respond_json(request, json_pack("{s:s, s:s, s:b, s:I, s:o}", "leaderboard", board.name, "state",
		board_condition(&board, now), "settled", 0, "minute", (json_int_t)(now / 60000), "rows", rows));
}

/* ---- views ---- */

static const struct board_view { const char *name; int (*show)(struct request *request, const struct board *board); } VIEWS[] = {
	{ "shapes", view_shapes }, { "gpus", view_devices }, { "live", view_live },
};

int page_board_view(struct request *request, const char *view)
{
	struct board board;
	int rc = board_of_request(request, &board);
	for (size_t i = 0; i < COUNT(VIEWS) && !rc; i++)
		if (strcmp(VIEWS[i].name, view) == 0) {
			request->may_be_cached = true;
			return VIEWS[i].show(request, &board);
		}
	return rc ? rc : fail(request->error, ERROR_NOT_FOUND, "The leaderboard %s has no view named %s. It has: shapes, gpus, live.", board.name,
		quote(request->arena, view));
}
