/* Workers and devices: their state, queue and vitals; draining, pausing and resuming them. */
#include "cgi/admin/worker.h"

#include "cgi/http/confirmation.h"
#include "cgi/http/notice.h"
#include "cgi/page/pages.h"
#include "lib/base/format.h"
#include "lib/base/scope.h"
#include "lib/base/text.h"
#include "templates/admin_worker.h"

#include <string.h>

enum pause workers_pause_of(const struct fleet_device *device)
{
	return (enum pause)(
		device->worker_pause > device->device_pause ? device->worker_pause : device->device_pause);
}

const char *workers_state_of(const struct fleet_device *device)
{
	return device->broken_at_ms != TIME_NULL
		? "quarantined"
		: fleet_state(device->online == 1, workers_pause_of(device),
			device->submission_id != SQL_NULL_INTEGER);
}

const struct worker_vitals *workers_vitals_of(
	const struct workers_view *view, const struct fleet_device *device)
{
	for (size_t i = 0; i < view->vitals_count; i++)
		if (strcmp(view->vitals[i].worker, device->worker) == 0
			&& strcmp(view->vitals[i].uuid, device->uuid) == 0)
			return &view->vitals[i];
	return NULL;
}

const struct host_view *workers_host_of(const struct workers_view *view, const char *worker)
{
	for (size_t i = 0; i < view->host_count; i++)
		if (strcmp(view->hosts[i].worker, worker) == 0 && view->hosts[i].count)
			return &view->hosts[i];
	return NULL;
}

bool workers_run(const struct workers_view *view, size_t first)
{
	for (size_t i = first;
		 i < view->count && view->devices[i].worker_id == view->devices[first].worker_id; i++)
		if (view->devices[i].submission_id != SQL_NULL_INTEGER)
			return true;
	return false;
}

/* ---- vitals ---- */

/* Reads each device's newest reading, highest temperature and errors within the last day, each of
 * the three through its own index. GROUP BY makes MariaDB store the list of devices first.
 * STRAIGHT_JOIN starts with that list, so that MariaDB looks up each newest reading directly. */
#define SQL_OF_DAY "at >= UTC_TIMESTAMP(3) - INTERVAL 1 DAY"
static const struct column VITALS_COLUMNS[] = {
	TEXT(struct worker_vitals, worker),
	TEXT(struct worker_vitals, uuid),
	TIME(struct worker_vitals, at_ms),
	INTEGER(struct worker_vitals, temperature_c),
	INTEGER(struct worker_vitals, sm_mhz),
	INTEGER(struct worker_vitals, memory_mhz),
	INTEGER(struct worker_vitals, most_temperature_c),
	INTEGER(struct worker_vitals, errors),
};
const struct statement workers_vitals = SELECT(struct worker_vitals, VITALS_COLUMNS,
	"SELECT d.worker, d.uuid, d.at AS at_ms, v.temperature_c, v.sm_mhz, v.memory_mhz, "
	"d.most_temperature_c, "
	"  CAST(COALESCE(e.errors, 0) AS SIGNED) AS errors "
	"FROM (SELECT w.name AS worker, g.uuid, "
	"    (SELECT at FROM device_vitals FORCE INDEX (device_vitals_at) WHERE worker = w.name "
	"AND uuid = g.uuid "
	"      ORDER BY at DESC LIMIT 1) AS at, "
	"    (SELECT temperature_c FROM device_vitals FORCE INDEX (device_vitals_temperature) "
	"WHERE worker = w.name AND uuid = g.uuid "
	"      AND " SQL_OF_DAY " ORDER BY temperature_c DESC LIMIT 1) AS most_temperature_c "
	"  FROM workers w JOIN gpus g ON g.worker_id = w.id GROUP BY w.name, g.uuid) d "
	"STRAIGHT_JOIN device_vitals v FORCE INDEX (device_vitals_at) ON v.worker = d.worker "
	"AND v.uuid = d.uuid AND v.at = d.at AND v." SQL_OF_DAY " "
	"LEFT JOIN (SELECT worker, uuid, SUM(errors) AS errors "
	"FROM device_vitals FORCE INDEX (device_vitals_errors) "
	"  WHERE errors > 0 AND " SQL_OF_DAY
	" GROUP BY worker, uuid) e ON e.worker = d.worker AND e.uuid = d.uuid");

struct checks_row {
	const char *worker, *checks;
};
static const struct column CHECKS_COLUMNS[] = { TEXT(struct checks_row, worker),
	TEXT(struct checks_row, checks) };
