/* A job's message to podium-run: one line of JSON. */
#include "worker/run/job/job.h"
#include "worker/run/sandbox/folder.h"

#include "tests/fuzz/fuzz.h"

static void check_plain(const char *path)
{
	require(*path && path[0] != '/' && strlen(path) <= 200);
	require(strcmp(path, "..") != 0 && strncmp(path, "../", 3) != 0 && !strstr(path, "/../")
		&& !text_ends_with(path, "/.."));
}

static void check_word(const char *word)
{
	for (; *word; word++)
		require(*word >= ' ' && *word < 0x7f && !strchr("\"'\\$`;&|<>=", *word));
}

static void check_job(struct arena *arena, const struct job *job)
{
	struct task *again;
	require(job->mode >= JOB_TEST && job->mode <= JOB_PROFILE && job->device.count >= 1);
	check_word(job->device.uuid);
	check_word(job->device.compute_capability);
	require(job->device.is_cpu || job->device.uuid[0]);
	require(job->mode != JOB_RANKED || job->has_seed);
	require(job->submission && job->submission[job->submission_length] == '\0');
	check_plain(job->slot);
	for (size_t i = 0; i < job->files.count; i++) {
		check_plain(job->files.files[i].path);
		require(strcmp(job->files.files[i].path, job->slot) != 0);
		require(fileset_find(&job->files, job->files.files[i].path) == &job->files.files[i]);
	}
	json_t *json = task_to_json(job->task);
	require(task_from_json(arena, json, &again, NULL) == 0);
	json_decref(json);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t length)
{
	cleanup_free char *line = fuzz_string(bytes, length);
	cleanup_arena struct arena *arena = arena_new();
	struct job job;
	struct error error = { 0 };
	require(job_id_of_line(line) >= -1);
	json_t *message = json_loadb(line, length, JSON_REJECT_DUPLICATES | JSON_ALLOW_NUL, NULL);
	if (!message)
		return 0;
	require(job_id(message) >= -1);
	int rc = job_from_json(arena, message, &job, &error);
	if (rc)
		require_error(rc, &error);
	else
		check_job(arena, &job);
	json_decref(message);
	return 0;
}
