/* Leaderboards, their rankings and tasks. */
#include "cgi/page/leaderboard.h"
#include "cgi/api/api.h"
#include "cgi/api/calls.h"
#include "cgi/http/session.h"
#include "cgi/page/task_page.h"
#include "lib/base/format.h"
#include "lib/base/interval.h"
#include "lib/base/member.h"
#include "lib/base/quote.h"
#include "lib/base/scope.h"
#include "lib/gpu/floor.h"
#include "lib/leaderboard/quota.h"
#include "lib/leaderboard/visibility.h"
#include "lib/ranking/records.h"
#include "lib/submission/file.h"

#include <math.h>
#include <sodium.h>
#include <string.h>

/* ---- the list ---- */

struct leaderboard_item {
	int64_t id, version, deadline_ms, frozen_at_ms, sources_public, participants, submissions,
		accepting;
	const char *name, *state, *visibility, *language, *devices;
};
static const struct column ITEM_COLUMNS[] = {
	INTEGER(struct leaderboard_item, id),
	INTEGER(struct leaderboard_item, version),
	TIME(struct leaderboard_item, deadline_ms),
	TIME(struct leaderboard_item, frozen_at_ms),
	INTEGER(struct leaderboard_item, sources_public),
	INTEGER(struct leaderboard_item, participants),
	INTEGER(struct leaderboard_item, submissions),
	INTEGER(struct leaderboard_item, accepting),
	TEXT(struct leaderboard_item, name),
	TEXT(struct leaderboard_item, state),
	TEXT(struct leaderboard_item, visibility),
	TEXT(struct leaderboard_item, language),
	TEXT(struct leaderboard_item, devices),
};
/* The same state as leaderboard_state_of (cgi/page/shown_leaderboard.h), in SQL for the filter
 * ?state=. */
#define LEADERBOARD_STATE \
	"CASE WHEN o.archived_at IS NOT NULL THEN 'archived' " \
	"WHEN o.deadline <= UTC_TIMESTAMP(3) " \
	"THEN IF(o.practice AND o.accepting, 'practice', 'ended') " \
	"WHEN o.accepting THEN 'active' ELSE 'closed' END"
#define MAY_SEE_LEADERBOARD SQL_MAY_SEE("l")
static const char *const STATES[] = { "active", "practice", "ended", "closed", "archived" };
/* SQL expression: the devices as a JSON array, each with its record and how many users are ranked.
 * Positions run from 1 without gaps, so the last position is that number. */
#define RECORD_NS SQL_RECORD_NS("l.id", "l.task_version_id", "g.gpu")
#define RECORD_USER SQL_RECORD_USER("l.id", "l.task_version_id", "g.gpu")
#define DEVICES \
	"(SELECT JSON_ARRAYAGG(JSON_OBJECT('gpu', g.gpu, 'score_ns', " RECORD_NS \
	", 'user', " RECORD_USER ", " \
	"'accepting', JSON_EXTRACT(IF(" SQL_IS_CLOSED( \
		"l", "g") ", 'false', 'true'), '$'), " \
				  "'participants', COALESCE((SELECT e.position FROM ranking e WHERE " \
				  "e.leaderboard_id = l.id " \
				  "AND e.task_version_id = l.task_version_id AND e.gpu = g.gpu " \
				  "ORDER BY e.position DESC LIMIT 1), 0)) ORDER BY g.position, g.gpu) FROM " \
				  "leaderboard_gpus g " \
				  "WHERE g.leaderboard_id = l.id) AS devices "
#define POLICY SQL_SOURCE_POLICY("l")
static const struct statement ITEMS = SELECT(struct leaderboard_item, ITEM_COLUMNS,
	"SELECT l.id, v.number AS version, l.deadline AS deadline_ms, l.frozen_at AS frozen_at_ms, "
	"" POLICY " IN ('deadline', 'always') AS sources_public, "
	"COALESCE(c.participants, 0) AS participants, COALESCE(c.submissions, 0) AS submissions, "
	"l.accepting, l.name, l.state, l.visibility, v.language, " DEVICES
	"FROM (SELECT o.*, " LEADERBOARD_STATE " AS state FROM leaderboards o WHERE o.id < ?) l "
	"JOIN task_versions v ON v.id = l.task_version_id "
	"LEFT JOIN leaderboard_counts c ON c.leaderboard_id = l.id "
	"WHERE IF(? = '', l.state <> 'archived', l.state = ?) AND " MAY_SEE_LEADERBOARD
	" ORDER BY l.id DESC LIMIT ?");

