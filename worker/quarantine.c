#include "worker/quarantine.h"

#include "lib/base/arena.h"
#include "lib/base/log.h"

#include <string.h>

static const struct statement SET_QUARANTINE = COMMAND(
	"UPDATE gpus g JOIN workers w ON w.id = g.worker_id "
	"SET g.quarantined_at = COALESCE(g.quarantined_at, UTC_TIMESTAMP(3)), g.quarantine_reason = ? "
	"WHERE w.name = ? AND g.uuid = ?");

static const struct statement CLEAR_QUARANTINE =
	COMMAND("UPDATE gpus g JOIN workers w ON w.id = g.worker_id "
			"SET g.quarantined_at = NULL, g.quarantine_reason = NULL "
			"WHERE w.name = ? AND g.uuid = ?");

struct quarantine_row {
	int64_t is_free;
};
static const struct column ROW_COLUMNS[] = { INTEGER(struct quarantine_row, is_free) };
static const struct statement READ_ROW = SELECT(struct quarantine_row, ROW_COLUMNS,
	"SELECT g.quarantined_at IS NULL AS is_free FROM gpus g "
	"JOIN workers w ON w.id = g.worker_id WHERE w.name = ? AND g.uuid = ?");

static void store_reason(struct quarantine *quarantine, struct database *db)
{
	struct error error;
	if (!quarantine->is_stored)
		quarantine->is_stored =
			database_execute(db, &SET_QUARANTINE, &error, "sss", quarantine->reason.text,
				quarantine->worker, quarantine->device->uuid)
			== 0;
}

void quarantine_begin(
	struct quarantine *quarantine, struct database *db, const struct error *reason)
{
	log_error("%s The GPU gets no jobs until it is released from quarantine.", reason->text);
	quarantine->reason = *reason;
	quarantine->is_stored = false;
	store_reason(quarantine, db);
}

void quarantine_end(struct quarantine *quarantine)
{
	quarantine->reason.text[0] = '\0';
}

void quarantine_wait(struct quarantine *quarantine, struct database *db, const struct error *reason)
{
	if (!quarantine_has_begun(quarantine) || strcmp(quarantine->reason.text, reason->text) != 0) {
		log_warning(
			"%s: %s Podium retries until it works.", quarantine->device->uuid, reason->text);
		quarantine->reason = *reason;
		quarantine->is_stored = false;
	}
	store_reason(quarantine, db);
}

void quarantine_keep(struct quarantine *quarantine, struct database *db, const struct error *reason)
{
	if (!quarantine_has_begun(quarantine))
		quarantine->reason = *reason;
	if (quarantine_is_over(quarantine, db))
		quarantine->is_stored = false;
	store_reason(quarantine, db);
}

void quarantine_pass(struct quarantine *quarantine, struct database *db)
{
	if (!quarantine_has_begun(quarantine))
		return;
	if (database_execute(
			db, &CLEAR_QUARANTINE, NULL, "ss", quarantine->worker, quarantine->device->uuid))
		return; /* the caller tries again before the next claim */
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
	struct quarantine_row row = { 0 };
	return database_row(db, arena, &READ_ROW, &row, NULL, "ss", worker, uuid) == 0 && !row.is_free;
}

bool quarantine_is_over(struct quarantine *quarantine, struct database *db)
{
	cleanup_arena struct arena *arena = arena_new();
	struct quarantine_row row = { 0 };
	struct error error;
	store_reason(quarantine, db);
	return quarantine->is_stored
		&& database_row(db, arena, &READ_ROW, &row, &error, "ss", quarantine->worker,
			   quarantine->device->uuid)
		== 0
		&& row.is_free;
}
