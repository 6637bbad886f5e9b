/* Users, the queue and the devices. */
#include "cgi/api/api.h"
#include "cgi/api/calls.h"
#include "cgi/page/queue.h"
#include "cgi/page/user.h"
#include "lib/base/format.h"
#include "lib/fleet/fleet.h"
#include "lib/gpu/floor.h"

#include <math.h>
#include <string.h>

/* ---- a user ---- */

static json_t *place_json(const struct user_place *place)
{
	return json_pack("{s:s, s:s, s:I, s:b, s:I, s:f, s:o, s:o, s:I, s:o}", "leaderboard",
		place->leaderboard, "gpu", place->gpu, "rank", (json_int_t)place->place, "tie",
		(int)(place->is_tie == 1), "entries", (json_int_t)place->entries, "score_ns",
		place->score_ns, "score_err_ns", json_number(place->score_err_ns), "floor_ns",
		json_number(floor_reached_ns(place->gpu, place->score_ns)), "submission",
		(json_int_t)place->submission_id, "submitted_at", json_moment(place->submitted_at_ms));
}

int api_user(struct request *request)
{
	struct user_view view;
	int rc = user_read(request, request->path_parameters[0], &view);
	if (rc)
		return rc;
	json_t *places = json_array();
	for (size_t i = 0; i < view.count; i++)
		json_array_append_new(places, place_json(&view.places[i]));
	return respond_json(request,
		json_pack("{s:s, s:o, s:o}", "name", view.name, "created_at",
			json_moment(view.created_at_ms), "places", places));
}

/* ---- the queue ---- */

static json_t *line_json(const struct queue_line *line)
{
	enum { step_ms = 10000 };
	int64_t at_ms = isfinite(line->next_ms)
		? (now_ms() + (int64_t)line->next_ms + step_ms - 1) / step_ms * step_ms
		: TIME_NULL;
	return json_pack("{s:s, s:I, s:I, s:I, s:o}", "gpu", line->gpu, "devices",
		(json_int_t)line->devices, "running", (json_int_t)line->running, "waiting",
		(json_int_t)line->waiting, "expected_start", json_moment(at_ms));
}

int api_queue(struct request *request)
{
	struct queue_view view = { 0 };
	int rc = queue_read(request, &view);
	if (rc)
		return rc;
	json_t *items = json_array();
	for (size_t i = 0; i < view.line_count; i++)
		json_array_append_new(items, line_json(&view.lines[i]));
	return respond_json(request,
		json_pack("{s:o, s:I, s:b}", "items", items, "unlisted", (json_int_t)view.more, "more",
			(int)view.even_more));
}

/* ---- workers ---- */

struct model {
	const char *gpu, *product;
	int64_t devices, online, takes;
};

static struct model *model_of(
	struct model *models, size_t *count, const struct queue_device *device)
{
	for (size_t i = 0; i < *count; i++)
		if (strcmp(models[i].gpu, device->model) == 0)
			return &models[i];
	models[*count] = (struct model){ .gpu = device->model, .product = device->product };
	return &models[(*count)++];
}

static json_t *models_json(struct arena *arena, const struct queue_view *view)
{
	struct model *models = arena_array(arena, struct model, view->device_count + 1);
	size_t count = 0;
	for (size_t i = 0; i < view->device_count; i++) {
		if (!view->devices[i].model)
			continue;
		struct model *model = model_of(models, &count, &view->devices[i]);
		model->devices++;
		model->online += view->devices[i].online == 1;
		model->takes += view->devices[i].takes == 1;
	}
	json_t *items = json_array();
	for (size_t i = 0; i < count; i++)
		json_array_append_new(items,
			json_pack("{s:s, s:s, s:I, s:I, s:I}", "gpu", models[i].gpu, "product",
				models[i].product, "devices", (json_int_t)models[i].devices, "online",
				(json_int_t)models[i].online, "takes_jobs", (json_int_t)models[i].takes));
	return items;
}

static json_t *fleet_device_json(const struct fleet_device *device)
{
	enum pause pause = (enum pause)(
		device->worker_pause > device->device_pause ? device->worker_pause : device->device_pause);
	return json_pack("{s:s, s:b, s:o, s:s, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o}", "worker",
		device->worker, "online", (int)(device->online == 1), "seen_at",
		json_moment(device->seen_at_ms), "state",
		fleet_state(device->online == 1, pause, device->submission_id != SQL_NULL_INTEGER), "uuid",
		json_text(device->uuid), "gpu", json_text(device->model), "product",
		json_text(device->product), "paused_by", json_text(device->paused_by), "reason",
		json_text(device->reason), "broken_at", json_moment(device->broken_at_ms), "submission",
		json_count(device->submission_id), "stage", json_text(device->progress));
}

/* Only admins see host names and device UUIDs. */
static int read_fleet(struct request *request, json_t **devices)
{
	struct fleet_device *rows;
	size_t count;
	*devices = json_null();
	if (request->viewer.role != ROLE_ADMIN || !api_may(request, TOKEN_ADMIN))
		return 0;
	int rc = fleet_list(request->db, request->arena, &rows, &count, request->error);
	if (rc)
		return rc;
	*devices = json_array();
	for (size_t i = 0; i < count; i++)
		json_array_append_new(*devices, fleet_device_json(&rows[i]));
	return 0;
}

int api_workers(struct request *request)
{
	struct queue_view view = { 0 };
	json_t *devices;
	int rc = queue_read_devices(request, &view);
	if (!rc)
		rc = read_fleet(request, &devices);
	return rc ? rc
			  : respond_json(request,
				  json_pack("{s:o, s:o}", "items", models_json(request->arena, &view), "devices",
					  devices));
}
