/* A job being run: what its stages and its engine share. */
#ifndef PODIUM_RUN_RUN_H
#define PODIUM_RUN_RUN_H

#include "lib/arena.h"
#include "worker/run/event.h"
#include "worker/run/inbox.h"
#include "worker/run/isolated.h"
#include "worker/run/job.h"
#include "worker/run/judgement.h"
#include "worker/run/process.h"
#include "worker/run/variables.h"
#include "worker/run/workspace.h"
#include "worker/run/zygote.h"

/* What the compile stage of a cu task leaves: for the custom engine one program, for the isolated
 * one several. */
enum compiled_kind {
	COMPILED_EVAL,
	COMPILED_JUDGE,
	COMPILED_CONTESTANT,
	COMPILED_SUBMISSION,
	COMPILED_RIVAL,
	COMPILED_KINDS
};
struct compiled {
	const char *bytes;
	size_t length;
};

struct run {
	const struct job *job;
	struct arena *arena;
	struct events *events;
	struct inbox *inbox;
	struct workspace workspace;
	enum task_engine engine;          /* isolated or custom */
	struct workspace parts[PROGRAMS]; /* of the isolated engine's programs, */
	size_t part_count;                /* as many as are open */
	const char *engine_reason; /* why it is custom where isolated was wanted; NULL: it was not, or
	                              it is not custom */
	struct compiled
		programs[COMPILED_KINDS]; /* cu: what nvcc made, once the compile stage has passed */
	struct zygote *zygote;
	struct gauge *gauge;           /* of the machine's GPUs */
	double score_ns, score_err_ns; /* NAN until a ranked stage has passed */
	struct task_ratio ratio;       /* NAN until a comparison has passed */
};

/* One stage: a folder of its own, one program, or a judge and its contestants. */
struct stage {
	int position;
	const char *name;
	const struct stage_kind *kind;
	size_t first_case; /* where its cases begin among those of the task */
	bool begun, ended; /* its events have gone out */
	struct judgement judgement;
	bool exited;
	int exit_code;
	int64_t duration_ms;
	int64_t
		peak_host_bytes; /* the most that a process of the submission had resident; 0: not known */
	int64_t
		peak_device_bytes; /* the most that was in use on the GPU, whoever used it; 0: not known */
	const char *nonce;     /* that the judge mixed into its seeds; NULL: none */
};

/* Writes the task's files, read-only, into the run folder of a workspace's open stage: those for
 * which `wanted` says so, all of them if it is NULL. stage_write_files writes the submission as
 * well, into the job's own workspace. */
int stage_write_task(const struct job *job, const struct workspace *workspace,
	bool (*wanted)(const struct job *job, const char *path), struct error *error);
int stage_write_files(
	struct run *run, bool (*wanted)(const struct job *job, const char *path), struct error *error);

/* Fills in what every program has that starts in the run folder of a workspace's open stage: host,
 * folder, watch, and of its view what all programs of a job see. */
void stage_prepare(struct run *run, const struct workspace *workspace, struct process *process);

/* Runs the stage's program in the open stage's folder between its "stage" and its "log" events, and
 * keeps exit code and duration. `process` lacks host, folder and watch, and of its view what every
 * program of a job sees. */
int stage_run_program(struct run *run, struct stage *stage, struct process *process,
	struct process_result *result, struct error *error);

/* The two halves of it, for a program that may turn out not to count: a try, which no event tells
 * of, and the events about a try that counts after all. */
int stage_try_program(struct run *run, struct stage *stage, struct process *process,
	struct process_result *result, struct error *error);
void stage_tell_program(struct run *run, struct stage *stage, const struct process *process,
	const struct process_result *result);

/* Where the job is followed: tells now and then what the program, which is the submission's or the
 * compiler, has printed last, once the stage has begun. Never in a stage that is timed, so that
 * nothing happens beside a measurement because somebody looks on. */
void stage_follow(struct run *run, const struct stage *stage, struct process *process);

/* The same once; false: not now. */
bool stage_tell_tail(
	struct run *run, const struct stage *stage, const struct process_result *result);

/* Its events one by one, for a stage with several programs; the log is that of one. */
void stage_tell_begin(struct run *run, struct stage *stage, const struct process *process);
void stage_tell_log(
	struct run *run, const struct stage *stage, const struct process_result *result);

/* What has become of it, once, where its begin has been told. */
void stage_tell_end(struct run *run, struct stage *stage);

/* The stages "compile" of the two languages. They fill stage->judgement; an error is an internal
 * one. */
int compile_py(struct run *run, struct stage *stage, struct error *error);
int compile_cu(struct run *run, struct stage *stage, struct error *error);

/* Whether a cu task's file is only for the compiler. */
bool compile_is_source(const char *path);

/* Why a cu task cannot be split, as far as can be seen before it is compiled; NULL: nothing speaks
 * against it. */
const char *compile_cu_obstacle(const struct job *job);

/* One job from its message to its verdict. False when podium-run must not take another one. */
struct machine;
bool run_job(const json_t *message, int base, const struct sandbox_host *host,
	struct machine *machine, struct zygote *zygote, struct inbox *inbox, struct events *events);

#endif
