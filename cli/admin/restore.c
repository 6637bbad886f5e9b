/* `restore`, `restored`. */
#include "cli/admin/admin.h"
#include "cli/admin/backup_file.h"
#include "cli/admin/dump.h"
#include "cli/admin/migrate.h"
#include "cli/admin/tool.h"
#include "lib/account/audit.h"
#include "lib/account/user.h"
#include "lib/base/config.h"
#include "lib/base/format.h"
#include "lib/base/scope.h"

#include <errno.h>
#include <string.h>
#include <time.h>

/* Workers, webhook receivers and people know numbers that Podium assigned after the backup. After a
 * restore, fences and IDs of new rows continue this much higher, so that Podium assigns no known
 * number again. */
#define GAP "1000000"

struct wanted {
	const char *file, *replace; /* name of the database whose tables to delete first, or NULL */
	bool keeps_sessions;
};

static int read_words(int argc, char **argv, struct wanted *wanted)
{
	*wanted = (struct wanted){ 0 };
	for (int i = 1; i < argc; i++) {
		if (strcmp(argv[i], "--keep-sessions") == 0)
			wanted->keeps_sessions = true;
		else if (strcmp(argv[i], "--replace") == 0 && i + 1 < argc)
			wanted->replace = argv[++i];
		else if (argv[i][0] != '-' && !wanted->file)
			wanted->file = argv[i];
		else
			return admin_misused;
	}
	return 0;
}

/* ---- statements ---- */

struct number {
	int64_t count;
};
static const struct column NUMBER_COLUMNS[] = { INTEGER(struct number, count) };
/* Counts other connections to the database. An account without the right to see all connections
 * sees those of its own name, which suffices: Podium's other programs use the same account. */
static const struct statement OTHERS = SELECT(struct number, NUMBER_COLUMNS,
	"SELECT COUNT(*) AS count FROM information_schema.processlist WHERE db = DATABASE() "
	"AND id <> CONNECTION_ID()");
static const struct statement MOST_PACKET =
	SELECT(struct number, NUMBER_COLUMNS, "SELECT @@max_allowed_packet AS count");

struct name_row {
	const char *name;
	int64_t next;
};
static const struct column NAME_COLUMNS[] = { TEXT(struct name_row, name),
	INTEGER(struct name_row, next) };
static const struct statement ALL_TABLES = SELECT(struct name_row, NAME_COLUMNS,
	"SELECT table_name AS name, table_type = 'VIEW' AS next FROM information_schema.tables "
	"WHERE table_schema = DATABASE()");
static const struct statement NUMBERED_TABLES = SELECT(struct name_row, NAME_COLUMNS,
	"SELECT table_name AS name, auto_increment AS next FROM information_schema.tables "
	"WHERE table_schema = DATABASE() AND table_type = 'BASE TABLE' AND auto_increment IS NOT NULL");

/* Workers and podium-hooks that ran before the restore may still report. With raised fences, their
 * reports match no row. */
static const struct statement RAISE_FENCES[] = {
	COMMAND("UPDATE jobs SET fence = fence + " GAP),
	COMMAND("UPDATE webhooks SET fence = fence + " GAP ", lease_expires = NULL"),
};
/* Without these deletions, a restore would reopen sessions and links that ended after the
 * backup. */
static const struct statement END_SESSIONS[] = {
	COMMAND("DELETE FROM sessions"),
	COMMAND("DELETE FROM password_links"),
	COMMAND("DELETE FROM terminals"),
	COMMAND("DELETE FROM sign_ins"),
	COMMAND("DELETE FROM passkey_challenges"),
};

/* ---- tables ---- */

/* Appends `name` between backticks. */
static void append_name(struct buffer *sql, const char *name)
{
	buffer_byte(sql, '`');
	for (; *name; name++)
		buffer_text(sql, (char[3]){ *name, *name == '`' ? '`' : '\0' });
	buffer_byte(sql, '`');
}

