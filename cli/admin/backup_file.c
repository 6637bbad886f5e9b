#include "cli/admin/backup_file.h"

#include "cli/admin/tool.h"
#include "lib/base/scope.h"

#include <errno.h>
#include <fcntl.h>
#include <jansson.h>
#include <libgen.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

static const char MARK[] = "-- Podium backup: ";
enum { format = 1, most_manifest_bytes = 128 * 1024, gzip_level = 3, piece_bytes = 256 * 1024 };

/* ---- the last line ---- */

static json_t *tables_json(const struct ledger *ledger)
{
	json_t *tables = json_array();
	for (size_t i = 0; i < ledger->count; i++)
		json_array_append_new(tables,
			json_pack("{s:s, s:I, s:s}", "name", ledger->tables[i].name, "rows",
				(json_int_t)ledger->tables[i].rows, "sha256", ledger->tables[i].sha256));
	return tables;
}

static char *manifest_text(const struct manifest *manifest, const char *sha256)
{
	const struct ledger *ledger = &manifest->ledger;
	json_t *root = json_pack("{s:i, s:s, s:I, s:s, s:s, s:I, s:s, s:I, s:o}", "format", (int)format,
		"podium", manifest->podium, "schema", (json_int_t)manifest->schema, "made_at",
		manifest->made_at, "sha256", sha256, "longest_statement_bytes",
		(json_int_t)ledger->longest_statement_bytes, "binary_log", ledger->binary_log,
		"binary_log_position", (json_int_t)ledger->binary_log_position, "tables",
		tables_json(ledger));
	char *text = json_dumps(root, JSON_COMPACT | JSON_ENSURE_ASCII);
	json_decref(root);
	return text;
}

static int fail_damaged(const char *path, const char *how, struct error *error)
{
	return fail(error, ERROR_INPUT, "The backup %.300s is %s. Nothing was changed.", path, how);
}

static int read_tables(const json_t *tables, struct ledger *ledger)
{
	size_t i;
	json_t *table;
	json_array_foreach(tables, i, table)
	{
		const char *name, *sha256;
		json_int_t rows;
		if (i >= ledger_most_tables
			|| json_unpack(
				table, "{s:s, s:I, s:s}", "name", &name, "rows", &rows, "sha256", &sha256))
			return ERROR_INPUT;
		struct ledger_table *place = &ledger->tables[ledger->count++];
		snprintf(place->name, sizeof place->name, "%s", name);
		snprintf(place->sha256, sizeof place->sha256, "%s", sha256);
		place->rows = rows;
	}
	return 0;
}

/* Fills `manifest` from the JSON. */
static int read_manifest(const char *path, const char *text, struct manifest *manifest,
	char *sha256, size_t sha256_size, struct error *error)
{
	json_int_t form = 0, schema = 0, longest = 0, position = 0;
	const char *podium = "", *made_at = "", *whole = "", *binary_log = "";
	json_t *tables = NULL, *root = json_loads(text, JSON_DISABLE_EOF_CHECK, NULL);
	int rc = !root
			|| json_unpack(root, "{s:I, s:s, s:I, s:s, s:s, s:I, s:s, s:I, s:o}", "format", &form,
				"podium", &podium, "schema", &schema, "made_at", &made_at, "sha256", &whole,
				"longest_statement_bytes", &longest, "binary_log", &binary_log,
				"binary_log_position", &position, "tables", &tables)
		? fail_damaged(path, "damaged in its last line", error)
		: 0;
	if (!rc && form != format)
		rc = fail(error, ERROR_INPUT,
			"The backup %.300s has format %lld, but podium-admin %s reads format %d. Use the "
			"Podium version that made the backup.",
			path, (long long)form, PODIUM_VERSION, format);
	memset(manifest, 0, sizeof *manifest);
	if (!rc && read_tables(tables, &manifest->ledger))
		rc = fail_damaged(path, "damaged in its last line", error);
	snprintf(manifest->podium, sizeof manifest->podium, "%s", podium);
	snprintf(manifest->made_at, sizeof manifest->made_at, "%s", made_at);
	snprintf(manifest->ledger.binary_log, sizeof manifest->ledger.binary_log, "%s", binary_log);
	snprintf(sha256, sha256_size, "%s", whole);
	manifest->schema = schema;
	manifest->ledger.longest_statement_bytes = (size_t)longest;
	manifest->ledger.binary_log_position = position;
	for (size_t i = 0; i < manifest->ledger.count; i++)
		manifest->ledger.rows += manifest->ledger.tables[i].rows;
	json_decref(root);
	return rc;
}

