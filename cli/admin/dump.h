/* Dumps a whole database as SQL: a consistent snapshot, even while others write. */
#ifndef PODIUM_CLI_ADMIN_DUMP_H
#define PODIUM_CLI_ADMIN_DUMP_H

#include "lib/base/config.h"
#include "lib/base/error.h"
#include "lib/database/database.h"

/* This table marks a database that is being restored. podium-admin then neither migrates the
 * database nor backs it up. The other programs do not look for this table: they refuse a database
 * without schema_migrations, which a restore fills last. */
#define RESTORING_TABLE "podium_restoring"

/* Lets one podium-admin at a time change or copy a database's tables. The connection holds the lock
 * until it closes. ERROR_CONFLICT if another one holds the lock for a minute. */
int schema_lock(struct database *db, struct error *error);

/* Counts the tables, except RESTORING_TABLE. */
int dump_count_tables(struct database *db, int64_t *count, struct error *error);

/* ERROR_CONFLICT if RESTORING_TABLE exists. */
int restoring_check(struct database *db, struct error *error);

/* Receives a piece of the dump. A result other than 0 stops the dump. */
typedef int dump_sink(void *context, const char *bytes, size_t length, struct error *error);

/* Runs mariadb-dump and passes its output to `sink`. Tables are sorted by name, but
 * schema_migrations comes last: no Podium program uses a database without that table, so a partly
 * restored database stays unused. ERROR_INPUT: a table is not InnoDB, so a consistent snapshot is
 * impossible. */
int dump_database(struct database *db, const struct config *config, dump_sink *sink, void *context,
	struct error *error);

#endif
