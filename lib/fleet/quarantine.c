#include "lib/fleet/quarantine.h"

#include "lib/account/audit.h"
#include "lib/account/user.h"

static const struct column QUARANTINED_COLUMNS[] = {
	TEXT(struct quarantined_gpu, worker),
	TEXT(struct quarantined_gpu, model),
	TEXT(struct quarantined_gpu, uuid),
	TEXT(struct quarantined_gpu, reason),
	TIME(struct quarantined_gpu, since_ms),
};
const struct statement gpus_quarantine = SELECT(struct quarantined_gpu, QUARANTINED_COLUMNS,
	"SELECT w.name AS worker, g.model, g.uuid, COALESCE(g.quarantine_reason, '') AS reason, "
	"g.quarantined_at AS since_ms "
	"FROM gpus g JOIN workers w ON w.id = g.worker_id WHERE g.quarantined_at IS NOT NULL "
	"ORDER BY g.quarantined_at DESC, w.name, g.uuid");
static const struct statement RELEASE =
	COMMAND("UPDATE gpus SET quarantined_at = NULL, quarantine_reason = NULL WHERE uuid = ? "
			"AND quarantined_at IS NOT NULL");

int gpus_quarantined(struct database *db, struct arena *arena, struct quarantined_gpu **gpus,
	size_t *count, struct error *error)
{
	return database_rows(db, arena, &gpus_quarantine, gpus, count, error, "");
}

struct releasing {
	const char *uuid;
	const struct actor *by;
};

static int release_body(struct database *db, void *context, struct error *error)
{
	const struct releasing *releasing = context;
	const struct actor *by = releasing->by;
	int rc = database_execute(db, &RELEASE, error, "s", releasing->uuid);
	if (!rc && !database_affected(db))
		rc = fail(error, ERROR_NOT_FOUND,
			"No GPU with this UUID is in quarantine; `podium-admin gpu list` names the quarantined "
			"GPUs.");
	return rc ? rc
			  : audit(db, by->id, by->name, by->address, "gpu.release", releasing->uuid,
				  "it may take jobs again", error);
}

int gpu_release(struct database *db, const char *uuid, const struct actor *by, struct error *error)
{
	for (const char *c = uuid; *c;
		 /* the column is ASCII, and MariaDB fails if a statement compares it with other text */
		 c++)
		if ((unsigned char)*c >= 0x80)
			uuid = "";
	struct releasing releasing = { uuid, by };
	return database_transaction(db, release_body, &releasing, error);
}
