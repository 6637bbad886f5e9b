#include "worker/assignment.h"

#include "lib/scope.h"
#include "lib/task.h"
#include "lib/text.h"

#include <sodium.h>
#include <stdlib.h>
#include <string.h>

/* Starting, killing and reporting, on top of the stages' own limits. */
enum { spare_ms = 180 * 1000 };

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
	"FROM jobs j LEFT JOIN comparisons c ON c.id = j.comparison_id "
	"JOIN submissions s ON s.id = COALESCE(j.submission_id, c.challenger_id) "
	"JOIN leaderboards l ON l.id = s.leaderboard_id JOIN task_versions v ON v.id = s.task_version_id "
	"JOIN blobs b ON b.sha256 = s.sha256 "
	"LEFT JOIN submissions r ON r.id = c.incumbent_id LEFT JOIN blobs rb ON rb.sha256 = r.sha256 WHERE j.id = ?");

struct task_file_row { const char *path; struct blob_value content; };
static const struct column FILE_COLUMNS[] = { TEXT(struct task_file_row, path), BLOB(struct task_file_row, content) };
static const struct statement FILES = SELECT(struct task_file_row, FILE_COLUMNS,
	"SELECT f.path, b.content FROM task_files f JOIN blobs b ON b.sha256 = f.sha256 "
	"WHERE f.task_version_id = ? AND f.role = 'file' ORDER BY f.path");

static json_t *base64(const struct blob_value *content)
{
	size_t size = sodium_base64_encoded_len(content->length, sodium_base64_VARIANT_ORIGINAL);
	char *text = malloc(size);
	if (!text)
		return NULL;
	sodium_bin2base64(text, size, content->bytes, content->length, sodium_base64_VARIANT_ORIGINAL);
	json_t *value = json_string(text);
	free(text);
	return value;
}

static json_t *file_json(const struct task_file_row *file)
{
	const char *bytes = file->content.length ? file->content.bytes : "";
	size_t length = file->content.length;
	if (text_is_utf8(bytes, length) && !memchr(bytes, '\0', length))
		return json_pack("{s:s, s:s%}", "path", file->path, "text", bytes, length);
	return json_pack("{s:s, s:o}", "path", file->path, "base64", base64(&file->content));
}

static json_t *source_json(const char *name, const struct blob_value *source)
{
	return json_pack("{s:s, s:s%}", "name", name, "text", source->length ? source->bytes : "", source->length);
}

static json_t *files_json(const struct task_file_row *files, size_t count)
{
	json_t *list = json_array();
	for (size_t i = 0; i < count; i++)
		json_array_append_new(list, file_json(&files[i]));
	return list;
}

static bool is_cpu(const struct device *device)
{
	return strcmp(device->model, "CPU") == 0;
}

static json_t *device_json(const struct device *device)
{
	if (is_cpu(device))
		return json_pack("{s:s}", "model", device->model);
	return json_pack("{s:s, s:s, s:s}", "model", device->model, "uuid", device->uuid, "compute_capability",
		device->compute_capability);
}

void assignment_set_uuids(struct assignment *assignment, const char *uuids)
{
	json_t *device = json_object_get(json_object_get(assignment->message, "job"), "device");
	json_object_set_new(device, "uuid", json_string(uuids));
}

/* A profiler looks at one benchmark after the other: each may run twice, the second time without it, and then what the
 * profiler has found is put into words. A comparison compiles two submissions and times them in turns. */
static int64_t limit_ms(const struct task *task, const char *mode)
{
	enum { words_s = 120 };
	int64_t all_s = task_compile_timeout_s + task->test_timeout_s + task->benchmark_timeout_s + task->ranked_timeout_s;
	if (strcmp(mode, "profile") == 0)
		all_s += (int64_t)task->benchmark_count * (2 * task->benchmark_timeout_s + words_s);
	if (strcmp(mode, "compare") == 0)
		all_s += task_compile_timeout_s + task->ranked_timeout_s;
	return spare_ms + 1000 * all_s;
}

/* The processes of a task for several GPUs share the one CPU. */
static void plan(struct assignment *assignment, const struct task *task, const char *mode, const struct device *device)
{
	assignment->limit_ms = limit_ms(task, mode);
	assignment->gpu_count = is_cpu(device) ? 1 : task_most_ranks(task);
}

/* What only some modes want. False when it could not be written as JSON. */
static bool add_what_the_mode_wants(json_t *job, const struct work *work)
{
	bool is_comparison = work->rival_name != NULL, is_timed_secretly = is_comparison || strcmp(work->mode, "ranked") == 0;
	if (is_timed_secretly && json_object_set_new(job, "secret_seed", json_integer(work->secret_seed)))
		return false;
	return !is_comparison || !json_object_set_new(job, "rival", source_json(work->rival_name, &work->rival_source));
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
	plan(assignment, task, work.mode, device);
	/* "id" comes first, so that podium-run can name the job even when the rest is damaged. */
	json_t *job = json_pack("{s:I, s:s, s:o, s:o, s:o, s:o, s:s, s:s}",
		"id", (json_int_t)claim->job_id, "mode", work.mode, "device", device_json(device), "task", definition,
		"files", files_json(files, count), "submission", source_json(work.file_name, &work.source),
		"python", tools->python, "nvcc", tools->nvcc);
	if (!job || !add_what_the_mode_wants(job, &work)) {
		json_decref(job);
		return fail(error, ERROR_SYSTEM, "Job %lld could not be written as JSON.", (long long)claim->job_id);
	}
	assignment->message = json_pack("{s:o}", "job", job);
	return 0;
}
