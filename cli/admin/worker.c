/* `worker list`, `worker drain`, `worker pause`, `worker quarantine`, `worker resume`. */
#include "cli/admin/admin.h"
#include "lib/base/scope.h"
#include "lib/fleet/fleet.h"

#include <string.h>

static void say_device(const struct fleet_device *device)
{
	enum pause pause = (enum pause)(
		device->worker_pause > device->device_pause ? device->worker_pause : device->device_pause);
	bool runs = device->submission_id != SQL_NULL_INTEGER;
	const char *state = device->online == 1 && device->is_too_old == 1
		? "too old"
		: fleet_state(device->online == 1, pause, runs);
	if (!device->uuid)
		admin_say("%-24s %-9s no device", device->worker, state);
	else if (device->rival_id != SQL_NULL_INTEGER)
		admin_say("%-24s %-9s %-12s %s  submissions %lld and %lld compared: %s", device->worker,
			state, device->model, device->uuid, (long long)device->submission_id,
			(long long)device->rival_id, device->progress);
	else if (runs)
		admin_say("%-24s %-9s %-12s %s  submission %lld: %s", device->worker, state, device->model,
			device->uuid, (long long)device->submission_id, device->progress);
	else
		admin_say("%-24s %-9s %-12s %s", device->worker, state, device->model, device->uuid);
}

int worker_list_command(int argc, char **argv)
{
	(void)argv;
	if (argc != 1)
		return admin_usage("worker list");
	cleanup_arena struct arena *arena = arena_new();
	cleanup_database struct database *db = admin_connect();
	struct error error = { 0 };
	struct fleet_device *devices;
	size_t count;
	if (!db)
		return admin_failed;
	if (fleet_list(db, arena, &devices, &count, &error))
		return admin_complain(&error);
	for (size_t i = 0; i < count; i++)
		say_device(&devices[i]);
	return admin_done;
}

static void say_done(enum pause pause, const char *worker, const char *uuid, int64_t given_back)
{
	const char *of = *uuid ? " of " : "";
	if (pause == PAUSE_NONE)
		admin_say("%s%s%s takes jobs again.", uuid, of, worker);
	else if (pause == PAUSE_DRAIN)
		admin_say("%s%s%s finishes its jobs and takes no new ones.", uuid, of, worker);
	else
		admin_say("%s%s%s takes no job; %lld running %s queued again.", uuid, of, worker,
			(long long)given_back, given_back == 1 ? "one is" : "ones are");
}

/* The arguments are WORKER [DEVICE]. */
static int change_pause(const char *name, int argc, char **argv, enum pause pause)
{
	if (argc != 2 && argc != 3)
		return admin_usage(name);
	const char *worker = argv[1], *uuid = argc == 3 ? argv[2] : "";
	int64_t given_back = 0;
	struct error error = { 0 };
	cleanup_database struct database *db = admin_connect();
	if (!db)
		return admin_failed;
	int rc = pause == PAUSE_NONE
		? fleet_resume(db, worker, uuid, &admin_actor, &error)
		: fleet_pause(db, worker, uuid, pause, &admin_actor, &given_back, &error);
	if (rc)
		return admin_complain(&error);
	say_done(pause, worker, uuid, given_back);
	return admin_done;
}

int worker_drain_command(int argc, char **argv)
{
	return change_pause("worker drain", argc, argv, PAUSE_DRAIN);
}

int worker_pause_command(int argc, char **argv)
{
	return change_pause("worker pause", argc, argv, PAUSE_PAUSE);
}

int worker_quarantine_command(int argc, char **argv)
{
	if (argc != 4)
		return admin_usage("worker quarantine");
	int64_t given_back = 0;
	struct error error = { 0 };
	cleanup_database struct database *db = admin_connect();
	if (!db)
		return admin_failed;
	if (fleet_quarantine(db, argv[1], argv[2], argv[3], &admin_actor, &given_back, &error))
		return admin_complain(&error);
	say_done(PAUSE_QUARANTINE, argv[1], argv[2], given_back);
	return admin_done;
}

int worker_resume_command(int argc, char **argv)
{
	return change_pause("worker resume", argc, argv, PAUSE_NONE);
}
