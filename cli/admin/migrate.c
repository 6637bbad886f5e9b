#include "cli/admin/migrate.h"

#include "cli/admin/admin.h"
#include "cli/admin/dump.h"
#include "lib/base/scope.h"
#include "lib/ranking/ranking.h"
#include "lib/task/version.h"
#include "sql/migrations.h"
#include "sql/rights.h"

#include <sodium.h>
#include <stdlib.h>
#include <string.h>

struct applied {
	int64_t version;
	const char *name;
	struct blob_value sha256;
};

static const struct column APPLIED_COLUMNS[] = {
	INTEGER(struct applied, version),
	TEXT(struct applied, name),
	BLOB(struct applied, sha256),
};
static const struct statement APPLIED = SELECT(struct applied, APPLIED_COLUMNS,
	"SELECT version, name, sha256 FROM schema_migrations ORDER BY version");
static const struct statement RECORD =
	COMMAND("INSERT INTO schema_migrations (version, name, sha256) VALUES (?, ?, ?)");

static const char BOOK[] = "CREATE TABLE IF NOT EXISTS schema_migrations ("
						   "  version    INT UNSIGNED NOT NULL PRIMARY KEY,"
						   "  name       VARCHAR(64) CHARACTER SET ascii NOT NULL,"
						   "  sha256     BINARY(32) NOT NULL,"
						   "  applied_at DATETIME(3) NOT NULL DEFAULT UTC_TIMESTAMP(3)"
						   ") ENGINE = InnoDB";

static int64_t migration_version(const struct migration *migration)
{
	return strtoll(migration->name, NULL, 10);
}

static void migration_digest(
	const struct migration *migration, unsigned char digest[static crypto_hash_sha256_BYTES])
{
	crypto_hash_sha256(digest, (const unsigned char *)migration->sql,
		(unsigned long long)(migration->end - migration->sql));
}

/* The applied migrations must be a prefix of those that this program knows. */
static int check_applied(const struct applied *applied, size_t count, struct error *error)
{
	for (size_t i = 0; i < count; i++) {
		if (i >= migration_count)
			return fail(error, ERROR_INPUT,
				"The database is newer than this program: it has version %lld (%s), and "
				"podium-admin %s knows versions up to %lld. Use a newer Podium. Nothing was "
				"changed.",
				(long long)applied[count - 1].version, applied[count - 1].name, PODIUM_VERSION,
				(long long)migration_version(&migrations[migration_count - 1]));
		if (applied[i].version != migration_version(&migrations[i]))
			return fail(error, ERROR_INPUT,
				"The database has version %lld (%s) but not the earlier %s, so another Podium made "
				"it. Nothing was changed.",
				(long long)applied[i].version, applied[i].name, migrations[i].name);
		unsigned char digest[crypto_hash_sha256_BYTES];
		migration_digest(&migrations[i], digest);
		if (applied[i].sha256.length != sizeof digest
			|| memcmp(applied[i].sha256.bytes, digest, sizeof digest) != 0)
			return fail(error, ERROR_INPUT,
				"The database was made with a different %s than this program has. Use the Podium "
				"that made it. Nothing was changed.",
				migrations[i].name);
	}
	return 0;
}

/* MariaDB commits after each DDL statement, so an interrupted migration runs again from its start.
 * A migration's statements must therefore work twice (IF NOT EXISTS). */
static int apply_migration(
	struct database *db, const struct migration *migration, struct error *error)
{
	int rc = database_script(db, migration->sql, error);
	if (rc) {
		struct error why = *error;
		return fail(error, rc,
			"%s did not finish: %.600s Fix the reason and run podium-admin migrate again; it "
			"safely repeats this whole file. Until then, programs of the previous version keep "
			"working.",
			migration->name, why.text);
	}
	unsigned char digest[crypto_hash_sha256_BYTES];
	migration_digest(migration, digest);
	rc = database_execute(db, &RECORD, error, "isb", migration_version(migration), migration->name,
		digest, sizeof digest);
	if (!rc)
		admin_say("Applied %s.", migration->name);
	return rc;
}

struct outdated {
	int64_t leaderboard_id;
};
static const struct column OUTDATED_COLUMNS[] = { INTEGER(struct outdated, leaderboard_id) };
/* Leaderboards that must be rebuilt. Either an entry of the ranking comes from another engine than
 * the task version's, or was made before equal sources shared one time (0039_file_times.sql). Or a
 * record was made when records followed the order of submission (0038_record_order.sql). */
static const struct statement OUTDATED = SELECT(struct outdated, OUTDATED_COLUMNS,
	"SELECT r.leaderboard_id FROM ranking r LEFT JOIN task_engines e "
	"ON e.task_version_id = r.task_version_id AND e.gpu = r.gpu "
	"WHERE r.engine <> e.engine OR r.file_id IS NULL "
	"UNION SELECT leaderboard_id FROM records WHERE ranked_at IS NULL");

/* Chooses the engine of each task version that has none, and rebuilds outdated rankings. */
static int settle_rankings(struct database *db, struct arena *arena, struct error *error)
{
	struct outdated *outdated;
	size_t count = 0;
	int rc = task_engines_decide(db, error);
	if (!rc)
		rc = database_rows(db, arena, &OUTDATED, &outdated, &count, error, "");
	for (size_t i = 0; i < count && !rc; i++)
		rc = ranking_rebuild(db, outdated[i].leaderboard_id, error);
	return rc;
}

int64_t migrate_newest(void)
{
	return migration_version(&migrations[migration_count - 1]);
}

int migrate(struct database *db, const char *name, struct error *error)
{
	cleanup_arena struct arena *arena = arena_new();
	int rc = schema_lock(db, error);
	if (!rc)
		rc = database_script(db, BOOK, error);
	struct applied *applied;
	size_t count;
	if (!rc)
		rc = database_rows(db, arena, &APPLIED, &applied, &count, error, "");
	if (!rc)
		rc = check_applied(applied, count, error);
	for (size_t i = rc ? migration_count : count; !rc && i < migration_count; i++)
		rc = apply_migration(db, &migrations[i], error);
	if (!rc)
		rc = rights_refresh(db, name, error);
	if (!rc)
		rc = settle_rankings(db, arena, error);
	if (!rc)
		admin_say("The database is at version %lld.", (long long)migrate_newest());
	return rc;
}

int migrate_command(int argc, char **argv)
{
	(void)argv;
	if (argc != 1)
		return admin_usage("migrate");
	struct config config;
	cleanup_database struct database *db = admin_connect_to(&config);
	struct error error = { 0 };
	if (!db)
		return admin_failed;
	return restoring_check(db, &error) || migrate(db, config.database_name, &error)
		? admin_complain(&error)
		: admin_done;
}
