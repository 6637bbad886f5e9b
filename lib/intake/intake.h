/* Intake: whether the site accepts submissions at all. An admin can stop intake for all
 * leaderboards and all users; submissions that are already stored still run. Each leaderboard can
 * also be closed separately (lib/leaderboard/leaderboard.h). */
#ifndef PODIUM_LIB_INTAKE_INTAKE_H
#define PODIUM_LIB_INTAKE_INTAKE_H

#include "lib/base/arena.h"
#include "lib/base/error.h"
#include "lib/database/database.h"
#include "lib/leaderboard/leaderboard.h"

#include <stdbool.h>

struct intake_stop {
	int64_t stopped_at_ms;
	const char *stopped_by;
};

/* Selects one row while intake is stopped, else none. It binds nothing, so that callers can bundle
 * it with other statements. */
extern const struct statement intake_reading;
#define INTAKE_STOPPED_SENTENCE \
	"Podium accepts no submissions: an admin has stopped them for all leaderboards. Try again " \
	"later."

/* Reads who stopped intake, and when. ERROR_NOT_FOUND while the site accepts submissions. */
int intake_read(
	struct database *db, struct arena *arena, struct intake_stop *stop, struct error *error);

/* Starts or stops intake, with an audit entry. Setting the current state again changes nothing. */
int intake_set(struct database *db, bool accepts, const struct actor *by, struct error *error);

/* SQL condition: intake is stopped. */
#define SQL_INTAKE_IS_STOPPED "EXISTS (SELECT 1 FROM intake_stops)"

#endif