static void hash_text(crypto_hash_sha256_state *hash, char *text, size_t size)
{
	unsigned char digest[crypto_hash_sha256_BYTES];
	crypto_hash_sha256_final(hash, digest);
	sodium_bin2hex(text, size, digest, sizeof digest);
}

/* ---- writing ---- */

static bool is_standard_output(const struct backup_writer *writer)
{
	return strcmp(writer->path, "-") == 0;
}

static int cannot_write(const struct backup_writer *writer, int number, struct error *error)
{
	if (interruption_check(error))
		return error->code;
	return fail(
		error, ERROR_SYSTEM, "Cannot write the backup %.300s: %s.", writer->path, strerror(number));
}

int backup_create(
	struct backup_writer *writer, const char *path, struct manifest *manifest, struct error *error)
{
	*writer = (struct backup_writer){ .file = -1, .manifest = manifest };
	if (snprintf(writer->path, sizeof writer->path, "%s", path) + 8 >= (int)sizeof writer->path)
		return fail(error, ERROR_INPUT, "The path of the backup is too long: %.200s...", path);
	ledger_begin(&manifest->ledger);
	crypto_hash_sha256_init(&writer->hash);
	if (!is_standard_output(writer))
		snprintf(writer->fresh, sizeof writer->fresh, "%.*s.XXXXXX", (int)strlen(writer->path),
			writer->path);
	writer->file = is_standard_output(writer) ? dup(STDOUT_FILENO)
											  : mkostemp(writer->fresh, O_CLOEXEC); /* mode 0600 */
	if (writer->file < 0) {
		writer->fresh[0] = '\0';
		return cannot_write(writer, errno, error);
	}
	/* gzclose() closes the copy; backup_complete still syncs writer->file afterwards. */
	int copy = fcntl(writer->file, F_DUPFD_CLOEXEC, 3);
	writer->gzip = copy < 0 ? NULL : gzdopen(copy, "wb");
	if (!writer->gzip)
		return cannot_write(writer, errno, error);
	gzbuffer(writer->gzip, piece_bytes);
	gzsetparams(writer->gzip, gzip_level, Z_DEFAULT_STRATEGY);
	return 0;
}

static int write_bytes(
	struct backup_writer *writer, const char *bytes, size_t length, struct error *error)
{
	errno = 0;
	if (gzwrite(writer->gzip, bytes, (unsigned)length) == (int)length)
		return 0;
	return cannot_write(writer, errno ? errno : EIO, error);
}

int backup_write(
	struct backup_writer *writer, const char *bytes, size_t length, struct error *error)
{
	ledger_add(&writer->manifest->ledger, bytes, length);
	crypto_hash_sha256_update(&writer->hash, (const unsigned char *)bytes, length);
	return write_bytes(writer, bytes, length, error);
}

static int write_manifest(struct backup_writer *writer, struct error *error)
{
	char sha256[2 * crypto_hash_sha256_BYTES + 1];
	cleanup_buffer struct buffer line = { 0 };
	ledger_end(&writer->manifest->ledger);
	if (ledger_check(&writer->manifest->ledger, error))
		return error->code;
	hash_text(&writer->hash, sha256, sizeof sha256);
	cleanup_free char *text = manifest_text(writer->manifest, sha256);
	buffer_printf(&line, "%s%s\n", MARK, text);
	return write_bytes(writer, line.data, line.length, error);
}

