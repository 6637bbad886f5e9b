/* Draining, pausing and resuming workers and single devices. */
#include "cgi/admin_worker.h"

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

static int run_action(struct request *request)
{
	static const struct { const char *name; enum pause pause; } actions[] = {
		{ "drain", PAUSE_DRAIN }, { "pause", PAUSE_PAUSE }, { "resume", PAUSE_NONE },
	};
	const char *action = request_form_or(request, "action", ""), *worker = request_form_or(request, "worker", "");
	const char *uuid = request_form_or(request, "device", "");
	struct actor actor = { request->viewer.id, request->viewer.name, request->address };
	int64_t given_back;
	for (size_t i = 0; i < COUNT(actions); i++)
		if (strcmp(actions[i].name, action) == 0)
			return actions[i].pause == PAUSE_NONE ? fleet_resume(request->db, worker, uuid, &actor, request->error)
				: fleet_pause(request->db, worker, uuid, actions[i].pause, &actor, &given_back, request->error);
	return fail(request->error, ERROR_INPUT, "This page has no such action; reload it and try again.");
}

int action_admin_worker(struct request *request)
{
	int rc = run_action(request);
	if (!rc)
		return redirect(request, "/admin/workers?done=1");
	if (rc != ERROR_INPUT && rc != ERROR_NOT_FOUND && rc != ERROR_CONFLICT)
		return rc;
	struct workers_view view = { .error = arena_strdup(request->arena, request->error->text) };
	request->status = rc == ERROR_CONFLICT ? 409 : rc == ERROR_NOT_FOUND ? 404 : 422;
	return show(request, &view);
}
