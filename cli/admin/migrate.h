/* Migrates a database's tables with the files of sql/. */
#ifndef PODIUM_CLI_ADMIN_MIGRATE_H
#define PODIUM_CLI_ADMIN_MIGRATE_H

#include "lib/base/error.h"
#include "lib/database/database.h"

#include <stdint.h>

/* Applies the missing files in order and reports each on stdout. Takes schema_lock(). `name` is the
 * database's name. */
int migrate(struct database *db, const char *name, struct error *error);

/* Returns the newest version that this program knows. */
int64_t migrate_newest(void);

#endif
