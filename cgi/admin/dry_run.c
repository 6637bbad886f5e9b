/* Dry runs of a task's version: starting one, its report by device, and its state as JSON. */
#include "cgi/admin/dry_run.h"

#include "cgi/admin/leaderboard.h"
#include "cgi/http/notice.h"
#include "cgi/http/paging.h"
#include "cgi/page/pages.h"
#include "templates/dry_run.h"

#include <math.h>
#include <string.h>

enum { reload_s = 5 };

static void count_rows(struct dry_run_view *view)
{
	for (size_t i = 0; i < view->count; i++) {
		const struct dry_run_row *row = &view->rows[i];
		*(!dry_run_has_ended(row)     ? &view->open
				: dry_run_is_met(row) ? &view->met
									  : &view->unmet) += 1;
		view->tests_right |= row->expected && strcmp(row->expected, "passed") == 0;
		view->silent += dry_run_says_nothing(row);
		view->has_time |= !isnan(row->score_ns);
		view->has_memory |= row->peak_host_bytes != SQL_NULL_INTEGER;
		view->has_device_memory |= row->peak_device_bytes != SQL_NULL_INTEGER;
	}
}

/* Splits the text of the column `untried`, which has one sentence a line, into sentences. */
static void split_untried(struct arena *arena, struct dry_run_view *view)
{
	const struct dry_run_row *newest = view->rows;
	for (size_t i = 0; i < view->count; i++)
		if (view->rows[i].dry_run_id > newest->dry_run_id)
			newest = &view->rows[i];
	const char *text = view->count ? newest->untried : "";
	view->untried = arena_array(arena, const char *, strlen(text) + 1);
	for (size_t length; *text; text += length + (text[length] == '\n')) {
		length = strcspn(text, "\n");
		view->untried[view->untried_count++] = arena_strndup(arena, text, length);
	}
}

static void take_time(struct dry_run_sealing *sealing, const struct dry_run_row *row)
{
	bool is_sealed = row->engine && strcmp(row->engine, "sealed") == 0,
		 is_isolated = row->engine && strcmp(row->engine, "isolated") == 0;
	if (is_sealed && isnan(sealing->sealed_ns)) {
		sealing->sealed_ns = row->score_ns;
		sealing->sealed_err_ns = row->score_err_ns;
	} else if (is_isolated && isnan(sealing->isolated_ns)) {
		sealing->isolated_ns = row->score_ns;
		sealing->isolated_err_ns = row->score_err_ns;
	}
}

struct dry_run_sealing dry_run_sealing(const struct dry_run_view *view, size_t first)
{
	struct dry_run_sealing sealing = { .sealed_ns = NAN, .isolated_ns = NAN };
	for (size_t i = first; i < view->count && strcmp(view->rows[i].gpu, view->rows[first].gpu) == 0;
		 i++) {
		const struct dry_run_row *row = &view->rows[i];
		sealing.open += !dry_run_has_ended(row);
		sealing.shown += dry_run_shows_engine(row);
		sealing.fallen += dry_run_fell_back(row);
		sealing.unsealed += dry_run_fell_back(row) && dry_run_shows_engine(row);
		if (dry_run_is_reference(row))
			take_time(&sealing, row);
	}
	return sealing;
}

bool dry_run_goes_on(const struct dry_run_view *view)
{
	bool goes_on = view->open
		|| (view->publication && view->check.state == CHECK_PASSED
			&& view->publication->waits_until_ms == TIME_NULL);
	for (size_t i = 0; i < view->check.device_count; i++) {
		const struct check_device *device = &view->check.devices[i];
		goes_on |= device->is_closed && (!device->answers || device->state == CHECK_PASSED);
	}
	for (size_t i = 0; i < view->baseline_count; i++)
		goes_on |= !view->baselines[i].verdict;
	return goes_on;
}

