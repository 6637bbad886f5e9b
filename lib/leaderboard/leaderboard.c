/* Reads leaderboards; change.c, clone.c, switch_version.c and delete.c write them. */
#include "lib/leaderboard/leaderboard.h"

#include "lib/base/quote.h"
#include "lib/base/scope.h"
#include "lib/base/text.h"
#include "lib/leaderboard/visibility.h"

#include <string.h>

static const struct column LEADERBOARD_COLUMNS[] = { LEADERBOARD_MEMBERS,
	INTEGER(struct leaderboard, has_device) };
#define LEADERBOARD_WHERE(condition) \
	SELECT(struct leaderboard, LEADERBOARD_COLUMNS, \
		"SELECT " SQL_LEADERBOARD_FIELDS \
		", EXISTS (SELECT 1 FROM leaderboard_gpus d WHERE d.leaderboard_id = l.id) AS has_device " \
		"FROM leaderboards l JOIN task_versions v ON v.id = l.task_version_id WHERE " condition)
static const struct statement LEADERBOARD_BY_NAME = LEADERBOARD_WHERE("l.name = ?");
const struct statement leaderboard_reading = LEADERBOARD_WHERE("l.name = ? AND " SQL_MAY_SEE("l"));

struct gpu_row {
	const char *gpu;
};
static const struct column GPU_COLUMNS[] = { TEXT(struct gpu_row, gpu) };
static const struct statement GPUS_OF_LEADERBOARD = SELECT(struct gpu_row, GPU_COLUMNS,
	"SELECT gpu FROM leaderboard_gpus WHERE leaderboard_id = ? ORDER BY position, gpu");
static const struct statement OPEN_GPUS_OF_LEADERBOARD = SELECT(struct gpu_row, GPU_COLUMNS,
	"SELECT g.gpu FROM leaderboard_gpus g JOIN leaderboards l ON l.id = g.leaderboard_id "
	"WHERE l.id = ? AND NOT " SQL_IS_CLOSED("l", "g") " ORDER BY g.position, g.gpu");

struct definition_row {
	int64_t id;
	const char *definition;
};
static const struct column DEFINITION_COLUMNS[] = {
	INTEGER(struct definition_row, id),
	TEXT(struct definition_row, definition),
};
const struct statement task_reading = SELECT(struct definition_row, DEFINITION_COLUMNS,
	"SELECT id, definition FROM task_versions WHERE id = ?");
const struct statement task_of_number_reading = SELECT(struct definition_row, DEFINITION_COLUMNS,
	"SELECT id, definition FROM task_versions WHERE leaderboard_id = ? AND number = ?");

struct file_row {
	struct blob_value content;
};
static const struct column FILE_COLUMNS[] = { BLOB(struct file_row, content) };
static const struct statement TASK_FILE = SELECT(struct file_row, FILE_COLUMNS,
	"SELECT b.content FROM task_files f JOIN blobs b ON b.sha256 = f.sha256 "
	"WHERE f.task_version_id = ? AND f.role = ? AND f.path = ?");

static const struct column OFFERED_COLUMNS[] = {
	TEXT(struct offered_gpu, model),
	TEXT(struct offered_gpu, product),
	INTEGER(struct offered_gpu, workers),
	TIME(struct offered_gpu, seen_at_ms),
};
static const struct statement GPUS_OFFERED = SELECT(struct offered_gpu, OFFERED_COLUMNS,
	"SELECT model, MIN(product) AS product, COUNT(DISTINCT worker_id) AS workers, "
	"MAX(seen_at) AS seen_at_ms "
	"FROM gpus WHERE seen_at" SQL_IS_ONLINE
	"AND quarantined_at IS NULL GROUP BY model ORDER BY model");

static int fail_unknown(struct arena *arena, const char *name, struct error *error)
{
	return fail(error, ERROR_NOT_FOUND, "There is no leaderboard named %s.", quote(arena, name));
}

