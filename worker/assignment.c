#include "worker/assignment.h"

#include "lib/job_message.h"

struct work {
	int64_t task_version_id, secret_seed;
	const char *mode, *file_name, *definition;
	struct blob_value source;
	const char *rival_name; /* of a comparison; else NULL */
	struct blob_value rival_source;
};
static const struct column WORK_COLUMNS[] = {
	INTEGER(struct work, task_version_id), INTEGER(struct work, secret_seed), TEXT(struct work, mode),
	TEXT(struct work, file_name), TEXT(struct work, definition), BLOB(struct work, source),
	TEXT(struct work, rival_name), BLOB(struct work, rival_source),
};
static const struct statement WORK = SELECT(struct work, WORK_COLUMNS,
	"SELECT s.task_version_id, l.secret_seed, IF(c.id IS NULL, s.mode, 'compare') AS mode, s.file_name, v.definition, "
	"  b.content AS source, r.file_name AS rival_name, rb.content AS rival_source "
	"FROM jobs j LEFT JOIN comparisons c ON c.id = j.comparison_id LEFT JOIN rejudged_jobs a ON a.id = j.rejudged_id "
	"JOIN submissions s ON s.id = COALESCE(j.submission_id, c.challenger_id, a.submission_id) "
	"JOIN leaderboards l ON l.id = s.leaderboard_id JOIN task_versions v ON v.id = s.task_version_id "
	"JOIN blobs b ON b.sha256 = s.sha256 "
	"LEFT JOIN submissions r ON r.id = c.incumbent_id LEFT JOIN blobs rb ON rb.sha256 = r.sha256 WHERE j.id = ?");

struct task_file_row { const char *path; struct blob_value content; };
static const struct column FILE_COLUMNS[] = { TEXT(struct task_file_row, path), BLOB(struct task_file_row, content) };
static const struct statement FILES = SELECT(struct task_file_row, FILE_COLUMNS,
	"SELECT f.path, b.content FROM task_files f JOIN blobs b ON b.sha256 = f.sha256 "
	"WHERE f.task_version_id = ? AND f.role = 'file' ORDER BY f.path");

static struct file *files_of(struct arena *arena, const struct task_file_row *rows, size_t count)
{
	struct file *files = arena_array(arena, struct file, count);
	for (size_t i = 0; i < count; i++)
		files[i] = (struct file){ rows[i].path, rows[i].content.bytes, rows[i].content.length };
	return files;
}

int assignment_read(struct database *db, struct arena *arena, const struct claim *claim, const struct device *device,
	const struct tools *tools, struct assignment *assignment, struct error *error)
{
	struct work work;
	struct task_file_row *files;
	struct task *task;
	size_t count;
	int rc = database_row(db, arena, &WORK, &work, error, "i", claim->job_id);
	if (!rc)
		rc = database_rows(db, arena, &FILES, &files, &count, error, "i", work.task_version_id);
	json_t *definition = rc ? NULL : json_loads(work.definition, 0, NULL);
	if (!rc && (rc = task_from_json(arena, definition, &task, error)))
		json_decref(definition);
	if (rc)
		return rc;
	assignment->limit_ms = job_limit_ms(task, work.mode);
	assignment->gpu_count = job_gpu_count(task, device);
	assignment->message = job_message_make(&(struct job_message){
		.id = claim->job_id, .mode = work.mode, .device = device, .task = definition, .files = files_of(arena, files, count),
		.file_count = count, .submission = { work.file_name, work.source.bytes, work.source.length },
		.rival = { work.rival_name, work.rival_source.bytes, work.rival_source.length }, .tools = tools,
		.is_followed = claim->submission_id != SQL_NULL_INTEGER, /* a page of its author shows it */
		.secret_seed = work.secret_seed,
	}, error);
	json_decref(definition);
	return assignment->message ? 0 : ERROR_SYSTEM;
}