static const char *list_devices(struct arena *arena, const struct check *check, bool has_worker)
{
	const char *list = "";
	for (size_t i = 0; i < check->device_count; i++)
		if (check->devices[i].has_worker == has_worker)
			list = arena_printf(arena, "%s%s%s", list, *list ? ", " : "", check->devices[i].gpu);
	return list;
}

static int read_dry_run(struct request *request, struct dry_run_view *view, struct error *error)
{
	struct publication_report report;
	const struct leaderboard *leaderboard = view->leaderboard;
	view->version = query_number(request, "version",
		leaderboard->wanted_visibility ? leaderboard->wanted_version : leaderboard->version_number);
	int rc = publication_report_read(
		request->db, request->arena, leaderboard, view->version, &report, error);
	if (rc)
		return rc;
	view->rows = report.rows, view->count = report.count;
	view->baselines = report.baselines, view->baseline_count = report.baseline_count;
	view->publication = report.publication;
	view->check = report.check;
	view->ready = list_devices(request->arena, &view->check, true);
	view->missing = list_devices(request->arena, &view->check, false);
	count_rows(view);
	split_untried(request->arena, view);
	return 0;
}

static int show_report(
	struct request *request, const struct leaderboard *leaderboard, const char *problem)
{
	struct dry_run_view view = { .leaderboard = leaderboard, .problem = problem };
	struct error own = { 0 };
	int rc = read_dry_run(request, &view, &own);
	if (rc) {
		*request->error = own;
		return rc;
	}
	struct page page = page_make(request,
		arena_printf(request->arena, "Dry run of %s, version %lld", leaderboard->name,
			(long long)view.version),
		"admin");
	if (dry_run_goes_on(&view)) {
		page.refresh_s = reload_s;
		page.live_url =
			arena_printf(request->arena, "/admin/leaderboard/%s/dryrun/status?version=%lld",
				leaderboard->name, (long long)view.version);
	}
	dry_run_page(&request->body, &page, &view);
	return 0;
}

int page_dry_run(struct request *request)
{
	struct leaderboard leaderboard;
	int rc = leaderboard_of_admin(request, &leaderboard);
	return rc ? rc : show_report(request, &leaderboard, NULL);
}

/* Answers with the changing part of the report as JSON, for live.js. */
int page_dry_run_status(struct request *request)
{
	struct leaderboard leaderboard;
	struct dry_run_view view = { .leaderboard = &leaderboard };
	int rc = leaderboard_of_admin(request, &leaderboard);
	if (!rc)
		rc = read_dry_run(request, &view, request->error);
	if (rc)
		return rc;
	json_t *jobs = json_array();
	for (size_t i = 0; i < view.count; i++)
		json_array_append_new(jobs,
			json_pack("{s:I, s:s, s:s, s:s?}", "submission", (json_int_t)view.rows[i].submission_id,
				"gpu", view.rows[i].gpu, "state", view.rows[i].state, "verdict",
				view.rows[i].verdict));
	return respond_json(request,
		json_pack(
			"{s:s, s:o}", "state", dry_run_goes_on(&view) ? "running" : "done", "jobs", jobs));
}

int action_dry_run(struct request *request)
{
	struct leaderboard leaderboard;
	struct actor actor = actor_of(request);
	int rc = leaderboard_of_admin(request, &leaderboard);
	if (rc)
		return rc;
	int64_t version = query_number(request, "version", leaderboard.version_number);
	rc = dry_run_start(request->db, request->arena, &leaderboard, version, &actor, request->error);
	if (!rc)
		notice_leave(request, "The dry run of version %lld has started.", (long long)version);
	if (rc != ERROR_CONFLICT && rc != ERROR_INPUT)
		return rc ? rc
				  : redirect(request, "/admin/leaderboard/%s/dryrun?version=%lld", leaderboard.name,
					  (long long)version);
	request->status = rc == ERROR_CONFLICT ? 409 : 422;
	return show_report(request, &leaderboard, request->error->text);
}
