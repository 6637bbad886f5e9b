#include "worker/quarantine.h"

#include "lib/arena.h"
#include "lib/log.h"

#include <string.h>

static const struct statement PUT =
	COMMAND("UPDATE gpus g JOIN workers w ON w.id = g.worker_id "
			"SET g.quarantined_at = COALESCE(g.quarantined_at, UTC_TIMESTAMP(3)), "
            "g.quarantine_reason = ? WHERE w.name = ? AND g.uuid = ?");

static const struct statement LIFT =
	COMMAND("UPDATE gpus g JOIN workers w ON w.id = g.worker_id SET g.quarantined_at = NULL, "
            "g.quarantine_reason = NULL "
			"WHERE w.name = ? AND g.uuid = ?");

struct standing {
	int64_t is_free;
};
static const struct column STANDING_COLUMNS[] = { INTEGER(struct standing, is_free) };
static const struct statement STANDING = SELECT(struct standing, STANDING_COLUMNS,
	"SELECT g.quarantined_at IS NULL AS is_free FROM gpus g JOIN workers w ON w.id = g.worker_id "
    "WHERE w.name = ? AND g.uuid = ?");

static void store(struct quarantine *quarantine, struct database *db)
{
	struct error error;
	if (!quarantine->is_stored)
		quarantine->is_stored = database_execute(db, &PUT, &error, "sss", quarantine->reason.text,
									quarantine->worker, quarantine->device->uuid)
			== 0;
}

void quarantine_begin(
	struct quarantine *quarantine, struct database *db, const struct error *reason)
{
	log_error("%s It gets no jobs until it is released.", reason->text);
	quarantine->reason = *reason;
	quarantine->is_stored = false;
	store(quarantine, db);
}

void quarantine_end(struct quarantine *quarantine)
{
	quarantine->reason.text[0] = '\0';
}

void quarantine_wait(struct quarantine *quarantine, struct database *db, const struct error *reason)
{
	if (!quarantine_has_begun(quarantine) || strcmp(quarantine->reason.text, reason->text) != 0) {
		log_warning(
			"%s: %s It is tried again until it works.", quarantine->device->uuid, reason->text);
		quarantine->reason = *reason;
		quarantine->is_stored = false;
	}
	store(quarantine, db);
}

void quarantine_pass(struct quarantine *quarantine, struct database *db)
{
	if (!quarantine_has_begun(quarantine))
		return;
	if (database_execute(db, &LIFT, NULL, "ss", quarantine->worker, quarantine->device->uuid))
		return; /* it is asked again before the next claim */
	log_info("%s: it works again.", quarantine->device->uuid);
	quarantine_end(quarantine);
}

bool quarantine_has_begun(const struct quarantine *quarantine)
{
	return quarantine->reason.text[0];
}

int quarantine_error(const struct quarantine *quarantine, struct error *error)
{
	if (!quarantine_has_begun(quarantine))
		return 0;
	return fail(error, ERROR_SYSTEM, "The %s %s is in quarantine.", quarantine->device->model,
		quarantine->device->uuid);
}

bool quarantine_holds(struct database *db, const char *worker, const char *uuid)
{
	cleanup_arena struct arena *arena = arena_new();
	struct standing standing = { 0 };
	return database_row(db, arena, &STANDING, &standing, NULL, "ss", worker, uuid) == 0
		&& !standing.is_free;
}

bool quarantine_is_over(struct quarantine *quarantine, struct database *db)
{
	cleanup_arena struct arena *arena = arena_new();
	struct standing standing = { 0 };
	struct error error;
	store(quarantine, db);
	return quarantine->is_stored
		&& database_row(db, arena, &STANDING, &standing, &error, "ss", quarantine->worker,
			   quarantine->device->uuid)
		== 0
		&& standing.is_free;
}