static int drop_all(struct database *db, struct error *error)
{
	cleanup_arena struct arena *arena = arena_new();
	cleanup_buffer struct buffer sql = { 0 };
	struct name_row *tables;
	size_t count;
	int rc = database_rows(db, arena, &ALL_TABLES, &tables, &count, error, "");
	if (rc || !count)
		return rc;
	/* Drop last the table that marks the database as incomplete. */
	buffer_text(&sql, "SET foreign_key_checks = 0; ");
	for (size_t i = 0; i < count; i++)
		if (strcmp(tables[i].name, RESTORING_TABLE) != 0) {
			buffer_text(&sql, tables[i].next ? "DROP VIEW " : "DROP TABLE ");
			append_name(&sql, tables[i].name);
			buffer_text(&sql, "; ");
		}
	buffer_text(&sql, "SET foreign_key_checks = 1; DROP TABLE IF EXISTS " RESTORING_TABLE);
	return database_script(db, sql.data, error);
}

static int leave_gaps(struct database *db, struct error *error)
{
	cleanup_arena struct arena *arena = arena_new();
	struct name_row *tables;
	size_t count;
	int rc = database_rows(db, arena, &NUMBERED_TABLES, &tables, &count, error, "");
	for (size_t i = 0; i < count && !rc; i++) {
		cleanup_buffer struct buffer sql = { 0 };
		buffer_text(&sql, "ALTER TABLE ");
		append_name(&sql, tables[i].name);
		buffer_printf(&sql, " AUTO_INCREMENT = %lld", (long long)tables[i].next + atoll(GAP));
		rc = database_script(db, sql.data, error);
	}
	return rc;
}

/* ---- the last steps, after the tables are filled ---- */

static int take_last_steps(
	struct database *db, bool keeps_sessions, const char *detail, struct error *error)
{
	int rc = 0;
	for (size_t i = 0; i < COUNT(RAISE_FENCES) && !rc; i++)
		rc = database_execute(db, &RAISE_FENCES[i], error, "");
	for (size_t i = 0; i < COUNT(END_SESSIONS) && !rc && !keeps_sessions; i++)
		rc = database_execute(db, &END_SESSIONS[i], error, "");
	if (!rc)
		rc = leave_gaps(db, error);
	return rc ? rc
			  : audit(db, admin_actor.id, admin_actor.name, admin_actor.address, "database.restore",
				  "", detail, error);
}

/* ---- checks before the first change ---- */

static int check_alone(struct database *db, struct error *error)
{
	cleanup_arena struct arena *arena = arena_new();
	struct number others;
	int rc = database_row(db, arena, &OTHERS, &others, error, "");
	if (rc || !others.count)
		return rc;
	return fail(error, ERROR_CONFLICT,
		"The database is in use by %s. Stop podium-web, podium-hooks and every podium-worker "
		"first. Nothing was changed.",
		plural(arena, others.count, "other connection"));
}

static int check_target(struct database *db, const struct config *config,
	const struct wanted *wanted, struct error *error)
{
	int64_t tables;
	int rc = dump_count_tables(db, &tables, error);
	bool is_incomplete = !rc && restoring_check(db, error) == ERROR_CONFLICT;
	if (rc || (!tables && !is_incomplete))
		return rc;
	if (!wanted->replace)
		return fail(error, ERROR_CONFLICT,
			"The database %s is not empty%s. To delete everything in it first, use --replace %s. "
			"Nothing was changed.",
			config->database_name, is_incomplete ? " (a restore was interrupted)" : "",
			config->database_name);
	return strcmp(wanted->replace, config->database_name) == 0
		? 0
		: fail(error, ERROR_INPUT,
			"--replace names %.64s, but the settings name the database %s. Nothing was changed.",
			wanted->replace, config->database_name);
}

