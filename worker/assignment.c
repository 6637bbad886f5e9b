#include "worker/assignment.h"

#include "lib/job/message.h"
#include "lib/task/engine.h"

#include <string.h>

struct work {
	int64_t task_version_id, secret_seed;
	const char *mode, *file_name, *definition;
	struct blob_value sha256;
	const char *rival_name; /* of a comparison; else NULL */
	struct blob_value rival_sha256;
	const char *engine, *engine_reason; /* NULL: none stored for the version yet */
	/* is_sealed: the engine is sealed. `engine` then says "isolated", for older workers. */
	int64_t is_dry_run, is_sealed;
};
static const struct column WORK_COLUMNS[] = {
	INTEGER(struct work, task_version_id),
	INTEGER(struct work, secret_seed),
	TEXT(struct work, mode),
	TEXT(struct work, file_name),
	TEXT(struct work, definition),
	BLOB(struct work, sha256),
	TEXT(struct work, rival_name),
	BLOB(struct work, rival_sha256),
	TEXT(struct work, engine),
	TEXT(struct work, engine_reason),
	INTEGER(struct work, is_dry_run),
	INTEGER(struct work, is_sealed),
};
static const struct statement WORK = SELECT(struct work, WORK_COLUMNS,
	"SELECT task_version_id, secret_seed, mode, file_name, definition, sha256, rival_name, "
	"rival_sha256, engine, engine_reason, is_dry_run, is_sealed FROM assignments WHERE job_id = ?");

struct task_file_row {
	const char *path;
	struct blob_value sha256;
};
static const struct column FILE_COLUMNS[] = { TEXT(struct task_file_row, path),
	BLOB(struct task_file_row, sha256) };
static const struct statement FILES = SELECT(struct task_file_row, FILE_COLUMNS,
	"SELECT path, sha256 FROM assignment_files WHERE job_id = ? ORDER BY path");

/* ---- contents ---- */

struct content_row {
	struct blob_value content;
};
static const struct column CONTENT_COLUMNS[] = { BLOB(struct content_row, content) };
static const struct statement SOURCE = SELECT(struct content_row, CONTENT_COLUMNS,
	"SELECT source AS content FROM assignments WHERE job_id = ? AND sha256 = ?");
static const struct statement RIVAL_SOURCE = SELECT(struct content_row, CONTENT_COLUMNS,
	"SELECT rival_source AS content FROM assignments WHERE job_id = ? AND rival_sha256 = ?");
static const struct statement FILE_CONTENT = SELECT(struct content_row, CONTENT_COLUMNS,
	"SELECT content FROM assignment_files WHERE job_id = ? AND sha256 = ?");

static const struct statement KIT_FILES = SELECT(struct task_file_row, FILE_COLUMNS,
	"SELECT path, sha256 FROM kit_files WHERE task_version_id = ? ORDER BY path");
static const struct statement KIT_CONTENT = SELECT(struct content_row, CONTENT_COLUMNS,
	"SELECT content FROM kit_files WHERE task_version_id = ? AND sha256 = ?");

struct reading {
	struct database *db;
	struct arena *arena;
	struct cache *cache;
	int64_t id; /* of the job, or of the task version of a kit */
};

static int fetch_content(const struct reading *reading, const struct statement *statement,
	const struct blob_value *sha256, struct blob_value *content, struct error *error)
{
	struct content_row row;
	int rc = database_row(reading->db, reading->arena, statement, &row, error, "ib", reading->id,
		sha256->bytes, sha256->length);
	if (rc == ERROR_NOT_FOUND || (!rc && !row.content.bytes))
		return fail(error, ERROR_SYSTEM, "A file's content is missing in the database.");
	if (!rc)
		*content = row.content;
	return rc;
}

static int read_content(const struct reading *reading, const struct statement *statement,
	const struct blob_value *sha256, struct blob_value *content, struct error *error)
{
	if (sha256->length == sha256_bytes
		&& cache_read(reading->cache, reading->arena, sha256->bytes, content))
		return 0;
	int rc = fetch_content(reading, statement, sha256, content, error);
	if (!rc)
		cache_keep(reading->cache, sha256->bytes, content);
	return rc;
}

