/* One job as its message describes it (docs/podium-run.md). Everything lives in the arena. */
#ifndef PODIUM_WORKER_RUN_JOB_JOB_H
#define PODIUM_WORKER_RUN_JOB_JOB_H

#include "lib/base/arena.h"
#include "lib/base/error.h"
#include "lib/files/fileset.h"
#include "lib/task/task.h"

#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>

/* JOB_KIT has no submission: it builds what the submissions to a CUDA C++ task share. */
enum job_mode { JOB_TEST, JOB_BENCHMARK, JOB_RANKED, JOB_PROFILE, JOB_COMPARE, JOB_KIT };

/* The end of a message about a job whose engine cannot run its task. */
#define JOB_ENGINE_ADVICE \
	" An admin can start a dry run of this version, which then chooses the engine, or write " \
	"`podium: {engine: custom}` in task.yml."

struct device {
	const char *model;              /* "H200", "CPU" */
	const char *uuid;               /* "GPU-...", several separated by commas; "" for the CPU */
	const char *compute_capability; /* "9.0"; "" for the CPU */
	bool is_cpu;
	int count; /* GPUs in `uuid`; 1 for the CPU */
};

struct job {
	int64_t id;
	enum job_mode mode;
	struct device device;
	struct task *task;
	enum task_engine engine;   /* not ENGINE_CHOOSE */
	const char *engine_reason; /* why `engine` is custom; NULL: the message does not say */
	/* Whether the job may continue with the next weaker engine when its engine cannot run the task.
	 * Only dry runs may, because they run nothing but files of the task's author. */
	bool may_fall_back;
	struct fileset files; /* the task's, without the submission; plain paths */
	const char *slot;     /* the submission's file name in the task */
	const char *submission;
	size_t submission_length;
	const char *rival; /* for a comparison: the rival submission */
	size_t rival_length;
	bool is_followed;          /* a page follows the job while it runs */
	const json_t *known_blobs; /* of plans, that need not be sent; a part of the message */
	const char *python, *nvcc; /* "": none */
	bool has_seed;
	int64_t seed; /* POPCORN_SEED: the secret seed of a ranked job or comparison, else the task's */
};

/* The id in a job message, or -1 if there is none. */
int64_t job_id(const json_t *message);

/* The id in a line that is malformed or too long. Finds the id only if it is the first member. */
int64_t job_id_of_line(const char *line);

/* Reads a job from its message. ERROR_INPUT names the malformed member. */
int job_from_json(struct arena *arena, const json_t *message, struct job *job, struct error *error);

#endif
