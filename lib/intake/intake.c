#include "lib/intake/intake.h"

#include "lib/account/audit.h"
#include "lib/account/user.h"

static const struct column STOP_COLUMNS[] = { TIME(struct intake_stop, stopped_at_ms),
	TEXT(struct intake_stop, stopped_by) };
const struct statement intake_reading = SELECT(struct intake_stop, STOP_COLUMNS,
	"SELECT stopped_at AS stopped_at_ms, stopped_by FROM intake_stops");
static const struct statement STOP =
	COMMAND("INSERT IGNORE INTO intake_stops (id, stopped_by) VALUES (1, ?)");
static const struct statement START = COMMAND("DELETE FROM intake_stops");

int intake_read(
	struct database *db, struct arena *arena, struct intake_stop *stop, struct error *error)
{
	return database_row(db, arena, &intake_reading, stop, error, "");
}

struct change {
	bool accepts;
	const struct actor *by;
};

static int set_body(struct database *db, void *context, struct error *error)
{
	const struct change *change = context;
	const struct actor *by = change->by;
	int rc = change->accepts ? database_execute(db, &START, error, "")
							 : database_execute(db, &STOP, error, "s", by->name);
	if (rc || !database_affected(db))
		return rc;
	return audit(db, by->id, by->name, by->address,
		change->accepts ? "intake.start" : "intake.stop", "the whole site",
		change->accepts ? "takes submissions again" : "takes no submissions", error);
}

int intake_set(struct database *db, bool accepts, const struct actor *by, struct error *error)
{
	struct change change = { accepts, by };
	return database_transaction(db, set_body, &change, error);
}
