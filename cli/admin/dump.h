/* The whole of a database as SQL, of one moment, while others write to it. */
#ifndef PODIUM_CLI_ADMIN_DUMP_H
#define PODIUM_CLI_ADMIN_DUMP_H

#include "lib/config.h"
#include "lib/database.h"
#include "lib/error.h"

/* What holds this table is being restored: nobody else brings it up to date, and no program of ours
 * takes it for complete. */
#define RESTORING_TABLE "podium_restoring"

/* One podium-admin at a time changes the tables of a database, or copies them. For the life of the
 * connection; waits a minute for another one, then ERROR_CONFLICT. */
int schema_lock(struct database *db, struct error *error);

/* How many tables there are, that one left out; and ERROR_CONFLICT if that one is there. */
int dump_count_tables(struct database *db, int64_t *count, struct error *error);
int restoring_check(struct database *db, struct error *error);

/* Runs mariadb-dump and gives `sink` what it writes. Tables come in the order of their names, but
 * for schema_migrations, which comes last: without it no program of ours uses a database.
 * ERROR_INPUT: some table is no InnoDB, so that it cannot be copied as it was at one moment. */
typedef int dump_sink(void *context, const char *bytes, size_t length, struct error *error);
int dump_database(struct database *db, const struct config *config, dump_sink *sink, void *context,
	struct error *error);

#endif