/* Syncs the backup's folder, so that the new name of the file also reaches the disk. */
static int sync_folder(const struct backup_writer *writer, struct error *error)
{
	char path[PATH_MAX];
	memcpy(path, writer->path, sizeof path);
	cleanup_fd int folder = open(dirname(path), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	return folder < 0 || (fsync(folder) && errno != EINVAL) ? cannot_write(writer, errno, error)
															: 0;
}

int backup_complete(struct backup_writer *writer, struct error *error)
{
	int rc = write_manifest(writer, error);
	errno = 0;
	if (gzclose(writer->gzip) != Z_OK && !rc)
		rc = cannot_write(writer, errno ? errno : EIO, error);
	writer->gzip = NULL;
	if (rc || is_standard_output(writer))
		return rc;
	if (fsync(writer->file) || interruption_check(NULL) || rename(writer->fresh, writer->path))
		return cannot_write(writer, errno, error);
	writer->fresh[0] = '\0';
	return sync_folder(writer, error);
}

void backup_abandon(struct backup_writer *writer)
{
	if (writer->gzip)
		gzclose(writer->gzip);
	writer->gzip = NULL;
	if (writer->fresh[0])
		unlink(writer->fresh);
	if (writer->file >= 0)
		close(writer->file);
	writer->file = -1;
}

/* ---- reading ---- */

/* Only the end of the file shows where its last line, the manifest, begins. `held` therefore keeps
 * back the newest bytes, as many as a manifest may have. */
struct reading {
	const char *path;
	backup_sink *sink;
	void *context;
	struct buffer held;
	crypto_hash_sha256_state hash;
	struct ledger *ledger;
};

static int pass_on(struct reading *reading, size_t length, struct error *error)
{
	const char *bytes = reading->held.data;
	int rc = interruption_check(error);
	crypto_hash_sha256_update(&reading->hash, (const unsigned char *)bytes, length);
	ledger_add(reading->ledger, bytes, length);
	if (!rc && reading->sink && length)
		rc = reading->sink(reading->context, bytes, length, error);
	buffer_drop_front(&reading->held, length);
	return rc;
}

static int read_pieces(struct reading *reading, gzFile gzip, struct error *error)
{
	cleanup_free char *piece = malloc(piece_bytes);
	int got = 0,
		rc = piece ? 0 : fail(error, ERROR_SYSTEM, "There is not enough memory to read a backup.");
	while (!rc && (got = gzread(gzip, piece, piece_bytes)) > 0) {
		buffer_append(&reading->held, piece, (size_t)got);
		if (reading->held.length > most_manifest_bytes)
			rc = pass_on(reading, reading->held.length - most_manifest_bytes, error);
	}
	bool is_whole = gzclose_r(gzip) == Z_OK && got == 0;
	if (rc || is_whole)
		return rc;
	rc = interruption_check(error);
	return rc ? rc
			  : fail_damaged(reading->path, "damaged or cut: it is no complete gzip file", error);
}

/* Returns the offset of the manifest's line in the held-back bytes, or their length if there is no
 * such line. */
static size_t find_mark(const struct buffer *held)
{
	size_t at = held->length;
	for (size_t i = 0; i + strlen(MARK) < held->length; i++)
		if ((i == 0 || held->data[i - 1] == '\n')
			&& memcmp(held->data + i, MARK, strlen(MARK)) == 0)
			at = i;
	return at;
}

static int read_end(struct reading *reading, struct manifest *manifest, struct error *error)
{
	char expected[80], found[80];
	size_t mark = find_mark(&reading->held);
	if (mark == reading->held.length)
		return fail_damaged(reading->path, "no backup of Podium, or it was cut", error);
	int rc = read_manifest(reading->path, reading->held.data + mark + strlen(MARK), manifest,
		expected, sizeof expected, error);
	if (!rc)
		rc = pass_on(reading, mark, error);
	if (rc)
		return rc;
	hash_text(&reading->hash, found, sizeof found);
	ledger_end(reading->ledger);
	if (strcmp(expected, found) != 0)
		return fail_damaged(
			reading->path, "damaged: its SHA-256 is another than it had when it was made", error);
	return ledger_compare(&manifest->ledger, reading->ledger, error)
		? fail_context(error, "%.300s is damaged", reading->path)
		: 0;
}

int backup_read(const char *path, struct manifest *manifest, backup_sink *sink, void *context,
	struct error *error)
{
	errno = 0;
	gzFile gzip = gzopen(path, "rbe");
	if (!gzip)
		return fail(error, ERROR_INPUT, "Cannot read the backup %.300s: %s.", path,
			errno ? strerror(errno) : "there is no memory");
	cleanup_free struct ledger *ledger = malloc(sizeof *ledger);
	struct reading reading = { .path = path, .sink = sink, .context = context, .ledger = ledger };
	if (!ledger) {
		gzclose_r(gzip);
		return fail(error, ERROR_SYSTEM, "There is not enough memory to read a backup.");
	}
	ledger_begin(ledger);
	crypto_hash_sha256_init(&reading.hash);
	int rc = read_pieces(&reading, gzip, error);
	if (!rc)
		rc = read_end(&reading, manifest, error);
	buffer_free(&reading.held);
	return rc;
}