static json_t *names_json(const json_t *devices)
{
	json_t *list = json_array(), *device;
	size_t i;
	json_array_foreach(devices, i, device)
	{
		json_array_append(list, json_object_get(device, "gpu"));
	}
	return list;
}

static json_t *devices_json(const char *text)
{
	json_t *devices = text ? json_loads(text, 0, NULL) : json_array(), *device;
	size_t i;
	json_array_foreach(devices, i, device)
	{
		double score_ns = member_real(device, "score_ns");
		json_object_set_new(device, "floor_ns",
			json_number(floor_reached_ns(member_text(device, "gpu"), score_ns)));
	}
	return devices ? devices : json_array();
}

static json_t *item_json(const struct leaderboard_item *item)
{
	json_t *devices = devices_json(item->devices);
	return json_pack("{s:s, s:s, s:s, s:s, s:o, s:o, s:o, s:I, s:b, s:I, s:I, s:o}", "name",
		item->name, "state", item->state, "visibility", item->visibility, "language",
		item->language, "deadline", json_moment(item->deadline_ms), "frozen_at",
		json_moment(item->frozen_at_ms), "gpus", names_json(devices), "task_version",
		(json_int_t)item->version, "sources_public", (int)(item->sources_public == 1),
		"participants", (json_int_t)item->participants, "submissions",
		(json_int_t)item->submissions, "devices", devices);
}

static int asked_state(struct request *request, const char **state)
{
	*state = request_query(request, "state");
	if (!*state)
		return *state = "", 0;
	for (size_t i = 0; i < COUNT(STATES); i++)
		if (strcmp(STATES[i], *state) == 0)
			return 0;
	return fail_field(request->error, "state",
		"There is no state %s; choose active, practice, ended, closed or archived.",
		quote(request->arena, *state));
}

int api_leaderboards(struct request *request)
{
	struct leaderboard_item *items;
	struct api_list list;
	const char *state;
	size_t count;
	int rc = api_list_read(request, &list);
	if (!rc)
		rc = asked_state(request, &state);
	if (!rc)
		rc = database_rows(request->db, request->arena, &ITEMS, &items, &count, request->error,
			"issii", list.is_first ? INT64_MAX : list.after[0], state, state, request->viewer.id,
			list.limit + 1);
	if (rc)
		return rc;
	json_t *shown = json_array();
	for (size_t i = 0; i < count && (int64_t)i < list.limit; i++)
		json_array_append_new(shown, item_json(&items[i]));
	return respond_list(request, shown,
		(int64_t)count > list.limit ? api_cursor(request, items[list.limit - 1].id, 0) : NULL);
}

/* ---- one leaderboard ---- */

static json_t *lines_json(const char *const *lines, size_t count)
{
	json_t *list = json_array();
	for (size_t i = 0; i < count; i++)
		json_array_append_new(list, json_text(lines[i]));
	return list;
}

static json_t *modes_json(void)
{
	json_t *modes = json_array();
	for (size_t i = 0; quota_mode(i); i++)
		json_array_append_new(modes, json_string(quota_mode(i)));
	return modes;
}

static json_t *gpus_json(const struct shown_leaderboard *shown)
{
	json_t *gpus = json_array();
	for (size_t i = 0; i < shown->gpu_count; i++)
		json_array_append_new(gpus, json_string(shown->gpus[i].name));
	return gpus;
}

static json_t *limits_json(const struct task *task)
{
	return json_pack("{s:i, s:I, s:I, s:I, s:I, s:n}", "compile_s", task_compile_timeout_s,
		"test_s", (json_int_t)task->test_timeout_s, "benchmark_s",
		(json_int_t)task->benchmark_timeout_s, "ranked_s", (json_int_t)task->ranked_timeout_s,
		"file_bytes", (json_int_t)submission_most_bytes, "memory_bytes");
}

static json_t *quotas_json(const struct quota_use *uses)
{
	json_t *list = json_array();
	for (size_t i = 0; i < quota_modes; i++) {
		const struct quota *quota = &uses[i].quota;
		if (quota->most)
			json_array_append_new(list,
				json_pack("{s:s, s:I, s:I, s:I, s:I, s:I}", "mode", uses[i].mode, "limit",
					(json_int_t)quota->most, "window_s", (json_int_t)quota->hours * 3600, "used",
					(json_int_t)uses[i].used, "remaining",
					(json_int_t)(uses[i].used < quota->most ? quota->most - uses[i].used : 0),
					"wait_s", (json_int_t)uses[i].wait_s));
	}
	return list;
}

