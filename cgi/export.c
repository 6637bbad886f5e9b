#include "cgi/export.h"

#include "lib/format.h"
#include "lib/scope.h"
#include "lib/text.h"

#include <jansson.h>
#include <math.h>
#include <sodium.h>
#include <string.h>

enum { submissions_at_once = 20 };

/* ---- any row as a JSON object: the columns' names are its keys ---- */

static json_t *bytes_to_json(const struct blob_value *blob)
{
	cleanup_free char *text = malloc(sodium_base64_ENCODED_LEN(blob->length, sodium_base64_VARIANT_ORIGINAL));
	if (!text || !blob->bytes)
		return json_null();
	sodium_bin2base64(text, sodium_base64_ENCODED_LEN(blob->length, sodium_base64_VARIANT_ORIGINAL), blob->bytes, blob->length,
		sodium_base64_VARIANT_ORIGINAL);
	return json_string(text);
}

/* Sources are text nearly always; what is not comes as base64. */
static json_t *blob_to_json(const struct blob_value *blob)
{
	return blob->bytes && text_is_utf8(blob->bytes, blob->length) ? json_stringn(blob->bytes, blob->length) : bytes_to_json(blob);
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
		return *(const int64_t *)value == SQL_NULL_INTEGER ? json_null() : json_integer(*(const int64_t *)value);
	case COLUMN_REAL:
		return isfinite(*(const double *)value) ? json_real(*(const double *)value) : json_null();
	case COLUMN_TEXT:
		return *(const char *const *)value ? json_string(*(const char *const *)value) : json_null();
	case COLUMN_TIME:
		return time_to_json(*(const int64_t *)value);
	case COLUMN_BLOB:
		break;
	}
	return blob_to_json(value);
}

/* A time is text here, not a number of milliseconds, so its name does not say so. */
static const char *key_of(struct arena *arena, const struct column *column)
{
	size_t length = strlen(column->name);
	return column->type == COLUMN_TIME && text_ends_with(column->name, "_ms") ? arena_strndup(arena, column->name, length - 3) : column->name;
}

static json_t *row_to_json(struct arena *arena, const struct statement *statement, const void *row)
{
	json_t *object = json_object();
	for (size_t i = 0; i < statement->column_count; i++)
		json_object_set_new(object, key_of(arena, &statement->columns[i]), value_to_json(&statement->columns[i], row));
	return object;
}

/* All rows that a statement gives for one number. NULL with the error filled when it fails. */
static json_t *rows_to_json(struct database *db, struct arena *arena, const struct statement *statement, int64_t id,
	struct error *error)
{
	char *rows;
	size_t count;
	if (database_rows(db, arena, statement, &rows, &count, error, "i", id))
		return NULL;
	json_t *array = json_array();
	for (size_t i = 0; i < count; i++)
		json_array_append_new(array, row_to_json(arena, statement, rows + i * statement->row_size));
	return array;
}

/* ---- what there is of a user ---- */

struct account_row { int64_t id; const char *name, *role; int64_t created_at_ms; };
static const struct column ACCOUNT_COLUMNS[] = {
	INTEGER(struct account_row, id), TEXT(struct account_row, name), TEXT(struct account_row, role), TIME(struct account_row, created_at_ms),
};
static const struct statement ACCOUNT = SELECT(struct account_row, ACCOUNT_COLUMNS,
	"SELECT id, name, role, created_at AS created_at_ms FROM users WHERE id = ?");

struct session_row { const char *address, *user_agent; int64_t created_at_ms, seen_at_ms, expires_at_ms; };
static const struct column SESSION_COLUMNS[] = {
	TEXT(struct session_row, address), TEXT(struct session_row, user_agent), TIME(struct session_row, created_at_ms),
	TIME(struct session_row, seen_at_ms), TIME(struct session_row, expires_at_ms),
};
static const struct statement SESSIONS = SELECT(struct session_row, SESSION_COLUMNS,
	"SELECT address, user_agent, created_at AS created_at_ms, seen_at AS seen_at_ms, expires_at AS expires_at_ms "
	"FROM sessions WHERE user_id = ? ORDER BY created_at");

