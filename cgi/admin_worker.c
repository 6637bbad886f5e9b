/* Draining, pausing and resuming workers and single devices. */
#include "cgi/admin_worker.h"

#include "cgi/confirmation.h"
#include "cgi/pages.h"
#include "lib/scope.h"
#include "templates/admin_worker.h"

#include <string.h>

enum pause workers_pause_of(const struct fleet_device *device)
{
	return (enum pause)(device->worker_pause > device->device_pause ? device->worker_pause : device->device_pause);
}

bool workers_run(const struct workers_view *view, size_t first)
{
	for (size_t i = first; i < view->count && view->devices[i].worker_id == view->devices[first].worker_id; i++)
		if (view->devices[i].submission_id != SQL_NULL_INTEGER)
			return true;
	return false;
}

static int show(struct request *request, struct workers_view *view)
{
	struct fleet_device *devices;
	struct error own = {0};
	int rc = fleet_list(request->db, request->arena, &devices, &view->count, &own);
	if (rc) {
		*request->error = own;
		return rc;
	}
	view->devices = devices;
	struct page page = page_make(request, "Workers", "admin");
	if (request_query(request, "done"))
		page.notice = "The change was made; the audit log has it.";
	admin_workers_page(&request->body, &page, view);
	return 0;
}

int page_admin_workers(struct request *request)
{
	struct workers_view view = {0};
	return show(request, &view);
}

static const struct pausing { const char *name, *verb; enum pause pause; } PAUSINGS[] = {
	{ "drain", "Drain", PAUSE_DRAIN }, { "pause", "Pause", PAUSE_PAUSE }, { "resume", "Resume", PAUSE_NONE },
};

struct target { const char *worker, *uuid; }; /* uuid "": all of the worker */

static bool is_meant(const struct target *target, const struct fleet_device *device)
{
	return strcmp(target->worker, device->worker) == 0 && (!*target->uuid || (device->uuid && strcmp(target->uuid, device->uuid) == 0));
}

static void say_what_stops(struct request *request, struct confirmation *question, enum pause pause, long long running)
{
	confirmation_says(request, question, "It takes no jobs until somebody resumes it, also when the worker starts anew. What waits goes to other "
		"devices of the same model, or goes on waiting.");
	if (running && pause == PAUSE_DRAIN)
		confirmation_says(request, question, "%lld job%s on it will end first.", running, running == 1 ? " that runs" : "s that run");
	else if (running)
		confirmation_says(request, question, "%lld job%s on it %s stopped and queued again at once; what %s computed so far is lost, and the attempt "
			"does not count.", running, running == 1 ? " that runs" : "s that run", running == 1 ? "is" : "are", running == 1 ? "it has" : "they have");
	else
		confirmation_says(request, question, "Nothing runs on it now.");
}

/* What is not there is left to the action, which says so. *asked: the answer is missing, so nothing is done. */
static int check_pausing(struct request *request, const struct pausing *pausing, const struct target *target, bool *asked)
{
	struct fleet_device *devices;
	size_t count;
	long long meant = 0, running = 0;
	struct confirmation question = {
		.title = arena_printf(request->arena, "%s %s%s%s?", pausing->verb, target->uuid, *target->uuid ? " of " : "", target->worker),
		.section = "admin", .button = arena_printf(request->arena, "%s it", pausing->verb), .back = "/admin/workers",
	};
	if (pausing->pause == PAUSE_NONE || confirmation_given(request, &question))
		return 0;
	int rc = fleet_list(request->db, request->arena, &devices, &count, request->error);
	for (size_t i = 0; i < count && !rc; i++)
		if (is_meant(target, &devices[i])) {
			meant++;
			running += devices[i].submission_id != SQL_NULL_INTEGER;
		}
	if (rc || !meant)
		return rc;
	*asked = true;
	say_what_stops(request, &question, pausing->pause, running);
	return confirmation_ask(request, &question);
}

static int run_action(struct request *request, bool *asked)
{
	const struct target target = { request_form_or(request, "worker", ""), request_form_or(request, "device", "") };
	const struct actor actor = { request->viewer.id, request->viewer.name, request->address };
	const char *action = request_form_or(request, "action", "");
	int64_t given_back;
	for (size_t i = 0; i < COUNT(PAUSINGS); i++) {
		if (strcmp(PAUSINGS[i].name, action) != 0)
			continue;
		int rc = check_pausing(request, &PAUSINGS[i], &target, asked);
		return rc || *asked ? rc : PAUSINGS[i].pause == PAUSE_NONE ? fleet_resume(request->db, target.worker, target.uuid, &actor, request->error)
			: fleet_pause(request->db, target.worker, target.uuid, PAUSINGS[i].pause, &actor, &given_back, request->error);
	}
	return fail(request->error, ERROR_INPUT, "This page has no such action; reload it and try again.");
}

int action_admin_worker(struct request *request)
{
	bool asked = false;
	int rc = run_action(request, &asked);
	if (asked)
		return rc;
	if (!rc)
		return redirect(request, "/admin/workers?done=1");
	if (rc != ERROR_INPUT && rc != ERROR_NOT_FOUND && rc != ERROR_CONFLICT)
		return rc;
	struct workers_view view = { .error = arena_strdup(request->arena, request->error->text) };
	request->status = rc == ERROR_CONFLICT ? 409 : rc == ERROR_NOT_FOUND ? 404 : 422;
	return show(request, &view);
}
