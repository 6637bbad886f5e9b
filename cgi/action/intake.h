/* Whether the site takes submissions at all. An admin stops it, for a while, for all leaderboards
 * and everybody; what was taken in runs on. Each leaderboard can be closed by itself besides
 * (lib/leaderboard.h). */
#ifndef PODIUM_LIB_INTAKE_H
#define PODIUM_LIB_INTAKE_H

#include "lib/arena.h"
#include "lib/database.h"
#include "lib/error.h"
#include "lib/leaderboard.h"

#include <stdbool.h>

struct intake_stop {
	int64_t stopped_at_ms;
	const char *stopped_by;
};

/* One row where submissions are not taken, to be asked together with other things; binds nothing.
 */
extern const struct statement intake_reading;
#define INTAKE_STOPPED_SENTENCE \
	"Podium takes no submissions just now: an admin has stopped that for all leaderboards. Try " \
	"again later."

/* ERROR_NOT_FOUND where submissions are taken. */
int intake_read(
	struct database *db, struct arena *arena, struct intake_stop *stop, struct error *error);

/* With an entry in the audit log; doing it twice changes nothing. */
int intake_set(struct database *db, bool accepts, const struct actor *by, struct error *error);

/* A part of a statement. */
#define SQL_INTAKE_IS_STOPPED "EXISTS (SELECT 1 FROM intake_stops)"

#endif
