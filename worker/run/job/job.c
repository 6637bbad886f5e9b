#include "worker/run/job/job.h"

#include "lib/base/quote.h"
#include "lib/base/scope.h"
#include "worker/run/sandbox/folder.h"

#include <inttypes.h>
#include <sodium.h>
#include <stdio.h>
#include <string.h>

static const char *const MODES[] = {
	[JOB_TEST] = "test",
	[JOB_BENCHMARK] = "benchmark",
	[JOB_RANKED] = "ranked",
	[JOB_PROFILE] = "profile",
	[JOB_COMPARE] = "compare",
	[JOB_KIT] = "kit",
};

int64_t job_id(const json_t *message)
{
	const json_t *id = json_object_get(json_object_get(message, "job"), "id");
	return json_is_integer(id) && json_integer_value(id) >= 0 ? json_integer_value(id) : -1;
}

int64_t job_id_of_line(const char *line)
{
	int64_t id;
	return sscanf(line, " { \"job\" : { \"id\" : %" SCNd64, &id) == 1 && id >= 0 ? id : -1;
}

/* Reads a string without NUL. `missing` is the value of an absent key; NULL makes the key required.
 */
static int read_text(struct arena *arena, const json_t *object, const char *key,
	const char *missing, const char **text, struct error *error)
{
	const json_t *value = json_object_get(object, key);
	*text = missing;
	if (!value && missing)
		return 0;
	if (!json_is_string(value) || strlen(json_string_value(value)) != json_string_length(value))
		return fail(error, ERROR_INPUT, "\"%s\" of the job must be a string without NUL.", key);
	*text = arena_strdup(arena, json_string_value(value));
	return 0;
}

static int read_mode(const json_t *object, enum job_mode *mode, struct error *error)
{
	const char *name = json_string_value(json_object_get(object, "mode"));
	for (size_t i = 0; name && i < COUNT(MODES); i++) {
		if (strcmp(MODES[i], name) != 0)
			continue;
		*mode = (enum job_mode)i;
		return 0;
	}
	return fail(error, ERROR_INPUT,
		"\"mode\" of the job must be test, benchmark, ranked, profile, compare or kit.");
}

/* Accepts letters, digits and a few signs, because these words enter a command line or the
 * environment. */
