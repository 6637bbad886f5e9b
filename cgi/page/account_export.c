#include "cgi/page/account_export.h"

#include "cgi/page/account_export_rows.h"
#include "lib/base/format.h"
#include "lib/base/gzip.h"
#include "lib/base/scope.h"
#include "lib/base/text.h"

#include <jansson.h>
#include <math.h>
#include <sodium.h>
#include <string.h>

enum { submissions_at_once = 50, piece_bytes = 1 << 20 };

/* ---- rows as JSON objects; column names are keys ---- */

static json_t *bytes_to_json(const struct blob_value *blob)
{
	cleanup_free char *text =
		malloc(sodium_base64_ENCODED_LEN(blob->length, sodium_base64_VARIANT_ORIGINAL));
	if (!text || !blob->bytes)
		return json_null();
	sodium_bin2base64(text, sodium_base64_ENCODED_LEN(blob->length, sodium_base64_VARIANT_ORIGINAL),
		blob->bytes, blob->length, sodium_base64_VARIANT_ORIGINAL);
	return json_string(text);
}

/* Converts a source to JSON: as text if it is UTF-8, else as base64. */
static json_t *blob_to_json(const struct blob_value *blob)
{
	return blob->bytes && text_is_utf8(blob->bytes, blob->length)
		? json_stringn(blob->bytes, blob->length)
		: bytes_to_json(blob);
}

static json_t *time_to_json(int64_t ms)
{
	format_text iso;
	format_iso(iso, ms);
	return ms == TIME_NULL ? json_null() : json_string(iso);
}

static json_t *value_to_json(const struct column *column, const char *row)
{
	const void *value = row + column->offset;
	switch (column->type) {
	case COLUMN_INTEGER:
		return *(const int64_t *)value == SQL_NULL_INTEGER ? json_null()
														   : json_integer(*(const int64_t *)value);
	case COLUMN_REAL:
		return isfinite(*(const double *)value) ? json_real(*(const double *)value) : json_null();
	case COLUMN_TEXT:
		return *(const char *const *)value ? json_string(*(const char *const *)value) : json_null();
	case COLUMN_TIME: return time_to_json(*(const int64_t *)value);
	case COLUMN_BLOB: break;
	}
	return blob_to_json(value);
}

/* The export writes times as text, so the key drops the suffix "_ms". */
static const char *key_of(struct arena *arena, const struct column *column)
{
	size_t length = strlen(column->name);
	return column->type == COLUMN_TIME && text_ends_with(column->name, "_ms")
		? arena_strndup(arena, column->name, length - 3)
		: column->name;
}

/* Writes a row as an object, without its first `first` columns. */
static json_t *row_to_json(
	struct arena *arena, const struct statement *statement, size_t first, const void *row)
{
	json_t *object = json_object();
	for (size_t i = first; i < statement->column_count; i++)
		json_object_set_new(object, key_of(arena, &statement->columns[i]),
			value_to_json(&statement->columns[i], row));
	return object;
}

/* Returns all rows of a statement that binds one ID as a JSON array. On failure, fills the error
 * and returns NULL. */
static json_t *rows_to_json(struct database *db, struct arena *arena,
	const struct statement *statement, int64_t id, struct error *error)
{
	char *rows;
	size_t count;
	if (database_rows(db, arena, statement, &rows, &count, error, "i", id))
		return NULL;
	json_t *array = json_array();
	for (size_t i = 0; i < count; i++)
		json_array_append_new(
			array, row_to_json(arena, statement, 0, rows + i * statement->row_size));
	return array;
}

/* ---- the pieces ---- */

struct progress {
	int64_t leaderboard_id, submission_id; /* the last submission written */
	struct exported_file *files;
	size_t file_count, next_file; /* used after the submissions are written */
	bool any, in_files, ended;
};

static void write_json(struct buffer *out, json_t *json)
{
	cleanup_free char *text =
		json_dumps(json, JSON_ENSURE_ASCII | JSON_INDENT(1) | JSON_ENCODE_ANY);
	buffer_text(out, text ? text : "null");
	json_decref(json);
}

static int write_export_head(struct request *request)
{
	struct buffer *out = &request->body;
	format_text now;
	format_iso(now, now_ms());
	buffer_printf(out, "{\n\"made_at\": \"%s\"", now);
	for (const struct export_section *section = EXPORT_SECTIONS; section->key; section++) {
		json_t *rows = rows_to_json(
			request->db, request->arena, section->statement, request->viewer.id, request->error);
		if (!rows)
			return request->error->code;
		buffer_printf(out, ",\n\"%s\": ", section->key);
		write_json(out, rows);
	}
	buffer_text(out, ",\n\"submissions\": [");
	return 0;
}

/* ---- submissions: one query reads a batch, and each submission takes its rows from every part
 * ---- */

struct part {
	const struct export_section *section;
	const char *rows;
	size_t count, next;
};

