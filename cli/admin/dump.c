#include "cli/admin/dump.h"

#include "cli/admin/ledger.h"
#include "cli/admin/tool.h"
#include "lib/base/scope.h"

#include <errno.h>
#include <string.h>

struct lock {
	int64_t held;
};
static const struct column LOCK_COLUMNS[] = { INTEGER(struct lock, held) };
static const struct statement LOCK =
	SELECT(struct lock, LOCK_COLUMNS, "SELECT GET_LOCK('podium migrate', 60) AS held");

int schema_lock(struct database *db, struct error *error)
{
	cleanup_arena struct arena *arena = arena_new();
	struct lock lock;
	int rc = database_row(db, arena, &LOCK, &lock, error, "");
	return rc || lock.held == 1 ? rc
								: fail(error, ERROR_CONFLICT,
									"Another podium-admin has been using this database for more "
									"than a minute. Try again when it has finished.");
}

struct table {
	const char *name, *engine;
};
static const struct column TABLE_COLUMNS[] = { TEXT(struct table, name),
	TEXT(struct table, engine) };
static const struct statement TABLES = SELECT(struct table, TABLE_COLUMNS,
	"SELECT table_name AS name, engine FROM information_schema.tables "
	"WHERE table_schema = DATABASE() AND table_type = 'BASE TABLE' "
	"AND table_name <> '" RESTORING_TABLE
	"' ORDER BY table_name = 'schema_migrations', table_name");

/* The dump writes views without the database's name, so that a database of another name can get
 * them. */
struct view {
	const char *name, *security, *definition;
};
static const struct column VIEW_COLUMNS[] = { TEXT(struct view, name), TEXT(struct view, security),
	TEXT(struct view, definition) };
static const struct statement VIEWS = SELECT(struct view, VIEW_COLUMNS,
	"SELECT table_name AS name, security_type AS security, REPLACE(view_definition, "
	"CONCAT('`', DATABASE(), '`.'), '') AS definition "
	"FROM information_schema.views WHERE table_schema = DATABASE() ORDER BY table_name");

struct number {
	int64_t count, binary_log;
};
static const struct column COUNT_COLUMNS[] = { INTEGER(struct number, count) };
static const struct statement COUNT_TABLES = SELECT(struct number, COUNT_COLUMNS,
	"SELECT COUNT(*) AS count FROM information_schema.tables WHERE table_schema = DATABASE() "
	"AND table_name <> '" RESTORING_TABLE "'");
static const struct statement COUNT_RESTORING = SELECT(struct number, COUNT_COLUMNS,
	"SELECT COUNT(*) AS count FROM information_schema.tables WHERE table_schema = DATABASE() "
	"AND table_name = '" RESTORING_TABLE "'");
static const struct column BINARY_LOG_COLUMNS[] = { INTEGER(struct number, binary_log) };
static const struct statement BINARY_LOG =
	SELECT(struct number, BINARY_LOG_COLUMNS, "SELECT @@log_bin AS binary_log");

int dump_count_tables(struct database *db, int64_t *count, struct error *error)
{
	cleanup_arena struct arena *arena = arena_new();
	struct number found = { 0 };
	int rc = database_row(db, arena, &COUNT_TABLES, &found, error, "");
	*count = found.count;
	return rc;
}

int restoring_check(struct database *db, struct error *error)
{
	cleanup_arena struct arena *arena = arena_new();
	struct number found = { 0 };
	int rc = database_row(db, arena, &COUNT_RESTORING, &found, error, "");
	return rc || !found.count
		? rc
		: fail(error, ERROR_CONFLICT,
			"The database is incomplete: a `podium-admin restore` is running or was interrupted. "
			"Wait for it to finish, or restore again with --replace.");
}

/* Dumps a snapshot without locks (--single-transaction), row by row (--quick). Rows are sorted by
 * primary key, so that equal rows give equal text. The dump contains no LOCK TABLES: accounts may
 * lack the right to it, and Galera rejects it. */
