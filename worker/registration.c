#include "worker/registration.h"

#include "lib/arena.h"
#include "lib/scope.h"

#include <jansson.h>
#include <string.h>
#include <sys/utsname.h>

/* INSERT IGNORE would hide faults, and LAST_INSERT_ID(id) gives the row's id whether it is new or not. */
static const struct statement PUT_WORKER = COMMAND(
	"INSERT INTO workers (name, version, host, checks, instance, started_at, seen_at) "
	"VALUES (?, '" PODIUM_VERSION "', ?, ?, ?, UTC_TIMESTAMP(3), UTC_TIMESTAMP(3)) "
	"ON DUPLICATE KEY UPDATE id = LAST_INSERT_ID(id), version = VALUES(version), host = VALUES(host), checks = VALUES(checks), "
	"instance = VALUES(instance), started_at = VALUES(started_at), seen_at = VALUES(seen_at)");
/* A device that works is in no quarantine any more; one that is gone stays there, so that people see where it is. */
static const struct statement FORGET_GPUS = COMMAND("DELETE FROM gpus WHERE worker_id = ? AND quarantined_at IS NULL");
static const struct statement PUT_GPU = COMMAND(
	"INSERT INTO gpus (worker_id, uuid, model, product, memory_bytes, driver, compute_capability, seen_at) "
	"VALUES (?, ?, ?, ?, ?, ?, ?, UTC_TIMESTAMP(3)) "
	"ON DUPLICATE KEY UPDATE model = VALUES(model), product = VALUES(product), memory_bytes = VALUES(memory_bytes), "
	"driver = VALUES(driver), compute_capability = VALUES(compute_capability), seen_at = VALUES(seen_at), "
	"quarantined_at = NULL, quarantine_reason = NULL");

static const struct statement DESCRIBE = COMMAND(
	"UPDATE gpus g JOIN workers w ON w.id = g.worker_id SET g.product = ?, g.memory_bytes = ?, g.driver = ?, g.compute_capability = ? "
	"WHERE w.name = ? AND g.uuid = ?");

struct entry { int64_t id, instance, database_ms; };
static const struct column ENTRY_COLUMNS[] = {
	INTEGER(struct entry, id), INTEGER(struct entry, instance), TIME(struct entry, database_ms),
};
static const struct statement ENTRY = SELECT(struct entry, ENTRY_COLUMNS,
	"SELECT id, instance, UTC_TIMESTAMP(3) AS database_ms FROM workers WHERE name = ?");
static const struct statement SEEN_WORKER = COMMAND("UPDATE workers SET seen_at = UTC_TIMESTAMP(3) WHERE id = ?");
static const struct statement SEEN_GPUS = COMMAND("UPDATE gpus SET seen_at = UTC_TIMESTAMP(3) WHERE worker_id = ?");

static char *host_facts(const struct tools *tools)
{
	cleanup_arena struct arena *arena = arena_new();
	struct utsname system;
	uname(&system);
	json_t *facts = json_pack("{s:s, s:s, s:s, s:I, s:I, s:s, s:s}", "system", system.sysname, "kernel", system.release,
		"processor", machine_processor(arena), "cores", (json_int_t)sysconf(_SC_NPROCESSORS_ONLN),
		"memory_bytes", (json_int_t)machine_memory_bytes(), "python", tools->python, "nvcc", tools->nvcc);
	char *text = json_dumps(facts, JSON_COMPACT);
	json_decref(facts);
	return text;
}

static int write_body(struct database *db, void *context, struct error *error)
{
	const struct registration *registration = context;
	cleanup_free char *host = host_facts(registration->tools);
	int rc = database_execute(db, &PUT_WORKER, error, "sssi", registration->name, host, registration->checks, registration->instance);
	int64_t id = (int64_t)database_insert_id(db);
	if (!rc)
		rc = database_execute(db, &FORGET_GPUS, error, "i", id);
	for (size_t i = 0; i < registration->device_count && !rc; i++) {
		const struct device *device = &registration->devices[i];
		rc = database_execute(db, &PUT_GPU, error, "isssiss", id, device->uuid, device->model, device->product,
			device->memory_bytes, device->driver, device->compute_capability);
	}
	return rc;
}

int registration_write(struct database *db, const struct registration *registration, struct error *error)
{
	struct registration copy = *registration;
	return database_transaction(db, write_body, &copy, error);
}

int registration_describe(struct database *db, const char *worker, const struct device *device, struct error *error)
{
	return database_execute(db, &DESCRIBE, error, "sissss", device->product, device->memory_bytes, device->driver,
		device->compute_capability, worker, device->uuid);
}

int registration_renew(struct database *db, const struct registration *registration, int64_t *database_ms, struct error *error)
{
	cleanup_arena struct arena *arena = arena_new();
	struct entry entry;
	int rc = database_row(db, arena, &ENTRY, &entry, error, "s", registration->name);
	if (rc)
		return rc;
	*database_ms = entry.database_ms;
	if (entry.instance != registration->instance)
		return fail(error, ERROR_CONFLICT, "Another podium-worker has started under the name %s, so this one stops. If both are "
			"meant to run, give each its own PODIUM_WORKER_NAME.", registration->name);
	rc = database_execute(db, &SEEN_WORKER, error, "i", entry.id);
	return rc ? rc : database_execute(db, &SEEN_GPUS, error, "i", entry.id);
}