static json_t *leaderboard_json(const struct shown_leaderboard *shown, const struct task_view *view,
	const struct quota_use *uses)
{
	const struct task *task = view->task;
	json_t *cases = json_pack("{s:o, s:o}", "tests", lines_json(task->tests, task->test_count),
		"benchmarks", lines_json(task->benchmarks, task->benchmark_count));
	return json_pack("{s:s, s:s, s:o, s:s, s:s, s:s, s:o, s:s, s:o, s:o, s:o, s:o, s:I, s:o, s:o, "
					 "s:o, s:b, s:s, "
					 "s:o, s:o}",
		"name", shown->leaderboard.name, "title", shown->leaderboard.name, "description",
		json_text(task->description), "state", leaderboard_state(&shown->leaderboard, now_ms()),
		"visibility", shown->leaderboard.visibility, "engine", view->engine ? view->engine : "auto",
		"engine_reason", json_text(view->engine_reason), "language", shown->leaderboard.language,
		"deadline", json_moment(shown->leaderboard.deadline_ms), "frozen_at",
		json_moment(shown->leaderboard.frozen_at_ms), "gpus", gpus_json(shown), "modes",
		modes_json(), "task_version", (json_int_t)shown->leaderboard.version_number, "limits",
		limits_json(task), "cases", cases, "quotas", uses ? quotas_json(uses) : json_null(),
		"sources_public", (int)api_sources_are_public(&shown->leaderboard), "sources",
		shown->leaderboard.sources, "license", api_license(&shown->leaderboard), "contest",
		json_text(shown->contest));
}

int api_leaderboard(struct request *request)
{
	struct shown_leaderboard shown;
	const struct task_view *view;
	struct quota quotas[quota_modes];
	struct quota_use uses[quota_modes];
	bool is_known = request->viewer.id;
	int rc = is_known ? shown_leaderboard_with_quotas(request, &shown, quotas)
					  : shown_leaderboard_of_request(request, &shown);
	if (!rc)
		rc = task_view_get(
			request, shown.leaderboard.task_version_id, shown.version_revision, &view);
	if (!rc && is_known)
		rc = quota_uses_of(request->db, request->arena, request->config, quotas,
			shown.leaderboard.id, viewer_author_on(request, shown.leaderboard.id), uses,
			request->error);
	return rc ? rc : respond_json(request, leaderboard_json(&shown, view, is_known ? uses : NULL));
}

/* ---- a leaderboard's rankings ---- */

static json_t *rank_json(struct arena *arena, const struct shown_leaderboard *shown,
	const struct ranked_gpu *gpu, const struct ranking_row *row, const struct speed_of_light *light,
	const struct speed_up *speed_up)
{
	const struct interval interval = floor_interval_of(gpu->name, row->score_ns, row->score_err_ns);
	return json_pack("{s:I, s:b, s:o, s:s, s:I, s:f, s:o, s:o, s:o, s:o, s:o, s:o, s:s, s:o, s:o, "
					 "s:I, s:o, s:o, s:o}",
		"rank", (json_int_t)row->place, "tie", (int)row->is_tie, "reason",
		json_text(ranking_reason_words(arena, row->reason, row->other)), "user", row->user,
		"submission", (json_int_t)row->submission_id, "score_ns", row->score_ns, "score_err_ns",
		json_number(row->score_err_ns), "lower_ns", json_number(interval.low_ns), "upper_ns",
		json_number(interval.high_ns), "floor_ns",
		json_number(floor_reached_ns(gpu->name, row->score_ns)), "fastest_ns",
		json_number(gpu->fastest_ns), "above_ns", json_number(row->above_ns), "language",
		dialect_find(shown->leaderboard.language, row->dialect)->name, "engine",
		json_text(row->engine), "submitted_at", json_moment(row->submitted_at_ms), "attempts",
		(json_int_t)row->attempts, "results", json_count(row->results), "peak_share",
		json_number(light->ns / row->score_ns), "speed_up",
		json_number(speed_up_of(speed_up, row->score_ns)));
}