static const char *const WORDS[] = {
	"mariadb-dump",
	"--single-transaction",
	"--quick",
	"--order-by-primary",
	"--skip-lock-tables",
	"--skip-add-locks",
	"--skip-disable-keys",
	"--skip-triggers",
	"--no-tablespaces",
	"--default-character-set=utf8mb4",
	"--max-allowed-packet=1G",
};

static int check_tables(const struct table *tables, size_t count, struct error *error)
{
	for (size_t i = 0; i < count; i++)
		if (!tables[i].engine || strcmp(tables[i].engine, "InnoDB") != 0)
			return fail(error, ERROR_INPUT,
				"The table %s uses the engine %s, which cannot give a consistent snapshot. Change "
				"it with `ALTER TABLE %s ENGINE = InnoDB`.",
				tables[i].name, tables[i].engine ? tables[i].engine : "(none)", tables[i].name);
	return count < ledger_most_tables
		? 0
		: fail(error, ERROR_INPUT,
			"The database has %zu tables, more than Podium has. Name Podium's own database.",
			count);
}

static int read_all(struct tool *tool, dump_sink *sink, void *context, struct error *error)
{
	enum { piece_bytes = 256 * 1024 };
	cleanup_free char *piece = malloc(piece_bytes);
	ssize_t got =
		piece ? 1 : fail(error, ERROR_SYSTEM, "There is not enough memory to copy a database.");
	int rc = (int)(got < 0 ? got : 0);
	while (!rc && (got = read(tool->pipe, piece, piece_bytes)) != 0) {
		rc = interruption_check(error);
		if (!rc && got < 0 && errno != EINTR)
			rc = fail(error, ERROR_SYSTEM, "Cannot read the output of %s: %s.", tool->name,
				strerror(errno));
		if (!rc && got > 0)
			rc = sink(context, piece, (size_t)got, error);
	}
	return rc ? rc : interruption_check(error);
}

/* Writes the views here because mariadb-dump would name their definer. Few accounts have the right
 * to restore a definer, and another server may lack that account. */
static int write_views(struct database *db, dump_sink *sink, void *context, struct error *error)
{
	cleanup_arena struct arena *arena = arena_new();
	cleanup_buffer struct buffer sql = { 0 };
	struct view *views;
	size_t count = 0;
	int rc = database_rows(db, arena, &VIEWS, &views, &count, error, "");
	for (size_t i = 0; i < count && !rc; i++) {
		if (!views[i].definition || !*views[i].definition)
			rc = fail(error, ERROR_INPUT,
				"The database account may not read the definition of the view %s. Grant it the "
				"privilege SHOW VIEW.",
				views[i].name);
		else
			buffer_printf(&sql, LEDGER_VIEW "SQL SECURITY %s VIEW `%s` AS %s;\n", views[i].security,
				views[i].name, views[i].definition);
	}
	return rc || !sql.length ? rc : sink(context, sql.data, sql.length, error);
}

int dump_database(struct database *db, const struct config *config, dump_sink *sink, void *context,
	struct error *error)
{
	cleanup_arena struct arena *arena = arena_new();
	struct table *tables;
	size_t count = 0, words = COUNT(WORDS);
	struct number number;
	int rc = database_rows(db, arena, &TABLES, &tables, &count, error, "");
	if (!rc)
		rc = check_tables(tables, count, error);
	if (!rc)
		rc = database_row(db, arena, &BINARY_LOG, &number, error, "");
	if (rc)
		return rc;
	const char **all = arena_array(arena, const char *, COUNT(WORDS) + count + 4);
	memcpy(all, WORDS, sizeof WORDS);
	if (number.binary_log)
		/* adds a comment with the binary log's position at the snapshot */
		all[words++] = "--master-data=2";
	all[words++] = "--";
	all[words++] = config->database_name;
	for (size_t i = 0; i < count; i++)
		all[words++] = tables[i].name;
	struct tool tool = { 0 };
	rc = tool_start(&tool, config, TOOL_READ, all, error);
	if (!rc)
		rc = read_all(&tool, sink, context, error);
	if (!rc)
		rc = tool_finish(&tool, error);
	tool_stop(&tool);
	return rc ? rc : write_views(db, sink, context, error);
}
