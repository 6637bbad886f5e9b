/* Lists workers and their devices, pauses, drains, quarantines and resumes them. */
#include "cgi/admin/leaderboard.h"
#include "cgi/api/admin.h"
#include "lib/fleet/fleet.h"
#include "lib/fleet/quarantine.h"

#include <string.h>

static const char *pause_name(int64_t pause)
{
	static const char *const names[] = { [PAUSE_NONE] = NULL,
		[PAUSE_DRAIN] = "drain",
		[PAUSE_PAUSE] = "pause",
		[PAUSE_QUARANTINE] = "quarantine" };
	return pause >= 0 && pause <= PAUSE_QUARANTINE ? names[pause] : NULL;
}

static json_t *worker_gpu_json(const struct fleet_device *device)
{
	int64_t pause =
		device->device_pause > device->worker_pause ? device->device_pause : device->worker_pause;
	bool runs = device->submission_id != SQL_NULL_INTEGER;
	return json_pack("{s:s, s:s, s:s, s:s, s:o, s:o, s:o, s:o, s:o}", "uuid", device->uuid, "model",
		device->model, "product", device->product, "state",
		fleet_state(device->online == 1, (enum pause)pause, runs), "pause",
		json_text(pause_name(device->device_pause)), "reason", json_text(device->reason),
		"broken_at", json_moment(device->broken_at_ms), "submission",
		json_count(device->submission_id), "progress",
		runs ? json_text(device->progress) : json_null());
}

/* Describes a worker. The rows of its devices are adjacent and start at `first`. */
static json_t *worker_json(const struct fleet_device *devices, size_t count, size_t first)
{
	const struct fleet_device *worker = &devices[first];
	json_t *gpus = json_array();
	for (size_t i = first; i < count && devices[i].worker_id == worker->worker_id; i++)
		if (devices[i].uuid)
			json_array_append_new(gpus, worker_gpu_json(&devices[i]));
	return json_pack("{s:s, s:s, s:b, s:b, s:o, s:o, s:o}", "name", worker->worker, "version",
		worker->version, "too_old", worker->is_too_old == 1, "online", worker->online == 1,
		"seen_at", json_moment(worker->seen_at_ms), "pause",
		json_text(pause_name(worker->worker_pause)), "gpus", gpus);
}

int api_admin_workers(struct request *request)
{
	struct fleet_device *devices;
	size_t count;
	int rc = fleet_list(request->db, request->arena, &devices, &count, request->error);
	if (rc)
		return rc;
	json_t *items = json_array();
	for (size_t i = 0; i < count; i++)
		if (!i || devices[i].worker_id != devices[i - 1].worker_id)
			json_array_append_new(items, worker_json(devices, count, i));
	return respond_list(request, items, NULL);
}

/* Returns the device, which is the second `*` of the address; "" for the whole worker. */
static const char *device_of_path(const struct request *request)
{
	return request->path_parameters[1] ? request->path_parameters[1] : "";
}

static int stop_jobs(struct request *request, enum pause pause)
{
	struct actor actor = actor_of(request);
	int64_t given_back;
	int rc = fleet_pause(request->db, request->path_parameters[0], device_of_path(request), pause,
		&actor, &given_back, request->error);
	return rc ? rc
			  : respond_json(request, json_pack("{s:I}", "queued_again", (json_int_t)given_back));
}

static int resume_jobs(struct request *request)
{
	struct actor actor = actor_of(request);
	int rc = fleet_resume(
		request->db, request->path_parameters[0], device_of_path(request), &actor, request->error);
	return rc ? rc : respond_nothing(request);
}

int api_admin_worker_pause(struct request *request)
{
	return stop_jobs(request, PAUSE_PAUSE);
}

int api_admin_worker_drain(struct request *request)
{
	return stop_jobs(request, PAUSE_DRAIN);
}

int api_admin_worker_resume(struct request *request)
{
	return resume_jobs(request);
}

int api_admin_gpu_pause(struct request *request)
{
	return stop_jobs(request, PAUSE_PAUSE);
}

int api_admin_gpu_drain(struct request *request)
{
	return stop_jobs(request, PAUSE_DRAIN);
}

int api_admin_gpu_resume(struct request *request)
{
	return resume_jobs(request);
}

int api_admin_gpu_quarantine(struct request *request)
{
	struct actor actor = actor_of(request);
	const char *reason;
	int64_t given_back;
	int rc = api_text_or_nothing(request, "reason", &reason);
	if (!rc)
		rc = fleet_quarantine(request->db, request->path_parameters[0], device_of_path(request),
			reason, &actor, &given_back, request->error);
	return rc ? rc
			  : respond_json(request, json_pack("{s:I}", "queued_again", (json_int_t)given_back));
}

/* Releases a device that Podium has quarantined after failures. A device that an admin has
 * quarantined is resumed by api_admin_gpu_resume instead. */
int api_admin_gpu_release(struct request *request)
{
	struct actor actor = actor_of(request);
	int rc = gpu_release(request->db, device_of_path(request), &actor, request->error);
	return rc ? rc : respond_nothing(request);
}
