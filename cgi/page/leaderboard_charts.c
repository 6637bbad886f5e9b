#include "cgi/page/leaderboard_charts.h"

#include "cgi/http/paging.h"
#include "cgi/http/session.h"
#include "cgi/page/pages.h"
#include "cgi/page/ranking_list.h"
#include "lib/base/format.h"
#include "lib/base/quote.h"
#include "lib/base/scope.h"
#include "templates/leaderboard_charts.h"

#include <math.h>
#include <string.h>

/* ---- each shape ---- */

static const struct column SHAPE_COLUMNS[] = {
	INTEGER(struct shape_entry, position),
	INTEGER(struct shape_entry, place),
	INTEGER(struct shape_entry, is_tie),
	INTEGER(struct shape_entry, case_index),
	INTEGER(struct shape_entry, submission_id),
	TEXT(struct shape_entry, user),
	TEXT(struct shape_entry, role),
	INTEGER(struct shape_entry, is_own),
	REAL(struct shape_entry, mean_ns),
	REAL(struct shape_entry, err_ns),
};
#define CASES_OF(job) \
	"JOIN stages t ON t.job_id = " job " AND t.name = 'ranked' " \
	"JOIN measurements m ON m.stage_id = t.id AND m.case_index BETWEEN ? AND ? AND m.mean_ns > 0 "
#define CASES_OF_RANK CASES_OF("r.job_id")
#define CASES_OF_USER \
	"SELECT r.position, r.place, r.tied AS is_tie, m.case_index, r.submission_id, u.name AS " \
	"user, NULL AS role, " \
	"r.user_id = ? AS is_own, COALESCE(m.floor_ns, m.mean_ns) AS mean_ns, m.err_ns " \
	"FROM ranking r JOIN users u ON u.id = r.user_id " CASES_OF_RANK \
	"WHERE r.leaderboard_id = ? AND r.task_version_id = ? AND r.gpu = ? "
#define CASES_OF_BASELINE CASES_OF("b.job_id")
/* Reads the cases' times, as the score counts them, of the first ten users, of the viewer if ranked
 * lower, and of the baselines. */
static const struct statement SHAPES = SELECT(struct shape_entry, SHAPE_COLUMNS,
	CASES_OF_USER "AND r.position <= ? UNION ALL " CASES_OF_USER
				  "AND r.user_id = ? AND r.position > ? "
				  "UNION ALL SELECT 0, 0, FALSE, m.case_index, b.submission_id, b.path, b.role, 0, "
				  "COALESCE(m.floor_ns, m.mean_ns), m.err_ns FROM baselines b " CASES_OF_BASELINE
				  "WHERE b.task_version_id = ? AND b.gpu = ? "
				  "ORDER BY case_index, mean_ns, position");

static double slowest_of(const struct shape *shape, bool is_user)
{
	double slowest_ns = 0;
	for (size_t i = 0; i < shape->count; i++)
		if (!is_user || !shape->entries[i].role)
			slowest_ns = fmax(slowest_ns, shape->entries[i].mean_ns);
	return slowest_ns;
}

/* Returns the time that a full-width bar stands for: the slowest time, but at most twice the
 * slowest time of a user. A very slow baseline would otherwise make all other bars too short. */
static double whole_bar_ns(const struct shape *shape)
{
	const double most_times = 2;
	double users_ns = slowest_of(shape, true), all_ns = slowest_of(shape, false);
	return users_ns > 0 ? fmin(all_ns, most_times * users_ns) : all_ns;
}

static void finish_shape(const struct shapes_view *view, struct shape *shape)
{
	const struct task *task = view->task->task;
	size_t index = (size_t)shape->number - 1;
	shape->whole_bar_ns = whole_bar_ns(shape);
	shape->light_ns =
		index < task->benchmark_count ? least_time_of_case(task, index, view->gpu->name) : NAN;
}

static void group_shapes(
	struct arena *arena, struct shapes_view *view, const struct shape_entry *entries, size_t count)
{
	int64_t first = (int64_t)task_first_ranked(view->task->task);
	view->shapes = arena_array(arena, struct shape, charted_cases + 1);
	for (size_t i = 0; i < count; i++) {
		if (!i || entries[i].case_index != entries[i - 1].case_index)
			view->shapes[view->count++] =
				(struct shape){ .number = first + entries[i].case_index + 1,
					.entries = &entries[i] };
		view->shapes[view->count - 1].count++;
	}
	for (size_t i = 0; i < view->count; i++)
		finish_shape(view, &view->shapes[i]);
}