static bool is_plain_word(const char *text)
{
	return strspn(text, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_.,:/ ")
		== strlen(text);
}

static int read_device(
	struct arena *arena, const json_t *object, struct device *device, struct error *error)
{
	const json_t *value = json_object_get(object, "device");
	int rc = 0;
	if (!json_is_object(value))
		return fail(error, ERROR_INPUT, "\"device\" of the job must be an object.");
	if ((rc = read_text(arena, value, "model", NULL, &device->model, error))
		|| (rc = read_text(arena, value, "uuid", "", &device->uuid, error))
		|| (rc = read_text(
				arena, value, "compute_capability", "", &device->compute_capability, error)))
		return rc;
	device->is_cpu = strcmp(device->model, "CPU") == 0;
	if (!is_plain_word(device->uuid) || !is_plain_word(device->compute_capability))
		return fail(error, ERROR_INPUT,
			"\"device\" of the job has an odd character in \"uuid\" or \"compute_capability\".");
	if (!device->is_cpu && !device->uuid[0])
		return fail(error, ERROR_INPUT, "\"device\" of the job needs the \"uuid\" of the GPU.");
	if (device->is_cpu)
		device->uuid = "";
	device->count = 1;
	for (const char *at = device->uuid; (at = strchr(at, ',')); at++)
		device->count++;
	return 0;
}

/* Reads the content of {"text": ...} or {"base64": ...}. */
static int read_content(struct arena *arena, const json_t *entry, const char **bytes,
	size_t *length, struct error *error)
{
	const json_t *text = json_object_get(entry, "text"), *packed = json_object_get(entry, "base64");
	if (json_is_string(text) && !packed) {
		*length = json_string_length(text);
		*bytes = arena_copy(arena, json_string_value(text), *length);
		return 0;
	}
	if (!json_is_string(packed) || text)
		return fail(error, ERROR_INPUT, "each file of the job has either \"text\" or \"base64\".");
	size_t most = json_string_length(packed);
	char *out = arena_alloc(arena, most + 1);
	*bytes = out;
	if (sodium_base642bin((unsigned char *)out, most, json_string_value(packed),
			json_string_length(packed), "\n", length, NULL, sodium_base64_VARIANT_ORIGINAL))
		return fail(error, ERROR_INPUT, "\"base64\" of a file is damaged.");
	return 0;
}

static int read_file(struct arena *arena, const json_t *entry, struct job *job, struct error *error)
{
	const char *path, *bytes;
	size_t length;
	int rc = read_text(arena, entry, "path", NULL, &path, error);
	if (rc)
		return rc;
	if (!folder_is_plain_path(path))
		return fail(error, ERROR_INPUT,
			"the path %s of a file does not stay inside the job's folder.", quote(arena, path));
	if (strcmp(path, job->slot) == 0)
		return fail(error, ERROR_INPUT, "the file %s has the name of the submission's file.",
			quote(arena, path));
	if ((rc = read_content(arena, entry, &bytes, &length, error)))
		return rc;
	return fileset_add(&job->files, path, bytes, length, error);
}

static int read_files(
	struct arena *arena, const json_t *object, struct job *job, struct error *error)
{
	const json_t *list = json_object_get(object, "files"), *entry;
	size_t i;
	job->files = fileset_make(arena);
	if (!json_is_array(list))
		return fail(error, ERROR_INPUT, "\"files\" of the job must be a list.");
	json_array_foreach(list, i, entry)
	{
		int rc = read_file(arena, entry, job, error);
		if (rc)
			return rc;
	}
	return 0;
}

static int find_slot(struct job *job, struct error *error)
{
	for (size_t i = 0; i < job->task->file_count; i++)
		if (job->task->files[i].is_submission)
			job->slot = job->task->files[i].name;
	if (!job->slot || !folder_is_plain_path(job->slot))
		return fail(error, ERROR_INPUT, "the task has no place for the submission.");
	return 0;
}

static int read_engine(
	struct arena *arena, const json_t *object, struct job *job, struct error *error)
{
	const char *name = json_string_value(json_object_get(object, "engine"));
	job->engine = name ? task_engine_from_name(name) : ENGINE_CHOOSE;
	if (job->engine == ENGINE_CHOOSE)
		return fail(
			error, ERROR_INPUT, "\"engine\" of the job must be sealed, isolated or custom.");
	job->engine_reason =
		arena_strdup(arena, json_string_value(json_object_get(object, "engine_reason")));
	job->may_fall_back = json_is_true(json_object_get(object, "may_fall_back"));
	return 0;
}

static int read_seed(const json_t *object, struct job *job, struct error *error)
{
	const json_t *secret = json_object_get(object, "secret_seed");
	job->has_seed = job->task->has_seed;
	job->seed = job->task->seed;
	if (job->mode != JOB_RANKED && job->mode != JOB_COMPARE)
		return 0;
	if (!json_is_integer(secret))
		return fail(error, ERROR_INPUT, "a %s job needs \"secret_seed\".", MODES[job->mode]);
	job->has_seed = true;
	job->seed = json_integer_value(secret);
	return 0;
}

static int read_submission(struct arena *arena, const json_t *object, const char *key,
	const char **bytes, size_t *length, struct error *error)
{
	const json_t *submission = json_object_get(object, key);
	if (!json_is_object(submission))
		return fail(error, ERROR_INPUT, "\"%s\" of the job must be an object.", key);
	return read_content(arena, submission, bytes, length, error);
}

int job_from_json(struct arena *arena, const json_t *message, struct job *job, struct error *error)
{
	const json_t *object = json_object_get(message, "job");
	*job = (struct job){ .id = job_id(message),
		.is_followed = json_is_true(json_object_get(object, "follow")),
		.known_blobs = json_object_get(object, "known_blobs") };
	int rc;
	if ((rc = read_mode(object, &job->mode, error))
		|| (rc = read_device(arena, object, &job->device, error))
		|| (rc = read_text(arena, object, "python", "", &job->python, error))
		|| (rc = read_text(arena, object, "nvcc", "", &job->nvcc, error))
		|| (rc = task_from_json(arena, json_object_get(object, "task"), &job->task, error))
		|| (rc = read_engine(arena, object, job, error)) || (rc = find_slot(job, error))
		|| (rc = read_files(arena, object, job, error)) || (rc = read_seed(object, job, error))
		|| job->mode == JOB_KIT
		|| (rc = read_submission(
				arena, object, "submission", &job->submission, &job->submission_length, error)))
		return rc;
	return job->mode == JOB_COMPARE
		? read_submission(arena, object, "rival", &job->rival, &job->rival_length, error)
		: 0;
}