struct token_row { const char *name, *prefix, *scopes; int64_t created_at_ms, expires_at_ms, used_at_ms; };
static const struct column TOKEN_COLUMNS[] = {
	TEXT(struct token_row, name), TEXT(struct token_row, prefix), TEXT(struct token_row, scopes), TIME(struct token_row, created_at_ms),
	TIME(struct token_row, expires_at_ms), TIME(struct token_row, used_at_ms),
};
static const struct statement TOKENS = SELECT(struct token_row, TOKEN_COLUMNS,
	"SELECT name, prefix, scopes, created_at AS created_at_ms, expires_at AS expires_at_ms, used_at AS used_at_ms "
	"FROM api_tokens WHERE user_id = ? ORDER BY id");

struct place_row { const char *leaderboard; int64_t version; const char *gpu; int64_t place, submission; double score_ns, score_err_ns; };
static const struct column PLACE_COLUMNS[] = {
	TEXT(struct place_row, leaderboard), INTEGER(struct place_row, version), TEXT(struct place_row, gpu), INTEGER(struct place_row, place),
	INTEGER(struct place_row, submission), REAL(struct place_row, score_ns), REAL(struct place_row, score_err_ns),
};
static const struct statement PLACES = SELECT(struct place_row, PLACE_COLUMNS,
	"SELECT l.name AS leaderboard, v.number AS version, r.gpu, r.place, r.submission_id AS submission, r.score_ns, r.score_err_ns "
	"FROM ranking r JOIN leaderboards l ON l.id = r.leaderboard_id JOIN task_versions v ON v.id = r.task_version_id "
	"WHERE r.user_id = ? ORDER BY l.name, v.number, r.gpu");

struct made_row { const char *name; int64_t created_at_ms, deadline_ms; };
static const struct column MADE_COLUMNS[] = {
	TEXT(struct made_row, name), TIME(struct made_row, created_at_ms), TIME(struct made_row, deadline_ms),
};
static const struct statement MADE = SELECT(struct made_row, MADE_COLUMNS,
	"SELECT name, created_at AS created_at_ms, deadline AS deadline_ms FROM leaderboards WHERE creator_id = ? ORDER BY id");

static const struct section { const char *key; const struct statement *statement; } SECTIONS[] = {
	{ "account", &ACCOUNT }, { "sessions", &SESSIONS }, { "api_tokens", &TOKENS }, { "places", &PLACES }, { "leaderboards_made", &MADE },
};

/* ---- submissions ---- */

struct submission_row {
	int64_t id, leaderboard_id;
	const char *leaderboard; int64_t version; const char *mode, *file_name;
	int64_t submitted_at_ms;
	struct blob_value source;
};
static const struct column SUBMISSION_COLUMNS[] = {
	INTEGER(struct submission_row, id), INTEGER(struct submission_row, leaderboard_id), TEXT(struct submission_row, leaderboard),
	INTEGER(struct submission_row, version), TEXT(struct submission_row, mode), TEXT(struct submission_row, file_name),
	TIME(struct submission_row, submitted_at_ms), BLOB(struct submission_row, source),
};
/* Goes along the key submissions_history, from where the piece before has ended. */
static const struct statement SUBMISSIONS = SELECT(struct submission_row, SUBMISSION_COLUMNS,
	"SELECT s.id, s.leaderboard_id, l.name AS leaderboard, v.number AS version, s.mode, s.file_name, s.submitted_at AS submitted_at_ms, "
	"b.content AS source FROM (SELECT id, leaderboard_id, task_version_id, mode, file_name, submitted_at, sha256 "
	"  FROM submissions FORCE INDEX (submissions_history) "
	"  WHERE user_id = ? AND NOT dry_run AND (leaderboard_id > ? OR (leaderboard_id = ? AND id > ?)) ORDER BY leaderboard_id, id LIMIT ?) s "
	"JOIN leaderboards l ON l.id = s.leaderboard_id JOIN task_versions v ON v.id = s.task_version_id "
	"JOIN blobs b ON b.sha256 = s.sha256 ORDER BY s.leaderboard_id, s.id");

