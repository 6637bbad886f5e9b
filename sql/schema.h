/* Whether a database has the tables that this program was built for. */
#ifndef PODIUM_SQL_SCHEMA_H
#define PODIUM_SQL_SCHEMA_H

#include "lib/database.h"
#include "lib/error.h"

/* ERROR_NOT_FOUND: it is older, and podium-admin can bring it up to date. ERROR_CONFLICT: it is newer, so another Podium
 * belongs to it. ERROR_DATABASE: it does not answer. */
int schema_check(struct database *db, struct error *error);

#endif
