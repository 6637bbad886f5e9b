/* The message that gives podium-run a job (docs/podium-run.md): the worker makes it of what the
 * database holds, `podium check` of what lies in a folder. */
#ifndef PODIUM_LIB_JOB_MESSAGE_H
#define PODIUM_LIB_JOB_MESSAGE_H

#include "lib/device.h"
#include "lib/error.h"
#include "lib/fileset.h"
#include "lib/task.h"
#include "lib/tools.h"

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct job_message {
	int64_t id;
	const char *mode;
	const struct device *device;
	const json_t *task; /* as task_to_json gives it */
	const struct file *files;
	size_t file_count; /* the task's, as the runner sees them, without the submission */
	struct file submission,
		rival; /* the path is the name; rival: in mode compare, else its path is NULL */
	const struct tools *tools;
	bool is_followed;    /* what is printed is told while it runs, not only in the end */
	int64_t secret_seed; /* of a leaderboard; sent where the mode is ranked or compare */
};

/* The message, which the caller owns, or NULL after an error. */
json_t *job_message_make(const struct job_message *job, struct error *error);

/* Names the devices of a job that runs on several: their UUIDs with commas between them. */
void job_message_set_uuids(json_t *message, const char *uuids);

/* How many GPUs of one model the task's cases want; 1 for most, and on the CPU, which all processes
 * share. */
int64_t job_gpu_count(const struct task *task, const struct device *device);

/* Podium-run ends every stage by itself before all of this has passed. */
int64_t job_limit_ms(const struct task *task, const char *mode);

#endif