static const struct statement CHECKS =
	SELECT(struct checks_row, CHECKS_COLUMNS, "SELECT name AS worker, checks FROM workers");

/* The models of leaderboards that take submissions. */
struct wanted_model {
	const char *gpu;
};
static const struct column WANTED_COLUMNS[] = { TEXT(struct wanted_model, gpu) };
static const struct statement WANTED =
	SELECT(struct wanted_model, WANTED_COLUMNS, SQL_WANTED_MODELS("TRUE"));

enum { ANSWER_DEVICES, ANSWER_VITALS, ANSWER_COUNTS, ANSWER_LINES, ANSWER_CHECKS, ANSWER_WANTED };
static const struct statement *const PARTS[] = {
	[ANSWER_DEVICES] = &fleet_devices,
	[ANSWER_VITALS] = &workers_vitals,
	[ANSWER_COUNTS] = &wait_counting,
	[ANSWER_LINES] = &wait_reading,
	[ANSWER_CHECKS] = &CHECKS,
	[ANSWER_WANTED] = &WANTED,
};
static const struct bundle PAGE = BUNDLE(PARTS);

static void read_hosts(
	struct arena *arena, const struct database_answer *answer, struct workers_view *view)
{
	const struct checks_row *rows = answer->rows;
	struct host_view *hosts = arena_array(arena, struct host_view, answer->count + 1);
	for (size_t i = 0; i < answer->count; i++) {
		hosts[i] = (struct host_view){ .worker = rows[i].worker };
		host_read(arena, rows[i].checks, &hosts[i]);
	}
	view->hosts = hosts, view->host_count = answer->count;
}

static bool has_line(const struct wait_line *lines, size_t count, const char *gpu)
{
	for (size_t i = 0; i < count; i++)
		if (strcmp(lines[i].gpu, gpu) == 0)
			return true;
	return false;
}

/* Adds the models that leaderboards want, and that have neither a device nor a job. */
static void add_wanted(struct arena *arena, const struct database_answer *wanted,
	const struct wait_line *lines, size_t count, struct workers_view *view)
{
	const struct wanted_model *models = wanted->rows;
	struct wait_line *all = arena_array(arena, struct wait_line, count + wanted->count + 1);
	size_t added = count;
	for (size_t i = 0; i < count; i++)
		all[i] = lines[i];
	for (size_t i = 0; i < wanted->count; i++)
		if (!has_line(lines, count, models[i].gpu))
			all[added++] = (struct wait_line){ .gpu = models[i].gpu, .oldest_ms = TIME_NULL };
	view->lines = all, view->line_count = added;
}

static int read_all(struct request *request, struct workers_view *view, struct error *error)
{
	struct database_answer answers[COUNT(PARTS)];
	struct wait_line *lines;
	size_t line_count;
	int rc = database_answers(
		request->db, request->arena, &PAGE, answers, error, "ii", (int64_t)0, (int64_t)0);
	if (rc)
		return rc;
	view->devices = answers[ANSWER_DEVICES].rows, view->count = answers[ANSWER_DEVICES].count;
	view->vitals = answers[ANSWER_VITALS].rows, view->vitals_count = answers[ANSWER_VITALS].count;
	wait_lines_read(
		request->arena, &answers[ANSWER_COUNTS], &answers[ANSWER_LINES], &lines, &line_count);
	add_wanted(request->arena, &answers[ANSWER_WANTED], lines, line_count, view);
	read_hosts(request->arena, &answers[ANSWER_CHECKS], view);
	return 0;
}

static int show_workers(struct request *request, struct workers_view *view)
{
	struct error own = { 0 };
	int rc = read_all(request, view, &own);
	if (rc) {
		*request->error = own;
		return rc;
	}
	struct page page = form_page_make(request, "Workers", "admin");
	admin_workers_page(&request->body, &page, view);
	return 0;
}

int page_admin_workers(struct request *request)
{
	struct workers_view view = { 0 };
	return show_workers(request, &view);
}

/* ---- actions ---- */

static const struct pausing {
	const char *name, *verb;
	const char *outcome; /* after the name of the worker or device */
	enum pause pause;
} PAUSINGS[] = {
	{ "drain", "Drain", "takes no new jobs", PAUSE_DRAIN },
	{ "pause", "Pause", "was paused", PAUSE_PAUSE },
	{ "quarantine", "Quarantine", "was quarantined", PAUSE_QUARANTINE },
	{ "resume", "Resume", "takes jobs again", PAUSE_NONE },
};

struct target {
	const char *worker, *uuid; /* uuid "": the whole worker */
};

