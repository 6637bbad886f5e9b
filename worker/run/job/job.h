/* One job as its message describes it (docs/podium-run.md). Everything lives in the arena. */
#ifndef PODIUM_RUN_JOB_H
#define PODIUM_RUN_JOB_H

#include "lib/arena.h"
#include "lib/error.h"
#include "lib/fileset.h"
#include "lib/task.h"

#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>

enum job_mode { JOB_TEST, JOB_BENCHMARK, JOB_RANKED, JOB_PROFILE, JOB_COMPARE };

struct device {
	const char *model; /* "H200", "CPU" */
	const char *uuid;  /* "GPU-...", several with commas between them; "" for the CPU */
	const char *compute_capability; /* "9.0"; "" for the CPU */
	bool is_cpu;
	int count; /* GPUs named by uuid; 1 for the CPU */
};

struct job {
	int64_t id;
	enum job_mode mode;
	struct device device;
	struct task *task;
	struct fileset files; /* of the task, without the submission; plain paths */
	const char *slot;     /* the name that the submission gets */
	const char *submission;
	size_t submission_length;
	const char *rival; /* to compare: the submission that it is compared with */
	size_t rival_length;
	bool is_followed;          /* somebody looks on while it runs */
	const char *python, *nvcc; /* "": none */
	bool has_seed;
	int64_t seed; /* POPCORN_SEED: the secret one when ranked or compared, else the task's */
};

/* The id of a job message, or -1 when it has none. */
int64_t job_id(const json_t *message);

/* The same from a line that is no JSON or too long: works where the id stands first. */
int64_t job_id_of_line(const char *line);

/* ERROR_INPUT names the member of the message that is wrong. */
int job_from_json(struct arena *arena, const json_t *message, struct job *job, struct error *error);

#endif