static int read_shapes(struct request *request, struct shapes_view *view)
{
	const struct shown_leaderboard *shown = view->shown;
	struct paging paging;
	struct shape_entry *entries;
	size_t count;
	const struct task *task = view->task->task;
	int rc = paging_make(&paging, (int64_t)(task->benchmark_count - task_first_ranked(task)),
		charted_cases, query_number(request, "page", 1), request->error);
	if (rc)
		return rc;
	view->page = paging.page;
	view->pages = paging.pages;
	if (!view->gpu)
		return 0;
	const char *gpu = view->gpu->name;
	int64_t first = paging.first - 1, last = paging.last - 1,
			viewer = viewer_author_on(request, shown->leaderboard.id);
	rc = database_rows(request->db, request->arena, &SHAPES, &entries, &count, request->error,
		"iiiiisiiiiiisiiiiis", viewer, first, last, shown->leaderboard.id,
		shown->leaderboard.task_version_id, gpu, (int64_t)charted_users, viewer, first, last,
		shown->leaderboard.id, shown->leaderboard.task_version_id, gpu, viewer,
		(int64_t)charted_users, first, last, shown->leaderboard.task_version_id, gpu);
	if (!rc)
		group_shapes(request->arena, view, entries, count);
	return rc;
}

static int view_shapes(struct request *request, const struct shown_leaderboard *shown)
{
	struct shapes_view view = { .shown = shown };
	int rc = ranked_gpu_of_request(request, shown, &view.gpu);
	if (!rc)
		rc = task_view_get(
			request, shown->leaderboard.task_version_id, shown->version_revision, &view.task);
	if (!rc)
		rc = read_shapes(request, &view);
	if (rc)
		return rc;
	struct page page = page_make(request,
		arena_printf(request->arena, "Shapes of %s", shown->leaderboard.name), "leaderboards");
	shapes_page(&request->body, &page, &view);
	return 0;
}

/* ---- all devices side by side ---- */

const char *device_list(
	struct arena *arena, const struct shown_leaderboard *shown, const struct ranked_gpu *only)
{
	json_t *names = json_array();
	for (size_t i = 0; i < shown->gpu_count; i++)
		if (!only || only == &shown->gpus[i])
			json_array_append_new(names, json_string(shown->gpus[i].name));
	cleanup_free char *text = json_dumps(names, JSON_COMPACT);
	json_decref(names);
	return arena_strdup(arena, text ? text : "[]");
}

static const struct column SCALING_COLUMNS[] = {
	TEXT(struct scaling_entry, gpu),
	TEXT(struct scaling_entry, user),
	INTEGER(struct scaling_entry, user_id),
	INTEGER(struct scaling_entry, place),
	INTEGER(struct scaling_entry, is_tie),
	INTEGER(struct scaling_entry, submission_id),
	REAL(struct scaling_entry, score_ns),
	REAL(struct scaling_entry, score_err_ns),
};
/* Reads the places on all devices of up to ten users and the viewer. Chooses the users who are in
 * the top ten on the most devices, and sorts them best first. */
static const struct statement SCALING = SELECT(struct scaling_entry, SCALING_COLUMNS,
	"SELECT r.gpu, u.name AS user, r.user_id, r.place, r.tied AS is_tie, r.submission_id, "
	"r.score_ns, r.score_err_ns "
	"FROM (SELECT user_id, MAX(devices) AS devices, MAX(positions) AS positions "
	"FROM ((SELECT p.user_id, COUNT(*) AS devices, SUM(p.position) AS positions "
	"FROM " SQL_DEVICES " d "
	"  STRAIGHT_JOIN ranking p FORCE INDEX (ranking_order) ON p.leaderboard_id = ? AND "
	"p.task_version_id = ? AND p.gpu = d.gpu AND p.position <= ? "
	"  GROUP BY p.user_id ORDER BY devices DESC, positions, p.user_id LIMIT ?) "
	"  UNION ALL SELECT ?, 0, 0) chosen GROUP BY user_id) first "
	"STRAIGHT_JOIN " SQL_DEVICES " g "
	"STRAIGHT_JOIN ranking r ON r.leaderboard_id = ? AND r.task_version_id = ? "
	"AND r.gpu = g.gpu AND r.user_id = first.user_id "
	"STRAIGHT_JOIN users u ON u.id = r.user_id "
	"ORDER BY first.devices DESC, first.positions, first.user_id");

