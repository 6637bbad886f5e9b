/* Bringing a database's tables up to date with the files of sql/. */
#ifndef PODIUM_CLI_ADMIN_MIGRATE_H
#define PODIUM_CLI_ADMIN_MIGRATE_H

#include "lib/database.h"
#include "lib/error.h"

#include <stdint.h>

/* Applies what is missing, one file after the other, and says it; holds schema_lock(). */
int migrate(struct database *db, const char *name, struct error *error);

/* The last version that this program knows. */
int64_t migrate_newest(void);

#endif
