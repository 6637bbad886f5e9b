#include "sql/schema.h"

#include "lib/arena.h"
#include "sql/migrations.h"

#include <stdlib.h>

struct number { int64_t number; };
static const struct column NUMBER_COLUMNS[] = { INTEGER(struct number, number) };
static const struct statement HAS_TABLES = SELECT(struct number, NUMBER_COLUMNS,
	"SELECT COUNT(*) AS number FROM information_schema.tables "
	"WHERE table_schema = DATABASE() AND table_name = 'schema_migrations'");
static const struct statement VERSION = SELECT(struct number, NUMBER_COLUMNS,
	"SELECT COALESCE(MAX(version), 0) AS number FROM schema_migrations");

static int read_version(struct database *db, int64_t *version, struct error *error)
{
	cleanup_arena struct arena *arena = arena_new();
	struct number found;
	int rc = database_row(db, arena, &HAS_TABLES, &found, error, "");
	if (!rc && found.number)
		rc = database_row(db, arena, &VERSION, &found, error, "");
	*version = rc ? 0 : found.number;
	return rc;
}

int schema_check(struct database *db, struct error *error)
{
	long long known = strtoll(migrations[migration_count - 1].name, NULL, 10);
	int64_t version;
	int rc = read_version(db, &version, error);
	if (rc || version == known)
		return rc;
	if (version < known)
		return fail(error, ERROR_NOT_FOUND, "The database is at version %lld, and this program needs version %lld: "
			"run `podium-admin migrate`.", (long long)version, known);
	return fail(error, ERROR_CONFLICT, "The database is at version %lld, and this program knows versions up to %lld: "
		"use the Podium that the database belongs to.", (long long)version, known);
}