static int check_manifest(struct database *db, const struct manifest *manifest, struct error *error)
{
	cleanup_arena struct arena *arena = arena_new();
	struct number packet;
	if (manifest->schema > migrate_newest())
		return fail(error, ERROR_INPUT,
			"The backup has schema %lld and was made by Podium %s, but podium-admin %s knows "
			"schemas up to %lld. Use a newer Podium. Nothing was changed.",
			(long long)manifest->schema, manifest->podium, PODIUM_VERSION,
			(long long)migrate_newest());
	int rc = database_row(db, arena, &MOST_PACKET, &packet, error, "");
	if (rc || (int64_t)manifest->ledger.longest_statement_bytes < packet.count)
		return rc;
	return fail(error, ERROR_INPUT,
		"The backup has a statement of %zu bytes, but this MariaDB accepts at most %lld. Raise its "
		"setting max_allowed_packet. Nothing was changed.",
		manifest->ledger.longest_statement_bytes, (long long)packet.count);
}

/* ---- filling ---- */

static const char *const CLIENT[] = {
	"mariadb",
	"--batch",
	"--binary-mode",
	"--default-character-set=utf8mb4",
	"--max-allowed-packet=1G",
	"--",
	NULL,
	NULL,
};

/* If the client has exited, tool_finish reports why. */
static int feed_client(void *context, const char *bytes, size_t length, struct error *error)
{
	const struct tool *tool = context;
	while (length) {
		ssize_t put = write(tool->pipe, bytes, length);
		int rc = interruption_check(error);
		if (rc)
			return rc;
		if (put < 0 && errno != EINTR)
			return fail(
				error, ERROR_SYSTEM, "Cannot write to %s: %s.", tool->name, strerror(errno));
		if (put > 0) {
			bytes += put;
			length -= (size_t)put;
		}
	}
	return 0;
}

static int fill_database(
	const struct config *config, const char *file, struct manifest *manifest, struct error *error)
{
	const char *words[COUNT(CLIENT)];
	struct tool tool = { 0 };
	struct error ending = { 0 };
	memcpy(words, CLIENT, sizeof words);
	words[COUNT(CLIENT) - 2] = config->database_name;
	int rc = tool_start(&tool, config, TOOL_WRITE, words, error);
	if (rc)
		return rc;
	rc = backup_read(file, manifest, feed_client, &tool, error);
	if (interruption_check(NULL)) {
		tool_stop(&tool);
		return rc ? rc : interruption_check(error);
	}
	int end = tool_finish(&tool, &ending);
	if (end)
		*error = ending; /* the client's own message says why writing to it failed */
	return end ? end : rc;
}

/* ---- comparing ---- */

static int add_piece(void *ledger, const char *bytes, size_t length, struct error *error)
{
	(void)error;
	ledger_add(ledger, bytes, length);
	return 0;
}

/* Dumps the restored database again and compares its ledger with the backup's. */
static int compare_with_backup(struct database *db, const struct config *config,
	const struct manifest *manifest, struct error *error)
{
	cleanup_free struct ledger *found = malloc(sizeof *found);
	if (!found)
		return fail(error, ERROR_SYSTEM,
			"There is not enough memory to compare the database with the backup.");
	ledger_begin(found);
	int rc = dump_database(db, config, add_piece, found, error);
	ledger_end(found);
	if (!rc && ledger_compare(&manifest->ledger, found, error))
		rc = fail_context(error, "The restored database differs from the backup");
	return rc;
}

/* ---- restore ---- */

static int load_backup(struct database *db, const struct config *config,
	const struct wanted *wanted, struct manifest *manifest, struct error *error)
{
	int rc = fill_database(config, wanted->file, manifest, error);
	if (!rc)
		rc = compare_with_backup(db, config, manifest, error);
	if (!rc)
		rc = migrate(db, config->database_name, error);
	return rc;
}

/* Waits until the server has finished the last statement of the killed client. */
static void await_alone(struct database *db)
{
	enum { looks = 600 };
	const struct timespec pause = { .tv_nsec = 50 * 1000000 };
	struct error ignored;
	for (int look = 0; look < looks && check_alone(db, &ignored) == ERROR_CONFLICT; look++)
		nanosleep(&pause, NULL);
}

/* Empties the database after a failed restore, since an empty database is better than a partial
 * one. If that fails, RESTORING_TABLE still marks the database as incomplete. */
