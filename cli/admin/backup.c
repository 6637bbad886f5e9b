/* `backup` and `backup check`. */
#include "cli/admin/admin.h"
#include "cli/admin/backup_file.h"
#include "cli/admin/dump.h"
#include "cli/admin/tool.h"
#include "lib/base/config.h"
#include "lib/base/format.h"
#include "lib/base/quote.h"
#include "lib/base/scope.h"

#include <string.h>
#include <sys/stat.h>
#include <time.h>

struct version_row {
	int64_t version;
};
static const struct column VERSION_COLUMNS[] = { INTEGER(struct version_row, version) };
static const struct statement VERSION = SELECT(struct version_row, VERSION_COLUMNS,
	"SELECT COALESCE(MAX(version), 0) AS version FROM schema_migrations");

/* ---- saying what a backup is ---- */

static void say_contents(struct arena *arena, const char *path, const struct manifest *manifest)
{
	const struct ledger *ledger = &manifest->ledger;
	struct stat found;
	admin_say("%s: %s with %s at schema %lld, made at %s by Podium %s%s.", path,
		plural(arena, (int64_t)ledger->count, "table"), plural(arena, ledger->rows, "row"),
		(long long)manifest->schema, manifest->made_at, manifest->podium,
		stat(path, &found)
			? ""
			: arena_printf(arena, "; %s", plural(arena, (int64_t)found.st_size, "byte")));
	if (ledger->binary_log[0])
		admin_say("At this backup, the server's binary log was at %s, position %lld.",
			ledger->binary_log, (long long)ledger->binary_log_position);
}

/* ---- backup ---- */

static void describe_backup(struct manifest *manifest, int64_t schema)
{
	time_t now = time(NULL);
	struct tm utc;
	snprintf(manifest->podium, sizeof manifest->podium, "%s", PODIUM_VERSION);
	strftime(
		manifest->made_at, sizeof manifest->made_at, "%Y-%m-%dT%H:%M:%SZ", gmtime_r(&now, &utc));
	manifest->schema = schema;
}

static int write_piece(void *writer, const char *bytes, size_t length, struct error *error)
{
	return backup_write(writer, bytes, length, error);
}

static int read_version(
	struct database *db, struct arena *arena, int64_t *version, struct error *error)
{
	struct version_row row;
	int64_t tables;
	int rc = restoring_check(db, error);
	if (!rc)
		rc = dump_count_tables(db, &tables, error);
	if (!rc && !tables)
		return fail(error, ERROR_INPUT, "The database is empty, so there is nothing to back up.");
	if (!rc)
		rc = database_row(db, arena, &VERSION, &row, error, "");
	if (rc == ERROR_DATABASE && database_is_connected(db))
		return fail(error, ERROR_INPUT,
			"The database has no table schema_migrations. Either it is not Podium's, or its "
			"restore did not finish.");
	*version = rc ? 0 : row.version;
	return rc;
}

static int write_backup(struct database *db, const struct config *config, const char *path,
	struct manifest *manifest, struct error *error)
{
	cleanup_arena struct arena *arena = arena_new();
	cleanup_free struct backup_writer *writer = calloc(1, sizeof *writer);
	int64_t version = 0;
	int rc = writer ? schema_lock(db, error)
					: fail(error, ERROR_SYSTEM, "There is not enough memory for a backup.");
	if (!rc)
		rc = read_version(db, arena, &version, error);
	if (rc)
		return rc;
	describe_backup(manifest, version);
	rc = backup_create(writer, path, manifest, error);
	if (!rc)
		rc = dump_database(db, config, write_piece, writer, error);
	if (!rc)
		rc = backup_complete(writer, error);
	backup_abandon(writer);
	return rc;
}

int backup_command(int argc, char **argv)
{
	if (argc != 2 || (argv[1][0] == '-' && argv[1][1]))
		return admin_usage("backup");
	cleanup_arena struct arena *arena = arena_new();
	cleanup_database struct database *db = admin_connect();
	cleanup_free struct manifest *manifest = calloc(1, sizeof *manifest);
	struct config config;
	struct error error = { 0 };
	if (!db || !manifest)
		return admin_failed;
	interruption_catch();
	if (config_load(&config, &error) || write_backup(db, &config, argv[1], manifest, &error)) {
		fail_context(&error, "No backup was made");
		return admin_complain(&error);
	}
	if (strcmp(argv[1], "-") != 0)
		say_contents(arena, argv[1], manifest);
	return admin_done;
}

/* ---- backup check ---- */

int backup_check_command(int argc, char **argv)
{
	if (argc != 2)
		return admin_usage("backup check");
	cleanup_arena struct arena *arena = arena_new();
	cleanup_free struct manifest *manifest = calloc(1, sizeof *manifest);
	struct error error = { 0 };
	if (!manifest)
		return admin_failed;
	interruption_catch();
	if (backup_read(argv[1], manifest, NULL, NULL, &error))
		return admin_complain(&error);
	say_contents(arena, argv[1], manifest);
	return admin_done;
}
