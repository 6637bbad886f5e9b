/* A job being run: what its stages and its engine share. */
#ifndef PODIUM_RUN_RUN_H
#define PODIUM_RUN_RUN_H

#include "lib/arena.h"
#include "worker/run/event.h"
#include "worker/run/inbox.h"
#include "worker/run/job.h"
#include "worker/run/judgement.h"
#include "worker/run/process.h"
#include "worker/run/variables.h"
#include "worker/run/workspace.h"
#include "worker/run/zygote.h"

struct run {
	const struct job *job;
	struct arena *arena;
	struct events *events;
	struct inbox *inbox;
	struct workspace workspace;
	const char *program;    /* cu: what nvcc made, once the compile stage has passed */
	size_t program_length;
	struct zygote *zygote;
	struct gauge *gauge;    /* of the machine's GPUs */
	double score_ns, score_err_ns; /* NAN until a ranked stage has passed */
};

/* One stage: a folder of its own, one program. */
struct stage {
	int position;
	const char *name;
	const struct stage_kind *kind;
	size_t first_case;      /* where its cases begin among those of the task */
	bool begun;             /* its event has gone out */
	struct judgement judgement;
	bool exited;
	int exit_code;
	int64_t duration_ms;
};

/* Writes the task's files and the submission, read-only, into the open stage's run folder: those for
 * which `wanted` says so, all of them if it is NULL. */
int stage_write_files(struct run *run, bool (*wanted)(const char *path), struct error *error);

/* Runs the stage's program in the open stage's folder between its "stage" and its "log" events, and keeps
 * exit code and duration. `process` lacks host, folder and watch, and of its view what every program of a job sees. */
int stage_run_program(struct run *run, struct stage *stage, struct process *process, struct process_result *result,
	struct error *error);

/* The two halves of it, for a program that may turn out not to count: a try, which no event tells of, and the events
 * about a try that counts after all. */
int stage_try_program(struct run *run, struct stage *stage, struct process *process, struct process_result *result,
	struct error *error);
void stage_tell_program(struct run *run, struct stage *stage, const struct process *process, const struct process_result *result);

/* The stages "compile" of the two languages. They fill stage->judgement; an error is an internal one. */
int compile_py(struct run *run, struct stage *stage, struct error *error);
int compile_cu(struct run *run, struct stage *stage, struct error *error);

/* Whether a cu task's file is only for the compiler. */
bool compile_is_source(const char *path);

/* The custom engine: runs all stages of the job, the task's own harness in each. Sends every event but
 * "environment" and "verdict". The caller frees the judgement's message. */
void engine_custom(struct run *run, struct judgement *judgement);

/* One job from its message to its verdict. False when podium-run must not take another one. */
struct machine;
bool run_job(const json_t *message, int base, const struct sandbox_host *host, struct machine *machine, struct zygote *zygote,
	struct inbox *inbox, struct events *events);

#endif
