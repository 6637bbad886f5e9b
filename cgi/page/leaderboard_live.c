/* The live view of a leaderboard for a projector. */
#include "cgi/page/leaderboard_charts.h"

#include "cgi/page/pages.h"
#include "cgi/render/html.h"
#include "cgi/render/json.h"
#include "lib/base/scope.h"
#include "lib/gpu/floor.h"
#include "lib/ranking/records.h"
#include "templates/leaderboard_charts.h"

#include <math.h>
#include <string.h>

static const struct column LIVE_COLUMNS[] = {
	TEXT(struct live_entry, gpu),
	TEXT(struct live_entry, user),
	INTEGER(struct live_entry, position),
	INTEGER(struct live_entry, place),
	INTEGER(struct live_entry, is_tie),
	TIME(struct live_entry, submitted_at_ms),
	REAL(struct live_entry, score_ns),
	REAL(struct live_entry, score_err_ns),
	REAL(struct live_entry, above_ns),
	TEXT(struct live_entry, record_user),
	TIME(struct live_entry, record_at_ms),
	REAL(struct live_entry, record_ns),
	REAL(struct live_entry, record_err_ns),
	REAL(struct live_entry, record_before_ns),
};
#define OF_RANKING SQL_IS_RECORD("e", "r.leaderboard_id", "r.task_version_id", "r.gpu")
/* SQL expression: a field of the device's newest record ("0"), or of the record before it ("1").
 * The field is read only in the first row of each device. */
#define RECORD(field, before) \
	"IF(r.position = 1, (SELECT " field " FROM records e JOIN users eu ON eu.id = e.user_id " \
	"WHERE " OF_RANKING " ORDER BY " SQL_RECORD_ORDER("e") " LIMIT " before ", 1), NULL)"
#define RECORD_USER RECORD("eu.name", "0")
#define RECORD_AT RECORD("e.ranked_at", "0")
#define RECORD_SCORE RECORD("e.score_ns", "0")
#define RECORD_ERR RECORD(SQL_RECORD_ERR("e"), "0")
#define SCORE_BEFORE RECORD("e.score_ns", "1")
static const struct statement LIVE = SELECT(struct live_entry, LIVE_COLUMNS,
	"SELECT g.gpu, u.name AS user, r.position, r.place, r.tied AS is_tie, r.submitted_at AS "
	"submitted_at_ms, r.score_ns, r.score_err_ns, r.above_ns, " RECORD_USER
	" AS record_user, " RECORD_AT " AS record_at_ms, " RECORD_SCORE " AS record_ns, " RECORD_ERR
	" AS record_err_ns, " SCORE_BEFORE " AS record_before_ns "
	"FROM " SQL_DEVICES
	" g STRAIGHT_JOIN ranking r FORCE INDEX (ranking_order) ON r.leaderboard_id = ? AND "
	"r.task_version_id = ? AND r.gpu = g.gpu AND r.position <= ? "
	"STRAIGHT_JOIN users u ON u.id = r.user_id ORDER BY g.number, r.position");

static int read_live(struct request *request, const struct shown_leaderboard *shown,
	struct live_entry **entries, size_t *count)
{
	const struct ranked_gpu *gpu;
	const char *wanted = request_query(request, "gpu");
	int rc = ranked_gpu_of_request(request, shown, &gpu);
	return rc ? rc
			  : database_rows(request->db, request->arena, &LIVE, entries, count, request->error,
				  "siii", device_list(request->arena, shown, wanted && *wanted ? gpu : NULL),
				  shown->leaderboard.id, shown->leaderboard.task_version_id, (int64_t)live_entries);
}

static double fastest_on(const struct shown_leaderboard *shown, const char *gpu)
{
	size_t index = device_index(shown, gpu);
	return index < shown->gpu_count ? shown->gpus[index].fastest_ns : NAN;
}

static void group_live(
	struct arena *arena, struct live_view *view, const struct live_entry *entries, size_t count)
{
	view->devices = arena_array(arena, struct live_device, count + 1);
	for (size_t i = 0; i < count; i++) {
		if (!i || strcmp(entries[i].gpu, entries[i - 1].gpu) != 0)
			view->devices[view->device_count++] = (struct live_device){ entries[i].gpu,
				fastest_on(view->shown, entries[i].gpu), &entries[i], 0 };
		view->devices[view->device_count - 1].count++;
		if (entries[i].record_user
			&& (!view->newest || entries[i].record_at_ms > view->newest->record_at_ms))
			view->newest = &entries[i];
	}
}

/* Returns the address that live.js polls, with the same devices. */
static const char *live_address(struct request *request, const struct shown_leaderboard *shown)
{
	const struct ranked_gpu *gpu = NULL;
	const char *wanted = request_query(request, "gpu");
	if (wanted && *wanted && ranked_gpu_of_request(request, shown, &gpu))
		return NULL;
	return ranking_address(request->arena, shown, gpu, NULL, "/live", 0);
}

int leaderboard_live(struct request *request, const struct shown_leaderboard *shown)
{
	enum { reload_s = 10 };
	struct live_view view = { .shown = shown };
	struct live_entry *entries;
	size_t count;
	int rc = read_live(request, shown, &entries, &count);
	if (rc)
		return rc;
	struct page page = page_make(
		request, arena_printf(request->arena, "%s live", shown->leaderboard.name), "leaderboards");
	group_live(request->arena, &view, entries, count);
	view.state = leaderboard_state(&shown->leaderboard, page.now_ms);
	view.is_frozen = board_is_frozen(shown, page.now_ms);
	page.refresh_s = reload_s;
	page.live_url = live_address(request, shown);
	live_page(&request->body, &page, &view);
	return 0;
}

static json_t *live_json(const struct live_entry *entry)
{
	return json_pack("{s:s, s:I, s:b, s:s, s:f, s:o}", "gpu", entry->gpu, "rank",
		(json_int_t)entry->place, "tie", (int)entry->is_tie, "user", entry->user, "score_ns",
		entry->score_ns, "floor_ns", json_number(floor_reached_ns(entry->gpu, entry->score_ns)));
}

int page_leaderboard_live(struct request *request)
{
	struct shown_leaderboard shown;
	struct live_entry *entries;
	size_t count;
	int rc = shown_leaderboard_of_request(request, &shown);
	if (!rc)
		rc = read_live(request, &shown, &entries, &count);
	if (rc)
		return rc;
	json_t *rows = json_array();
	for (size_t i = 0; i < count; i++)
		json_array_append_new(rows, live_json(&entries[i]));
	request->may_be_cached = true;
	int64_t now = now_ms();
	/* The answer changes at least every minute, so that live.js updates the page, which shows the
	 * remaining time in words. */
	return respond_json(request,
		json_pack("{s:s, s:s, s:b, s:b, s:I, s:o}", "leaderboard", shown.leaderboard.name, "state",
			leaderboard_state(&shown.leaderboard, now), "settled", 0, "frozen",
			board_is_frozen(&shown, now), "minute", (json_int_t)(now / 60000), "rows", rows));
}