static void empty_again(struct database *db, struct error *error)
{
	struct error ignored = { 0 }, why = *error;
	await_alone(db);
	if (drop_all(db, &ignored))
		fail(error, why.code,
			"%.500s The database is now incomplete, and Podium does not use it. Restore again with "
			"--replace.",
			why.text);
	else
		fail(error, why.code, "%.500s The database was emptied again.", why.text);
}

static int restore_backup(struct database *db, const struct config *config,
	const struct wanted *wanted, struct manifest *manifest, struct error *error)
{
	cleanup_arena struct arena *arena = arena_new();
	int rc = schema_lock(db, error);
	if (!rc)
		rc = check_manifest(db, manifest, error);
	if (!rc)
		rc = check_target(db, config, wanted, error);
	if (!rc)
		rc = check_alone(db, error);
	if (!rc)
		rc = drop_all(db, error);
	if (!rc)
		rc = database_script(db,
			"CREATE TABLE " RESTORING_TABLE
			" (since DATETIME NOT NULL DEFAULT UTC_TIMESTAMP()) ENGINE = InnoDB",
			error);
	if (rc)
		return rc;
	rc = load_backup(db, config, wanted, manifest, error);
	if (!rc)
		rc = take_last_steps(db, wanted->keeps_sessions,
			arena_printf(
				arena, "From a backup of %s by Podium %s.", manifest->made_at, manifest->podium),
			error);
	if (!rc)
		rc = database_script(db, "DROP TABLE " RESTORING_TABLE, error);
	if (rc)
		empty_again(db, error);
	return rc;
}

static void say_next(const struct manifest *manifest, bool keeps_sessions)
{
	admin_say("Restored %zu tables with %lld rows from %s, and compared each row with the backup.",
		manifest->ledger.count, (long long)manifest->ledger.rows, manifest->made_at);
	if (!keeps_sessions)
		admin_say(
			"Everybody has to log in again. API tokens and passwords are those of the backup.");
	if (manifest->ledger.binary_log[0])
		admin_say("Later changes are in the old server's binary log from %s, position %lld.",
			manifest->ledger.binary_log, (long long)manifest->ledger.binary_log_position);
}

int restore_command(int argc, char **argv)
{
	struct wanted wanted;
	if (read_words(argc, argv, &wanted) || !wanted.file)
		return admin_usage("restore");
	cleanup_free struct manifest *manifest = calloc(1, sizeof *manifest);
	struct config config;
	struct error error = { 0 };
	if (!manifest)
		return admin_failed;
	interruption_catch();
	/* Checks the whole backup before the restore changes anything. */
	if (config_load(&config, &error) || backup_read(wanted.file, manifest, NULL, NULL, &error))
		return admin_complain(&error);
	cleanup_database struct database *db = admin_connect();
	if (!db)
		return admin_failed;
	if (restore_backup(db, &config, &wanted, manifest, &error))
		return admin_complain(&error);
	say_next(manifest, wanted.keeps_sessions);
	return admin_done;
}

/* ---- restored ---- */

static int finish_restored(
	struct database *db, const struct config *config, bool keeps_sessions, struct error *error)
{
	int rc = schema_lock(db, error);
	if (!rc)
		rc = restoring_check(db, error);
	if (!rc)
		rc = check_alone(db, error);
	if (!rc)
		rc = migrate(db, config->database_name, error);
	return rc
		? rc
		: take_last_steps(db, keeps_sessions, "By other means than podium-admin restore.", error);
}

int restored_command(int argc, char **argv)
{
	struct wanted wanted;
	struct error error = { 0 };
	if (read_words(argc, argv, &wanted) || wanted.file || wanted.replace)
		return admin_usage("restored");
	struct config config;
	cleanup_database struct database *db = admin_connect_to(&config);
	if (!db)
		return admin_failed;
	if (finish_restored(db, &config, wanted.keeps_sessions, &error))
		return admin_complain(&error);
	admin_say("Podium now rejects late results of earlier workers, and assigns no number twice.%s",
		wanted.keeps_sessions ? "" : " Everybody has to log in again.");
	return admin_done;
}
