#include "lib/job/message.h"

#include "lib/base/text.h"

#include <sodium.h>
#include <stdlib.h>
#include <string.h>

/* Time for starting, killing and reporting, on top of the limits of the stages. */
enum { spare_ms = 180 * 1000 };

static json_t *base64_json(const struct file *file)
{
	size_t size = sodium_base64_encoded_len(file->length, sodium_base64_VARIANT_ORIGINAL);
	char *text = malloc(size);
	if (!text)
		return NULL;
	sodium_bin2base64(text, size, (const unsigned char *)file->bytes, file->length,
		sodium_base64_VARIANT_ORIGINAL);
	json_t *value = json_string(text);
	free(text);
	return value;
}

static json_t *file_json(const struct file *file)
{
	const char *bytes = file->length ? file->bytes : "";
	if (text_is_utf8(bytes, file->length) && !memchr(bytes, '\0', file->length))
		return json_pack("{s:s, s:s%}", "path", file->path, "text", bytes, file->length);
	return json_pack("{s:s, s:o}", "path", file->path, "base64", base64_json(file));
}

static json_t *files_json(const struct file *files, size_t count)
{
	json_t *list = json_array();
	for (size_t i = 0; i < count; i++)
		json_array_append_new(list, file_json(&files[i]));
	return list;
}

static json_t *device_json(const struct device *device)
{
	if (device_is_cpu(device))
		return json_pack("{s:s}", "model", device->model);
	return json_pack("{s:s, s:s, s:s}", "model", device->model, "uuid", device->uuid,
		"compute_capability", device->compute_capability);
}

static json_t *submission_json(const struct file *file)
{
	return json_pack(
		"{s:s, s:s%}", "name", file->path, "text", file->length ? file->bytes : "", file->length);
}

static bool needs_secret_seed(const char *mode)
{
	return strcmp(mode, "ranked") == 0 || strcmp(mode, "compare") == 0;
}

/* Only the custom engine runs the harness under a profiler. */
static void add_engine(json_t *object, const struct job_message *job)
{
	bool is_profile = strcmp(job->mode, "profile") == 0;
	enum task_engine engine = is_profile ? ENGINE_CUSTOM : job->engine.engine;
	json_object_set_new(object, "engine", json_string(task_engine_name(engine)));
	if (engine == ENGINE_CUSTOM && !is_profile && job->engine.reason)
		json_object_set_new(object, "engine_reason", json_string(job->engine.reason));
	if (job->may_fall_back)
		json_object_set_new(object, "may_fall_back", json_true());
}

json_t *job_message_make(const struct job_message *job, struct error *error)
{
	/* "id" comes first, so that podium-run can name the job even if the rest is damaged. */
	json_t *message = json_pack("{s:{s:I, s:s, s:o, s:O, s:o, s:o*, s:o*, s:s, s:s}}", "job", "id",
		(json_int_t)job->id, "mode", job->mode, "device", device_json(job->device), "task",
		job->task, "files", files_json(job->files, job->file_count), "submission",
		job->submission.path ? submission_json(&job->submission) : NULL, "rival",
		job->rival.path ? submission_json(&job->rival) : NULL, "python", job->tools->python, "nvcc",
		job->tools->nvcc);
	/* json_pack leaves out a submission that is not UTF-8. */
	if (job->submission.path && !json_object_get(json_object_get(message, "job"), "submission")) {
		json_decref(message);
		message = NULL;
	}
	if (!message)
		fail(error, ERROR_SYSTEM, "Job %lld could not be written as JSON.", (long long)job->id);
	else if (needs_secret_seed(job->mode))
		json_object_set_new(
			json_object_get(message, "job"), "secret_seed", json_integer(job->secret_seed));
	if (message && job->is_followed)
		json_object_set_new(json_object_get(message, "job"), "follow", json_true());
	if (message)
		add_engine(json_object_get(message, "job"), job);
	return message;
}

void job_message_set_uuids(json_t *message, const char *uuids)
{
	json_t *device = json_object_get(json_object_get(message, "job"), "device");
	json_object_set_new(device, "uuid", json_string(uuids));
}

void job_message_set_known_blobs(json_t *message, json_t *hashes)
{
	if (json_array_size(hashes))
		json_object_set(json_object_get(message, "job"), "known_blobs", hashes);
}

int64_t job_gpu_count(const struct task *task, const struct device *device)
{
	return device_is_cpu(device) ? 1 : task_most_ranks(task);
}

/* A profile runs each benchmark at most twice, the second time without the profiler, and then
 * describes the findings, for which words_s is the limit. A comparison compiles two submissions and
 * interleaves their runs. */
int64_t job_limit_ms(const struct task *task, const char *mode)
{
	enum { words_s = 120 };
	int64_t all_s = task_compile_timeout_s + task->test_timeout_s + task->benchmark_timeout_s
		+ task->ranked_timeout_s;
	if (strcmp(mode, "compare") == 0)
		all_s += task_compile_timeout_s + task->ranked_timeout_s;
	if (strcmp(mode, "profile") == 0)
		all_s += (int64_t)task->benchmark_count * (2 * task->benchmark_timeout_s + words_s);
	return spare_ms + 1000 * all_s;
}