int leaderboard_by_name(struct database *db, struct arena *arena, const char *name,
	struct leaderboard *leaderboard, struct error *error)
{
	/* The column is ASCII, so a query with another text would fail. */
	int rc = text_is_leaderboard_name(name)
		? database_row(db, arena, &LEADERBOARD_BY_NAME, leaderboard, error, "s", name)
		: ERROR_NOT_FOUND;
	return rc == ERROR_NOT_FOUND ? fail_unknown(arena, name, error) : rc;
}

int leaderboard_seen_by(struct database *db, struct arena *arena, int64_t viewer_id,
	const char *name, struct leaderboard *leaderboard, struct error *error)
{
	int rc = text_is_leaderboard_name(name)
		? database_row(db, arena, &leaderboard_reading, leaderboard, error, "si", name, viewer_id)
		: ERROR_NOT_FOUND;
	return rc == ERROR_NOT_FOUND ? fail_unknown(arena, name, error) : rc;
}

int leaderboard_read(struct arena *arena, const struct database_answer *answer, const char *name,
	struct leaderboard *leaderboard, struct error *error)
{
	if (!answer->count)
		return fail_unknown(arena, name, error);
	*leaderboard = *(const struct leaderboard *)answer->rows;
	return 0;
}

static int read_gpus(struct database *db, struct arena *arena, const struct statement *statement,
	int64_t leaderboard_id, const char ***gpus, size_t *count, struct error *error)
{
	struct gpu_row *rows;
	int rc = database_rows(db, arena, statement, &rows, count, error, "i", leaderboard_id);
	if (rc)
		return rc;
	*gpus = arena_array(arena, const char *, *count + 1);
	for (size_t i = 0; i < *count; i++)
		(*gpus)[i] = rows[i].gpu;
	return 0;
}

int leaderboard_gpus(struct database *db, struct arena *arena, int64_t leaderboard_id,
	const char ***gpus, size_t *count, struct error *error)
{
	return read_gpus(db, arena, &GPUS_OF_LEADERBOARD, leaderboard_id, gpus, count, error);
}

int leaderboard_open_gpus(struct database *db, struct arena *arena, int64_t leaderboard_id,
	const char ***gpus, size_t *count, struct error *error)
{
	return read_gpus(db, arena, &OPEN_GPUS_OF_LEADERBOARD, leaderboard_id, gpus, count, error);
}

int leaderboard_task(struct database *db, struct arena *arena, int64_t task_version_id,
	struct task **task, struct error *error)
{
	struct database_answer answer = { 0 };
	int rc = database_rows(
		db, arena, &task_reading, &answer.rows, &answer.count, error, "i", task_version_id);
	return rc ? rc : task_read(arena, &answer, task, error);
}

int task_read(struct arena *arena, const struct database_answer *answer, struct task **task,
	struct error *error)
{
	const struct definition_row *row = answer->rows;
	if (!answer->count)
		return fail(error, ERROR_NOT_FOUND, "There is no such version of the task.");
	json_t *json = json_loads(row->definition, 0, NULL);
	if (!json)
		return fail(error, ERROR_SYSTEM, "The definition of task version %lld is not JSON.",
			(long long)row->id);
	int rc = task_from_json(arena, json, task, error);
	json_decref(json);
	return rc;
}

int leaderboard_file(struct database *db, struct arena *arena, int64_t task_version_id,
	enum task_file_role role, const char *path, struct blob_value *content, struct error *error)
{
	struct file_row row;
	int rc = database_row(db, arena, &TASK_FILE, &row, error, "iss", task_version_id,
		task_file_role_name(role), path);
	if (rc)
		return rc == ERROR_NOT_FOUND ? fail(error, rc, "The task has no such file.") : rc;
	*content = row.content;
	return 0;
}

int gpus_offered(struct database *db, struct arena *arena, struct offered_gpu **gpus, size_t *count,
	struct error *error)
{
	return database_rows(db, arena, &GPUS_OFFERED, gpus, count, error, "");
}

bool leaderboard_asks_license(const struct leaderboard *leaderboard)
{
	return *leaderboard->license && strcmp(leaderboard->sources, "never") != 0;
}
