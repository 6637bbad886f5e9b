#include "lib/account/audit.h"

static const struct statement INSERT_AUDIT =
	COMMAND("INSERT INTO audit_log (actor_id, actor, address, action, subject, detail) "
			"VALUES (?, ?, ?, ?, ?, ?)");
static const struct statement KNOW_ACTION =
	COMMAND("INSERT IGNORE INTO audit_actions (name) VALUES (?)");

int audit(struct database *db, int64_t actor_id, const char *actor, const char *address,
	const char *action, const char *subject, const char *detail, struct error *error)
{
	int rc = database_execute(db, &INSERT_AUDIT, error, "isssss",
		actor_id ? actor_id : SQL_NULL_INTEGER, actor, address, action, subject, detail);
	return rc ? rc : database_execute(db, &KNOW_ACTION, error, "s", action);
}

void audit_note_change(
	struct buffer *notes, bool differs, const char *what, const char *before, const char *after)
{
	if (differs)
		buffer_printf(notes, "%s%s: %s, was %s", notes->length ? "; " : "", what, after, before);
}