struct job_row {
	int64_t id;
	const char *gpu, *state, *verdict, *reason;
	double score_ns, score_err_ns;
	const char *engine, *environment;
	int64_t queued_at_ms, started_at_ms, finished_at_ms;
};
static const struct column JOB_COLUMNS[] = {
	INTEGER(struct job_row, id), TEXT(struct job_row, gpu), TEXT(struct job_row, state), TEXT(struct job_row, verdict),
	TEXT(struct job_row, reason), REAL(struct job_row, score_ns), REAL(struct job_row, score_err_ns), TEXT(struct job_row, engine),
	TEXT(struct job_row, environment), TIME(struct job_row, queued_at_ms), TIME(struct job_row, started_at_ms),
	TIME(struct job_row, finished_at_ms),
};
static const struct statement JOBS = SELECT(struct job_row, JOB_COLUMNS,
	"SELECT id, gpu, state, verdict, reason, score_ns, score_err_ns, engine, environment, queued_at AS queued_at_ms, "
	"started_at AS started_at_ms, finished_at AS finished_at_ms FROM jobs WHERE submission_id = ? ORDER BY id");

struct stage_row {
	int64_t job; const char *name, *verdict, *message;
	int64_t exit_code, duration_ms;
	const char *standard_output, *standard_error, *kernels, *conditions;
};
static const struct column STAGE_COLUMNS[] = {
	INTEGER(struct stage_row, job), TEXT(struct stage_row, name), TEXT(struct stage_row, verdict), TEXT(struct stage_row, message),
	INTEGER(struct stage_row, exit_code), INTEGER(struct stage_row, duration_ms), TEXT(struct stage_row, standard_output),
	TEXT(struct stage_row, standard_error), TEXT(struct stage_row, kernels), TEXT(struct stage_row, conditions),
};
static const struct statement STAGES = SELECT(struct stage_row, STAGE_COLUMNS,
	"SELECT t.job_id AS job, t.name, t.verdict, t.message, t.exit_code, t.duration_ms, t.stdout AS standard_output, "
	"t.stderr AS standard_error, t.kernels, t.conditions FROM jobs j JOIN stages t ON t.job_id = j.id "
	"WHERE j.submission_id = ? ORDER BY j.id, t.position");

struct case_row {
	int64_t job; const char *stage; int64_t number; const char *spec, *verdict, *message;
	int64_t runs; double mean_ns, std_ns, err_ns, best_ns, worst_ns, median_ns, low_ns, high_ns; const char *report;
};
static const struct column CASE_COLUMNS[] = {
	INTEGER(struct case_row, job), TEXT(struct case_row, stage), INTEGER(struct case_row, number), TEXT(struct case_row, spec),
	TEXT(struct case_row, verdict), TEXT(struct case_row, message), INTEGER(struct case_row, runs), REAL(struct case_row, mean_ns),
	REAL(struct case_row, std_ns), REAL(struct case_row, err_ns), REAL(struct case_row, best_ns), REAL(struct case_row, worst_ns),
	REAL(struct case_row, median_ns), REAL(struct case_row, low_ns), REAL(struct case_row, high_ns), TEXT(struct case_row, report),
};
static const struct statement CASES = SELECT(struct case_row, CASE_COLUMNS,
	"SELECT t.job_id AS job, t.name AS stage, m.case_index + 1 AS number, m.spec, m.verdict, m.message, m.runs, m.mean_ns, m.std_ns, "
	"m.err_ns, m.best_ns, m.worst_ns, m.median_ns, m.low_ns, m.high_ns, m.report FROM jobs j JOIN stages t ON t.job_id = j.id "
	"JOIN measurements m ON m.stage_id = t.id WHERE j.submission_id = ? ORDER BY j.id, t.position, m.case_index");