size_t device_index(const struct shown_leaderboard *shown, const char *gpu)
{
	size_t i = 0;
	while (i < shown->gpu_count && strcmp(shown->gpus[i].name, gpu) != 0)
		i++;
	return i;
}

/* Fills `user` from the rows at the front, one for each device with a place. Returns how many rows
 * belong to the user. */
static size_t take_user(struct arena *arena, const struct shown_leaderboard *shown,
	const struct scaling_entry *rows, size_t count, struct scaling_user *user)
{
	size_t taken = 0;
	*user = (struct scaling_user){ .user = rows->user,
		.user_id = rows->user_id,
		.entries = arena_array(arena, const struct scaling_entry *, shown->gpu_count + 1) };
	for (; taken < count && strcmp(rows[taken].user, rows->user) == 0; taken++) {
		size_t device = device_index(shown, rows[taken].gpu);
		if (device == shown->gpu_count) /* the device was added after the leaderboard was read */
			continue;
		user->entries[device] = &rows[taken];
		user->slowest_ns = fmax(user->slowest_ns, rows[taken].score_ns);
	}
	return taken;
}

static void draw_user(struct arena *arena, const struct shown_leaderboard *shown,
	const struct scaling_user *user, struct chart_line *line)
{
	struct chart_point *points = arena_array(arena, struct chart_point, shown->gpu_count);
	for (size_t i = 0; i < shown->gpu_count; i++)
		points[i] =
			(struct chart_point){ (double)i, user->entries[i] ? user->entries[i]->score_ns : NAN };
	*line = (struct chart_line){
		.style = user->style, .points = points, .count = shown->gpu_count, .is_own = user->is_own
	};
}

static const char *const *chart_device_names(
	struct arena *arena, const struct shown_leaderboard *shown)
{
	const char **names = arena_array(arena, const char *, shown->gpu_count + 1);
	for (size_t i = 0; i < shown->gpu_count; i++)
		names[i] = shown->gpus[i].name;
	return names;
}

/* Moves the last user before those who are slower on the first device. */
static void sort_last(struct scaling_user *users, size_t count)
{
	struct scaling_user last = users[count - 1];
	double last_ns = last.entries[0] ? last.entries[0]->score_ns : INFINITY;
	size_t i = count - 1;
	for (; i > 0 && !(users[i - 1].entries[0] && users[i - 1].entries[0]->score_ns <= last_ns); i--)
		users[i] = users[i - 1];
	users[i] = last;
}

static void make_scaling(struct arena *arena, struct scaling_view *view, int64_t viewer_id,
	const struct scaling_entry *rows, size_t count)
{
	const struct shown_leaderboard *shown = view->shown;
	enum { users_most = charted_users + 1 }; /* including the viewer */
	struct chart_line *lines = arena_array(arena, struct chart_line, users_most);
	view->users = arena_array(arena, struct scaling_user, users_most);
	for (size_t i = 0; i < count && view->user_count < users_most; view->user_count++) {
		struct scaling_user *user = &view->users[view->user_count];
		i += take_user(arena, shown, rows + i, count - i, user);
		user->is_own = user->user_id == viewer_id;
		sort_last(view->users, view->user_count + 1);
	}
	for (size_t i = 0; i < view->user_count; i++) {
		struct scaling_user *user = &view->users[i];
		bool is_lower = i >= charted_users && user->entries[0]; /* has the color of the trend */
		user->style = (is_lower ? (size_t)user->entries[0]->place - 1 : i) % chart_styles;
		draw_user(arena, shown, user, &lines[i]);
	}
	view->chart = (struct chart){ .id = "devices",
		.lines = lines,
		.line_count = view->user_count,
		.names = chart_device_names(arena, shown),
		.name_count = shown->gpu_count,
		.alternative =
			arena_printf(arena, "Best times of %s on %s. The table below has the numbers.",
				plural(arena, (int64_t)view->user_count, "user"),
				plural(arena, (int64_t)shown->gpu_count, "device")) };
}

/* Fills `chosen` with the leaderboard and the devices of all ?gpu=; without any, those with ranked
 * users. */
