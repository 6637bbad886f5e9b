/* The message that gives podium-run a job (docs/podium-run.md). The worker builds it from the
 * database, `podium check` from a folder. */
#ifndef PODIUM_LIB_JOB_MESSAGE_H
#define PODIUM_LIB_JOB_MESSAGE_H

#include "lib/base/error.h"
#include "lib/files/fileset.h"
#include "lib/gpu/device.h"
#include "lib/job/programs.h"
#include "lib/task/task.h"

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct job_message {
	int64_t id;
	const char *mode;
	const struct device *device;
	const json_t *task; /* from task_to_json */
	/* The task version's engine. Profiles always run with the custom engine. */
	struct engine_choice engine;
	bool may_fall_back; /* set for a dry run, which tries whether the isolated engine can run the
	                       task */
	const struct file *files;
	/* number of `files`, the task's files as podium-run sees them, without the submission */
	size_t file_count;
	struct file submission; /* the path is its name; NULL in mode kit */
	struct file rival;      /* only in mode compare; else the path is NULL */
	const struct tools *tools;
	/* podium-run reports output while the job runs, not only at the end */
	bool is_followed;
	int64_t secret_seed; /* of the leaderboard; sent in the modes ranked and compare */
};

/* Builds the message, which the caller owns. NULL after an error. */
json_t *job_message_make(const struct job_message *job, struct error *error);

/* Sets the devices of a job that runs on several GPUs: their UUIDs, separated by commas. */
void job_message_set_uuids(json_t *message, const char *uuids);

/* Sets the blobs that the worker has already, so that podium-run does not send them again with a
 * plan. `hashes` is an array of SHA-256 as hex digits, which stays the caller's. */
void job_message_set_known_blobs(json_t *message, json_t *hashes);

/* The number of GPUs of one model that the task's cases need. Most tasks need 1, and the CPU counts
 * as 1 because all processes share it. */
int64_t job_gpu_count(const struct task *task, const struct device *device);

/* The total time limit of a job in ms. podium-run stops every stage before it is over. */
int64_t job_limit_ms(const struct task *task, const char *mode);

#endif