struct artifact_row { const char *name, *address; int64_t bytes; };
static const struct column ARTIFACT_COLUMNS[] = {
	TEXT(struct artifact_row, name), TEXT(struct artifact_row, address), INTEGER(struct artifact_row, bytes),
};
static const struct statement ARTIFACTS = SELECT(struct artifact_row, ARTIFACT_COLUMNS,
	"SELECT a.name, CONCAT('/submission/', j.submission_id, '/artifact/', a.id) AS address, a.size AS bytes "
	"FROM jobs j JOIN stages t ON t.job_id = j.id JOIN artifacts a ON a.stage_id = t.id WHERE j.submission_id = ? ORDER BY a.id");

static const struct section PARTS[] = { { "jobs", &JOBS }, { "stages", &STAGES }, { "cases", &CASES }, { "files", &ARTIFACTS } };

/* ---- the pieces ---- */

struct progress {
	int64_t leaderboard_id, submission_id; /* the last that was written */
	bool any, ended;
};

static void write_json(struct buffer *out, json_t *json)
{
	cleanup_free char *text = json_dumps(json, JSON_ENSURE_ASCII | JSON_INDENT(1) | JSON_ENCODE_ANY);
	buffer_text(out, text ? text : "null");
	json_decref(json);
}

static int write_head(struct request *request)
{
	struct buffer *out = &request->body;
	format_text now;
	format_iso(now, now_ms());
	buffer_printf(out, "{\n\"made_at\": \"%s\"", now);
	for (size_t i = 0; i < COUNT(SECTIONS); i++) {
		json_t *rows = rows_to_json(request->db, request->arena, SECTIONS[i].statement, request->viewer.id, request->error);
		if (!rows)
			return request->error->code;
		buffer_printf(out, ",\n\"%s\": ", SECTIONS[i].key);
		write_json(out, rows);
	}
	buffer_text(out, ",\n\"submissions\": [");
	return 0;
}

static int write_submission(struct request *request, struct arena *arena, const struct submission_row *row)
{
	json_t *object = row_to_json(arena, &SUBMISSIONS, row);
	for (size_t i = 0; i < COUNT(PARTS); i++) {
		json_t *rows = rows_to_json(request->db, arena, PARTS[i].statement, row->id, request->error);
		if (!rows) {
			json_decref(object);
			return request->error->code;
		}
		json_object_set_new(object, PARTS[i].key, rows);
	}
	write_json(&request->body, object);
	return 0;
}

/* Some submissions more, or the end. */
static int write_more(struct request *request)
{
	struct progress *progress = request->stream_state;
	cleanup_arena struct arena *arena = arena_new();
	struct submission_row *rows;
	size_t count;
	if (progress->ended)
		return 0;
	int rc = database_rows(request->db, arena, &SUBMISSIONS, &rows, &count, request->error, "iiiii", request->viewer.id,
		progress->leaderboard_id, progress->leaderboard_id, progress->submission_id, (int64_t)submissions_at_once);
	for (size_t i = 0; i < count && !rc; i++) {
		buffer_text(&request->body, progress->any ? ",\n" : "\n");
		rc = write_submission(request, arena, &rows[i]);
		*progress = (struct progress){ rows[i].leaderboard_id, rows[i].id, true, false };
	}
	if (!rc && count < submissions_at_once) {
		buffer_text(&request->body, "\n]\n}\n");
		progress->ended = true;
	}
	return rc;
}

int export_begin(struct request *request)
{
	int rc = write_head(request);
	if (rc)
		return rc;
	response_as_text(request, arena_printf(request->arena, "podium-%s.json", request->viewer.name), true);
	request->content_type = "application/json";
	request->stream = write_more;
	request->stream_state = arena_alloc(request->arena, sizeof(struct progress));
	return 0;
}