static json_t *ranks_json(struct request *request, const struct shown_leaderboard *shown,
	const struct ranked_gpu *gpu, const struct task *task, const struct ranking_list *ranking,
	const struct speed_up *speed_up)
{
	struct speed_of_light light = speed_of_light(request->arena, task, gpu->name);
	json_t *items = json_array();
	for (size_t i = 0; i < ranking->row_count; i++)
		json_array_append_new(
			items, rank_json(request->arena, shown, gpu, &ranking->rows[i], &light, speed_up));
	return items;
}

static json_t *about_ranking(const struct shown_leaderboard *shown, const struct ranked_gpu *gpu,
	const struct speed_up *speed_up)
{
	return json_pack("{s:s, s:I, s:o, s:o, s:I, s:o, s:o}", "leaderboard", shown->leaderboard.name,
		"task_version", (json_int_t)shown->leaderboard.version_number, "gpu",
		json_text(gpu ? gpu->name : NULL), "engine", json_text(gpu ? gpu->engine : NULL), "entries",
		(json_int_t)(gpu ? gpu->entries : 0), "baseline",
		json_text(speed_up->baseline ? speed_up->baseline->user : NULL), "baselines",
		speed_up_json(speed_up, gpu ? gpu->name : NULL));
}

int api_rankings(struct request *request)
{
	struct api_list list;
	struct shown_leaderboard shown;
	const struct ranked_gpu *gpu;
	const struct task_view *view;
	struct ranking_list ranking;
	struct speed_up speed_up = { 0 };
	int rc = api_list_read(request, &list);
	if (!rc)
		rc = task_view_read(request, &shown, &view);
	if (!rc)
		rc = ranked_gpu_of_request(request, &shown, &gpu);
	if (!rc && !gpu)
		return respond_list_about(
			request, about_ranking(&shown, NULL, &speed_up), json_array(), NULL);
	if (!rc)
		rc =
			ranking_list_read_behind(request, &shown, gpu, list.after[0], list.limit + 1, &ranking);
	if (!rc)
		rc = speed_up_read(
			request, view->task, ranking.baselines, ranking.baseline_count, &speed_up);
	if (rc)
		return rc;
	bool has_more = (int64_t)ranking.row_count > list.limit;
	ranking.row_count -= has_more;
	return respond_list_about(request, about_ranking(&shown, gpu, &speed_up),
		ranks_json(request, &shown, gpu, view->task, &ranking, &speed_up),
		has_more ? api_cursor(request, ranking.rows[ranking.row_count - 1].position, 0) : NULL);
}

/* ---- a leaderboard's task ---- */

static json_t *file_json(const struct task_view_file *file)
{
	char hash[2 * 32 + 1];
	sodium_bin2hex(hash, sizeof hash, file->sha256.bytes, file->sha256.length);
	return json_pack("{s:s, s:s, s:I, s:s}", "path", file->path, "role", file->role, "size_bytes",
		(json_int_t)file->size, "sha256", hash);
}

static json_t *templates_json(const struct task *task)
{
	json_t *list = json_array();
	for (size_t i = 0; i < task->template_count; i++)
		json_array_append_new(list,
			json_pack("{s:s, s:s}", "language", task->templates[i].language, "file_name",
				task->templates[i].source));
	return list;
}

int api_task(struct request *request)
{
	struct shown_leaderboard shown;
	const struct task_view *view;
	int rc = task_view_read(request, &shown, &view);
	if (rc)
		return rc;
	json_t *files = json_array();
	for (size_t i = 0; i < view->file_count; i++)
		if (strcmp(view->files[i].role, task_file_role_name(ROLE_TEMPLATE)) != 0)
			json_array_append_new(files, file_json(&view->files[i]));
	return respond_json(request,
		json_pack("{s:I, s:o, s:o, s:o}", "version", (json_int_t)shown.leaderboard.version_number,
			"definition", task_to_json(view->task), "files", files, "templates",
			templates_json(view->task)));
}

static int respond_source(struct request *request, const struct task_source *source)
{
	return respond_text(request, source->name, source->content.bytes, source->content.length);
}

int api_task_file(struct request *request)
{
	struct task_source source;
	int rc = task_file_of_request(request, &source);
	return rc ? rc : respond_source(request, &source);
}

int api_task_template(struct request *request)
{
	struct task_source source;
	int rc = task_template_of_request(request, &source);
	return rc ? rc : respond_source(request, &source);
}
