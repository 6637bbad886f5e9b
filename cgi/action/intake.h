/* Whether the site accepts submissions at all. An admin can pause intake for all leaderboards and
 * all users; stored submissions continue. Each leaderboard can also be closed separately
 * (lib/leaderboard/leaderboard.h). */
#ifndef PODIUM_CGI_ACTION_INTAKE_H
#define PODIUM_CGI_ACTION_INTAKE_H

#include "lib/base/arena.h"
#include "lib/base/error.h"
#include "lib/database/database.h"
#include "lib/leaderboard/leaderboard.h"

#include <stdbool.h>

struct intake_stop {
	int64_t stopped_at_ms;
	const char *stopped_by;
};

/* One row while intake is stopped. Callers bundle it with other statements; it binds nothing. */
extern const struct statement intake_reading;
#define INTAKE_STOPPED_SENTENCE \
	"Podium accepts no submissions: an admin has stopped them for all leaderboards. Try again " \
	"later."

/* ERROR_NOT_FOUND while the site accepts submissions. */
int intake_read(
	struct database *db, struct arena *arena, struct intake_stop *stop, struct error *error);

/* Writes an audit entry. Setting the same state again changes nothing. */
int intake_set(struct database *db, bool accepts, const struct actor *by, struct error *error);

/* A condition for a statement. */
#define SQL_INTAKE_IS_STOPPED "EXISTS (SELECT 1 FROM intake_stops)"

#endif