static int read_export_parts(struct request *request, struct arena *arena,
	const struct exported_submission *rows, size_t count, struct part parts[static export_parts])
{
	const struct exported_submission *last = &rows[count - 1];
	int rc = 0;
	for (size_t i = 0; i < export_parts && !rc; i++) {
		parts[i] = (struct part){ .section = &EXPORT_PARTS[i] };
		rc = database_rows(request->db, arena, parts[i].section->statement, &parts[i].rows,
			&parts[i].count, request->error, "iiiiiii", request->viewer.id, rows->leaderboard_id,
			rows->leaderboard_id, rows->id, last->leaderboard_id, last->leaderboard_id, last->id);
	}
	return rc;
}

static json_t *take_part_rows(struct arena *arena, struct part *part, int64_t submission_id)
{
	const struct statement *statement = part->section->statement;
	json_t *array = json_array();
	for (; part->next < part->count; part->next++) {
		const char *row = part->rows + part->next * statement->row_size;
		if (*(const int64_t *)(row + statement->columns[0].offset) != submission_id)
			break;
		json_array_append_new(array, row_to_json(arena, statement, 1, row));
	}
	return array;
}

static void write_submission(struct request *request, struct arena *arena,
	const struct exported_submission *row, struct part *parts)
{
	json_t *object = row_to_json(arena, &EXPORT_SUBMISSIONS, 0, row);
	for (size_t i = 0; i < export_parts; i++)
		json_object_set_new(
			object, parts[i].section->key, take_part_rows(arena, &parts[i], row->id));
	write_json(&request->body, object);
}

static void write_comma(struct request *request, struct progress *progress)
{
	buffer_text(&request->body, progress->any ? ",\n" : "\n");
	progress->any = true;
}

static int begin_files(struct request *request, struct progress *progress)
{
	buffer_text(&request->body, "\n],\n\"files\": [");
	progress->in_files = true;
	progress->any = false;
	return database_rows(request->db, request->arena, &EXPORT_FILES, &progress->files,
		&progress->file_count, request->error, "ii", request->viewer.id, request->viewer.id);
}

/* Returns how many rows one batch takes. The batch ends with the row whose source makes the total
 * reach piece_bytes. */
static size_t batch_size(const struct exported_submission *rows, size_t count)
{
	size_t piece = 0, bytes = 0;
	while (piece < count && bytes < piece_bytes)
		bytes += rows[piece++].source.length;
	return piece;
}

static int write_submissions(struct request *request, struct progress *progress)
{
	cleanup_arena struct arena *arena = arena_new();
	struct exported_submission *rows;
	struct part parts[export_parts];
	size_t count;
	int rc = database_rows(request->db, arena, &EXPORT_SUBMISSIONS, &rows, &count, request->error,
		"iiiii", request->viewer.id, progress->leaderboard_id, progress->leaderboard_id,
		progress->submission_id, (int64_t)submissions_at_once);
	size_t piece = rc ? 0 : batch_size(rows, count);
	if (piece)
		rc = read_export_parts(request, arena, rows, piece, parts);
	for (size_t i = 0; i < piece && !rc; i++) {
		write_comma(request, progress);
		write_submission(request, arena, &rows[i], parts);
		progress->leaderboard_id = rows[i].leaderboard_id;
		progress->submission_id = rows[i].id;
	}
	return rc || piece < count || count == submissions_at_once ? rc
															   : begin_files(request, progress);
}

/* Writes one file at a time, since each may be large. */
static int write_file(struct request *request, const struct exported_file *file)
{
	cleanup_arena struct arena *arena = arena_new();
	cleanup_buffer struct buffer packed = { 0 }, content = { 0 };
	struct exported_part *parts;
	size_t count;
	int rc = database_rows(request->db, arena, &EXPORT_FILE_PARTS, &parts, &count, request->error,
		"sisi", file->kind, file->id, file->kind, file->id);
	if (rc)
		return rc;
	for (size_t i = 0; i < count; i++)
		buffer_append(&packed, parts[i].content.bytes, parts[i].content.length);
	json_t *object = row_to_json(arena, &EXPORT_FILES, 0, file);
	bool whole =
		gzip_unpack(buffer_string(&packed), packed.length, (size_t)file->bytes, &content, NULL)
		== 0;
	struct blob_value bytes = { buffer_string(&content), content.length };
	json_object_set_new(object, "content_base64", whole ? bytes_to_json(&bytes) : json_null());
	write_json(&request->body, object);
	return 0;
}

static int write_more(struct request *request)
{
	struct progress *progress = request->stream_state;
	if (progress->ended)
		return 0;
	if (!progress->in_files)
		return write_submissions(request, progress);
	if (progress->next_file < progress->file_count) {
		write_comma(request, progress);
		return write_file(request, &progress->files[progress->next_file++]);
	}
	buffer_text(&request->body, "\n]\n}\n");
	progress->ended = true;
	return 0;
}

int export_begin(struct request *request)
{
	int rc = write_export_head(request);
	if (rc)
		return rc;
	response_as_text(
		request, arena_printf(request->arena, "podium-%s.json", request->viewer.name), true);
	request->content_type = "application/json";
	request->stream = write_more;
	request->stream_state = arena_alloc(request->arena, sizeof(struct progress));
	return 0;
}