static int read_files(const struct reading *reading, const struct statement *list,
	const struct statement *one, struct file **files, size_t *count, struct error *error)
{
	struct task_file_row *rows;
	int rc =
		database_rows(reading->db, reading->arena, list, &rows, count, error, "i", reading->id);
	*files = rc ? NULL : arena_array(reading->arena, struct file, *count);
	for (size_t i = 0; !rc && i < *count; i++) {
		struct blob_value content;
		rc = read_content(reading, one, &rows[i].sha256, &content, error);
		if (!rc)
			(*files)[i] = (struct file){ rows[i].path, content.bytes, content.length };
	}
	return rc;
}

/* Returns the engine that the database has for the task's version. A version that an older
 * podium-web stored has none until `podium-admin migrate` runs again. Until then, the task's files
 * decide. */
static struct engine_choice choose_engine(struct arena *arena, const struct work *work,
	const struct task *task, const struct file *files, size_t count)
{
	const struct fileset set = { .files = (struct file *)files, .count = count };
	if (!work->engine)
		return engine_choose_unsealed(arena, task, &set);
	return (struct engine_choice){
		work->is_sealed ? ENGINE_SEALED : task_engine_from_name(work->engine), work->engine_reason
	};
}

int assignment_read(struct database *db, struct arena *arena, struct cache *cache,
	const struct claim *claim, const struct device *device, const struct tools *tools,
	struct assignment *assignment, struct error *error)
{
	const struct reading reading = { db, arena, cache, claim->job_id };
	struct work work;
	struct file *files;
	struct task *task;
	struct blob_value source, rival = { 0 };
	size_t count;
	int rc = database_row(db, arena, &WORK, &work, error, "i", claim->job_id);
	if (!rc)
		rc = read_content(&reading, &SOURCE, &work.sha256, &source, error);
	if (!rc && work.rival_name)
		rc = read_content(&reading, &RIVAL_SOURCE, &work.rival_sha256, &rival, error);
	if (!rc)
		rc = read_files(&reading, &FILES, &FILE_CONTENT, &files, &count, error);
	json_t *definition = rc ? NULL : json_loads(work.definition, 0, NULL);
	if (!rc && (rc = task_from_json(arena, definition, &task, error)))
		json_decref(definition);
	if (rc)
		return rc;
	const struct engine_choice engine = choose_engine(arena, &work, task, files, count);
	assignment->task_version_id = work.task_version_id;
	assignment->engine = strcmp(work.mode, "profile") == 0 ? ENGINE_CUSTOM : engine.engine;
	assignment->limit_ms = job_limit_ms(task, work.mode);
	assignment->gpu_count = job_gpu_count(task, device);
	assignment->message = job_message_make(
		&(struct job_message){
			.id = claim->job_id,
			.mode = work.mode,
			.device = device,
			.task = definition,
			.engine = engine,
			.may_fall_back = work.is_dry_run && task->engine == ENGINE_CHOOSE,
			.files = files,
			.file_count = count,
			.submission = { work.file_name, source.bytes, source.length },
			.rival = { work.rival_name, rival.bytes, rival.length },
			.tools = tools,
			/* Only a submission's page shows the output live. */
			.is_followed = claim->submission_id != SQL_NULL_INTEGER,
			.secret_seed = work.secret_seed,
		},
		error);
	json_decref(definition);
	return assignment->message ? 0 : ERROR_SYSTEM;
}

json_t *assignment_for_kit(struct database *db, struct arena *arena, struct cache *cache,
	const struct kit_version *version, int64_t job_id, const struct device *device,
	const struct tools *tools, struct error *error)
{
	const struct reading reading = { db, arena, cache, version->id };
	struct file *files;
	size_t count;
	if (read_files(&reading, &KIT_FILES, &KIT_CONTENT, &files, &count, error))
		return NULL;
	json_t *definition = json_loads(version->definition, 0, NULL);
	json_t *message = job_message_make(
		&(struct job_message){
			.id = job_id,
			.mode = "kit",
			.device = device,
			.task = definition,
			.engine = { version->engine, NULL },
			.files = files,
			.file_count = count,
			.tools = tools,
		},
		error);
	json_decref(definition);
	return message;
}
