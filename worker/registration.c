#include "worker/registration.h"

#include "lib/base/arena.h"
#include "lib/base/scope.h"
#include "worker/figures.h"

#include <jansson.h>
#include <string.h>
#include <sys/utsname.h>

/* Updates the row, or inserts it if there is none. INSERT ... ON DUPLICATE KEY UPDATE would need
 * the right to change keys. With that right, a worker of few rights (sql/worker_rights.sql) could
 * move another worker's rows. */
static const struct statement CHANGE_WORKER =
	COMMAND("UPDATE workers SET version = '" PODIUM_VERSION "', "
			"protocol = ?, host = ?, checks = ?, instance = ?, figures = ?, "
			"started_at = UTC_TIMESTAMP(3), seen_at = UTC_TIMESTAMP(3) WHERE name = ?");
static const struct statement ADD_WORKER =
	COMMAND("INSERT INTO workers "
			"(version, protocol, host, checks, instance, figures, started_at, seen_at, name) "
			"VALUES ('" PODIUM_VERSION "', ?, ?, ?, ?, ?, UTC_TIMESTAMP(3), UTC_TIMESTAMP(3), ?)");
/* A device that is present leaves quarantine. A missing device in quarantine stays listed, so that
 * people can see where it is. */
static const struct statement FORGET_GPUS =
	COMMAND("DELETE FROM gpus WHERE worker_id = ? AND quarantined_at IS NULL");
static const struct statement CHANGE_GPU =
	COMMAND("UPDATE gpus SET model = ?, product = ?, memory_bytes = ?, driver = ?, "
			"compute_capability = ?, seen_at = UTC_TIMESTAMP(3), "
			"quarantined_at = NULL, quarantine_reason = NULL, waits_since = NULL "
			"WHERE worker_id = ? AND uuid = ?");
static const struct statement ADD_GPU =
	COMMAND("INSERT INTO gpus "
			"(model, product, memory_bytes, driver, compute_capability, seen_at, worker_id, uuid) "
			"VALUES (?, ?, ?, ?, ?, UTC_TIMESTAMP(3), ?, ?)");

static const struct statement DESCRIBE =
	COMMAND("UPDATE gpus g JOIN workers w ON w.id = g.worker_id "
			"SET g.product = ?, g.memory_bytes = ?, g.driver = ?, g.compute_capability = ? "
			"WHERE w.name = ? AND g.uuid = ?");

static const struct statement WAIT =
	COMMAND("UPDATE gpus g JOIN workers w ON w.id = g.worker_id "
			"SET g.waits_since = IF(?, UTC_TIMESTAMP(3), NULL) WHERE w.name = ? AND g.uuid = ?");

struct entry {
	int64_t id, instance, database_ms;
};
static const struct column ENTRY_COLUMNS[] = {
	INTEGER(struct entry, id),
	INTEGER(struct entry, instance),
	TIME(struct entry, database_ms),
};
static const struct statement ENTRY = SELECT(struct entry, ENTRY_COLUMNS,
	"SELECT id, instance, UTC_TIMESTAMP(3) AS database_ms FROM workers WHERE name = ?");
static const struct statement SEEN_WORKER =
	COMMAND("UPDATE workers SET seen_at = UTC_TIMESTAMP(3), figures = ? WHERE id = ?");
static const struct statement SEEN_GPUS =
	COMMAND("UPDATE gpus SET seen_at = UTC_TIMESTAMP(3) WHERE worker_id = ?");

static char *host_facts(const struct tools *tools)
{
	cleanup_arena struct arena *arena = arena_new();
	struct utsname system;
	uname(&system);
	json_t *facts = json_pack("{s:s, s:s, s:s, s:I, s:I, s:s, s:s}", "system", system.sysname,
		"kernel", system.release, "processor", machine_processor(arena), "cores",
		(json_int_t)sysconf(_SC_NPROCESSORS_ONLN), "memory_bytes",
		(json_int_t)machine_memory_bytes(), "python", tools->python, "nvcc", tools->nvcc);
	char *text = json_dumps(facts, JSON_COMPACT);
	json_decref(facts);
	return text;
}

static int store_worker(struct database *db, const struct statement *statement,
	const struct registration *registration, const char *host, const char *figures,
	struct error *error)
{
	return database_execute(db, statement, error, "ississ", registration->protocol, host,
		registration->checks, registration->instance, figures, registration->name);
}

/* Another process of this name may insert the row at the same moment. The insert then conflicts,
 * and the row is updated. */
static int write_worker(
	struct database *db, const struct registration *registration, struct error *error)
{
	cleanup_free char *host = host_facts(registration->tools), *figures = figures_json();
	int rc = store_worker(db, &CHANGE_WORKER, registration, host, figures, error);
	if (!rc && !database_affected(db))
		rc = store_worker(db, &ADD_WORKER, registration, host, figures, error);
	return rc == ERROR_CONFLICT
		? store_worker(db, &CHANGE_WORKER, registration, host, figures, error)
		: rc;
}

static int store_gpu(struct database *db, const struct statement *statement, int64_t worker_id,
	const struct device *device, struct error *error)
{
	return database_execute(db, statement, error, "ssissis", device->model, device->product,
		device->memory_bytes, device->driver, device->compute_capability, worker_id, device->uuid);
}

static int write_body(struct database *db, void *context, struct error *error)
{
	const struct registration *registration = context;
	cleanup_arena struct arena *arena = arena_new();
	struct entry entry;
	int rc = write_worker(db, registration, error);
	if (!rc)
		rc = database_row(db, arena, &ENTRY, &entry, error, "s", registration->name);
	if (!rc)
		rc = database_execute(db, &FORGET_GPUS, error, "i", entry.id);
	for (size_t i = 0; i < registration->device_count && !rc; i++) {
		rc = store_gpu(db, &CHANGE_GPU, entry.id, &registration->devices[i], error);
		if (!rc && !database_affected(db))
			rc = store_gpu(db, &ADD_GPU, entry.id, &registration->devices[i], error);
	}
	return rc;
}

int registration_write(
	struct database *db, const struct registration *registration, struct error *error)
{
	struct registration copy = *registration;
	return database_transaction(db, write_body, &copy, error);
}

int registration_describe(
	struct database *db, const char *worker, const struct device *device, struct error *error)
{
	return database_execute(db, &DESCRIBE, error, "sissss", device->product, device->memory_bytes,
		device->driver, device->compute_capability, worker, device->uuid);
}

int registration_wait(struct database *db, const char *worker, const struct device *device,
	bool waits, struct error *error)
{
	return database_execute(db, &WAIT, error, "iss", (int64_t)waits, worker, device->uuid);
}

int registration_renew(struct database *db, const struct registration *registration,
	int64_t *database_ms, struct error *error)
{
	cleanup_arena struct arena *arena = arena_new();
	struct entry entry;
	int rc = database_row(db, arena, &ENTRY, &entry, error, "s", registration->name);
	if (rc)
		return rc;
	*database_ms = entry.database_ms;
	if (entry.instance != registration->instance)
		return fail(error, ERROR_CONFLICT,
			"Another podium-worker has started under the name %s, so this one stops. If both are "
			"meant to run, give each its own PODIUM_WORKER_NAME.",
			registration->name);
	cleanup_free char *figures = figures_json();
	rc = database_execute(db, &SEEN_WORKER, error, "si", figures, entry.id);
	return rc ? rc : database_execute(db, &SEEN_GPUS, error, "i", entry.id);
}
