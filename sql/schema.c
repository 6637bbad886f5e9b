#include "sql/schema.h"

#include "lib/base/arena.h"
#include "sql/migrations.h"

#include <stdlib.h>

struct number {
	int64_t number;
};
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

static const struct statement OLDEST =
	SELECT(struct number, NUMBER_COLUMNS, "SELECT oldest_program AS number FROM compatibility");

/* Checks a database that is newer than this program. */
static int check_newer(struct database *db, int64_t version, struct error *error)
{
	cleanup_arena struct arena *arena = arena_new();
	struct number oldest;
	int rc = database_row(db, arena, &OLDEST, &oldest, error, "");
	if (rc || oldest.number <= schema_known())
		return rc;
	return fail(error, ERROR_CONFLICT,
		"The database is at version %lld and takes programs from version %lld on, and this one "
		"(Podium %s) is of version %lld: bring it up to date.",
		(long long)version, (long long)oldest.number, PODIUM_VERSION, (long long)schema_known());
}

int64_t schema_known(void)
{
	return strtoll(migrations[migration_count - 1].name, NULL, 10);
}

int schema_check(struct database *db, struct error *error)
{
	int64_t version;
	int rc = read_version(db, &version, error);
	if (rc || version == schema_known())
		return rc;
	if (version > schema_known())
		return check_newer(db, version, error);
	return fail(error, ERROR_NOT_FOUND,
		"The database is at version %lld, and this program needs version %lld: run `podium-admin "
		"migrate`.",
		(long long)version, (long long)schema_known());
}