static int choose_devices(struct request *request, const struct shown_leaderboard *whole,
	struct shown_leaderboard *chosen)
{
	const char **names;
	size_t count = request_query_values(request, "gpu", &names), wanted = 0;
	const struct ranked_gpu *gpu;
	*chosen = *whole;
	for (size_t i = 0; i < count; i++) {
		int rc = *names[i] ? ranked_gpu_named(request, whole, names[i], &gpu) : 0;
		if (rc)
			return rc;
		wanted += *names[i] != '\0';
	}
	chosen->gpus = arena_array(request->arena, struct ranked_gpu, whole->gpu_count + 1);
	chosen->gpu_count = 0;
	for (size_t i = 0; i < whole->gpu_count; i++)
		if (wanted ? names_contain(names, count, whole->gpus[i].name) : whole->gpus[i].entries > 0)
			chosen->gpus[chosen->gpu_count++] = whole->gpus[i];
	return 0;
}

static int view_devices(struct request *request, const struct shown_leaderboard *whole)
{
	struct shown_leaderboard chosen, *shown = &chosen;
	struct scaling_view view = { .shown = shown, .whole = whole };
	struct scaling_entry *rows;
	size_t count;
	int rc = choose_devices(request, whole, shown);
	if (rc)
		return rc;
	const char *devices = device_list(request->arena, shown, NULL);
	const int64_t own_id = viewer_author_on(request, shown->leaderboard.id);
	rc = database_rows(request->db, request->arena, &SCALING, &rows, &count, request->error,
		"siiiiisii", devices, shown->leaderboard.id, shown->leaderboard.task_version_id,
		(int64_t)charted_users, (int64_t)charted_users, own_id, devices, shown->leaderboard.id,
		shown->leaderboard.task_version_id);
	if (rc)
		return rc;
	make_scaling(request->arena, &view, own_id, rows, count);
	struct page page = page_make(request,
		arena_printf(request->arena, "Devices of %s", shown->leaderboard.name), "leaderboards");
	scaling_page(&request->body, &page, &view);
	return 0;
}

/* ---- the trend ---- */

static int view_trend(struct request *request, const struct shown_leaderboard *shown)
{
	struct trend_view view = { .shown = shown };
	const struct task_view *task;
	bool is_ranked = false;
	int rc = ranked_gpu_of_request(request, shown, &view.gpu);
	if (!rc)
		rc = ranking_list_has_viewer(request, shown, view.gpu, &is_ranked);
	if (!rc)
		rc = task_view_get(
			request, shown->leaderboard.task_version_id, shown->version_revision, &task);
	if (rc)
		return rc;
	struct speed_of_light light = { .ns = NAN };
	if (view.gpu)
		light = speed_of_light(request->arena, task->task, view.gpu->name);
	struct trend trend = { .shown = shown,
		.gpu = view.gpu,
		.light = &light,
		.own_id = is_ranked ? viewer_author_on(request, shown->leaderboard.id) : 0 };
	rc = view.gpu ? leaderboard_trend(request, &trend, &view.charts_html) : 0;
	if (rc)
		return rc;
	struct page page = page_make(request,
		arena_printf(request->arena, "Trend of %s", shown->leaderboard.name), "leaderboards");
	trend_page(&request->body, &page, &view);
	return 0;
}

/* ---- views ---- */

static const struct chart_page {
	const char *name;
	int (*show)(struct request *request, const struct shown_leaderboard *shown);
} VIEWS[] = {
	{ "trend", view_trend },
	{ "submissions", leaderboard_submissions },
	{ "shapes", view_shapes },
	{ "gpus", view_devices },
	{ "live", leaderboard_live },
};

int page_leaderboard_charts(struct request *request, const char *view)
{
	struct shown_leaderboard shown;
	int rc = shown_leaderboard_of_request(request, &shown);
	for (size_t i = 0; i < COUNT(VIEWS) && !rc; i++)
		if (strcmp(VIEWS[i].name, view) == 0) {
			request->may_be_cached = true;
			return VIEWS[i].show(request, &shown);
		}
	return rc ? rc
			  : fail(request->error, ERROR_NOT_FOUND,
				  "The leaderboard %s has no view named %s. It has: trend, submissions, shapes, "
				  "gpus, live.",
				  shown.leaderboard.name, quote(request->arena, view));
}