static bool is_selected(const struct target *target, const struct fleet_device *device)
{
	return strcmp(target->worker, device->worker) == 0
		&& (!*target->uuid || (device->uuid && strcmp(target->uuid, device->uuid) == 0));
}

static void say_what_stops(
	struct request *request, struct confirmation *question, enum pause pause, long long running)
{
	const char *jobs = plural(request->arena, running, "running job");
	confirmation_says(request, question,
		"It takes no jobs until an admin resumes it, also across restarts. Queued jobs go to other "
		"devices of the same model or keep waiting.");
	if (running && pause == PAUSE_DRAIN)
		confirmation_says(request, question, "%s on it will finish first.", jobs);
	else if (running)
		confirmation_says(request, question,
			"%s on it will stop and be queued again. The progress is lost, and the attempt does "
			"not "
			"count.",
			jobs);
	else
		confirmation_says(request, question, "Nothing runs on it now.");
}

/* If the user has not confirmed, shows the confirmation page and sets *asked; the caller then
 * returns without acting. Resuming needs no confirmation. Asks nothing if the worker is unknown or
 * the reason invalid, because the action reports that error. */
static int check_pausing(struct request *request, const struct pausing *pausing,
	const struct target *target, bool *asked)
{
	struct fleet_device *devices;
	size_t count;
	long long meant = 0, running = 0;
	struct confirmation question = {
		.title = arena_printf(request->arena, "%s %s%s%s?", pausing->verb, target->uuid,
			*target->uuid ? " of " : "", target->worker),
		.section = "admin",
		.button = arena_printf(request->arena, "%s it", pausing->verb),
		.back = "/admin/workers",
	};
	const char *reason = request_form_or(request, "reason", "");
	bool is_wrong =
		pausing->pause == PAUSE_QUARANTINE && !text_is_line(reason, fleet_most_reason_bytes);
	if (is_wrong || pausing->pause == PAUSE_NONE || confirmation_given(request, &question))
		return 0;
	int rc = fleet_list(request->db, request->arena, &devices, &count, request->error);
	for (size_t i = 0; i < count && !rc; i++)
		if (is_selected(target, &devices[i])) {
			meant++;
			running += devices[i].submission_id != SQL_NULL_INTEGER;
		}
	if (rc || !meant)
		return rc;
	*asked = true;
	if (pausing->pause == PAUSE_QUARANTINE)
		confirmation_says(request, &question, "Why: “%s”", reason);
	say_what_stops(request, &question, pausing->pause, running);
	return confirmation_ask(request, &question);
}

static int change_pause(
	struct request *request, const struct pausing *pausing, const struct target *target)
{
	const struct actor actor = actor_of(request);
	int64_t given_back;
	if (pausing->pause == PAUSE_NONE)
		return fleet_resume(request->db, target->worker, target->uuid, &actor, request->error);
	if (pausing->pause == PAUSE_QUARANTINE)
		return fleet_quarantine(request->db, target->worker, target->uuid,
			request_form_or(request, "reason", ""), &actor, &given_back, request->error);
	return fleet_pause(request->db, target->worker, target->uuid, pausing->pause, &actor,
		&given_back, request->error);
}

static int run_worker_action(struct request *request, bool *asked)
{
	const struct target target = { request_form_or(request, "worker", ""),
		request_form_or(request, "device", "") };
	const char *action = request_form_or(request, "action", "");
	for (size_t i = 0; i < COUNT(PAUSINGS); i++) {
		if (strcmp(PAUSINGS[i].name, action) != 0)
			continue;
		int rc = check_pausing(request, &PAUSINGS[i], &target, asked);
		if (rc || *asked)
			return rc;
		rc = change_pause(request, &PAUSINGS[i], &target);
		if (!rc)
			notice_leave(request, "%s%s%s %s.", target.uuid, *target.uuid ? " of " : "",
				target.worker, PAUSINGS[i].outcome);
		return rc;
	}
	return fail(
		request->error, ERROR_INPUT, "This page has no such action; reload it and try again.");
}

int action_admin_worker(struct request *request)
{
	bool asked = false;
	int rc = run_worker_action(request, &asked);
	if (asked)
		return rc;
	if (!rc)
		return redirect(request, "/admin/workers");
	if (rc != ERROR_INPUT && rc != ERROR_NOT_FOUND && rc != ERROR_CONFLICT)
		return rc;
	struct workers_view view = { 0 };
	request->status = rc == ERROR_CONFLICT ? 409 : rc == ERROR_NOT_FOUND ? 404 : 422;
	return show_workers(request, &view);
}
