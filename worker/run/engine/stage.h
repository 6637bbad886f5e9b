/* A running job, and its stages. */
#ifndef PODIUM_WORKER_RUN_ENGINE_STAGE_H
#define PODIUM_WORKER_RUN_ENGINE_STAGE_H

#include "lib/base/arena.h"
#include "worker/run/engine/judgement.h"
#include "worker/run/engine/kit_store.h"
#include "worker/run/job/event.h"
#include "worker/run/job/inbox.h"
#include "worker/run/job/job.h"
#include "worker/run/job/variables.h"
#include "worker/run/sandbox/process.h"
#include "worker/run/sandbox/workspace.h"
#include "worker/run/sandbox/zygote.h"

/* The programs that the compile stage of a CUDA C++ task makes: one for the custom engine, several
 * for the others. In the sealed engine, the contestant is the builder. */
enum compiled_kind {
	COMPILED_EVAL,
	COMPILED_JUDGE,
	COMPILED_CONTESTANT,
	COMPILED_SUBMISSION,
	COMPILED_RIVAL,
	COMPILED_KINDS
};
struct run {
	const struct job *job;
	struct arena *arena;
	struct events *events;
	struct inbox *inbox;
	struct workspace workspace;
	enum task_engine engine;          /* the job's engine, or a weaker one after a fallback */
	struct workspace parts[PROGRAMS]; /* one for each program; lock is -1 if it is not open */
	/* Why the engine is custom, or weaker than the job's; NULL: unknown, or neither. */
	const char *engine_reason;
	/* For a CUDA C++ task: nvcc's output, once the compile stage has passed. */
	struct compiled programs[COMPILED_KINDS];
	struct zygote *zygotes; /* one of each kind */
	struct kit_store *kits;
	struct gauge *gauge;           /* for the machine's GPUs */
	double score_ns, score_err_ns; /* NAN until a ranked stage has passed */
	struct task_ratio ratio;       /* NAN until a comparison has passed */
};

struct stage_kind {
	const char *name;
	const char *argument; /* the harness's name for the stage */
	const char *progress; /* the word in the progress, as in "timing 2/5" */
	enum result_family family;
	size_t timeout_offset; /* offset in struct task of the limit, in seconds */
	bool is_timed;
	bool is_for_ranking; /* leaves out benchmarks that the ranking does not need */
	bool is_profiled;    /* a profiler may run the program, so there are no figures */
};

/* One stage: a folder, and either one program or a judge with its contestants. */
struct stage {
	int position;
	const char *name;
	const struct stage_kind *kind;
	size_t first_case; /* the index of its first case among the task's */
	bool begun, ended; /* its events "stage" and "stage_end" were sent */
	bool is_quiet;     /* a compilation in it sends no events */
	struct judgement judgement;
	bool exited;
	int exit_code;
	int64_t duration_ms;
	/* The largest resident memory of one process of the submission; 0: unknown. */
	int64_t peak_host_bytes;
	/* The most memory in use on the GPU, whoever used it; 0: unknown. */
	int64_t peak_device_bytes;
	const char *nonce; /* the number that the judge mixed into its seeds; NULL: none */
};

/* stage_write_task writes the task's files, read-only, into the run folder of a workspace's open
 * stage. `wanted` selects them; NULL means all. stage_write_files does the same in the job's own
 * workspace and adds the submission. */
int stage_write_task(const struct job *job, const struct workspace *workspace,
	bool (*wanted)(const struct job *job, const char *path), struct error *error);
int stage_write_files(
	struct run *run, bool (*wanted)(const struct job *job, const char *path), struct error *error);

/* Fills in what all programs in the run folder of a workspace's open stage share: host, folder,
 * watch, and the common part of the view. */
void stage_prepare(struct run *run, const struct workspace *workspace, struct process *process);

/* The niceness of a program of this stage. A timed stage on the CPU device has priority over other
 * work on the machine, if podium-run may raise it. */
int stage_nice(const struct run *run, const struct stage *stage, bool is_judge);

/* Runs the stage's program in the open stage's folder. Sends the event "stage" before it and "log"
 * after it, and stores the exit code and the duration. Calls stage_prepare on `process`. */
int stage_run_program(struct run *run, struct stage *stage, struct process *process,
	struct process_result *result, struct error *error);

/* The two halves of stage_run_program, for a try that may turn out not to count. stage_try_program
 * sends no event; stage_tell_program sends the events of a try that counts. */
int stage_try_program(struct run *run, struct stage *stage, struct process *process,
	struct process_result *result, struct error *error);
void stage_tell_program(struct run *run, struct stage *stage, const struct process *process,
	const struct process_result *result);

/* If a page follows the job: sends the program's latest output from time to time, once the stage
 * has begun. The program is the submission's or the compiler. Does nothing in a timed stage, so
 * that an onlooker never disturbs a measurement. */
void stage_follow(struct run *run, const struct stage *stage, struct process *process);

/* Sends the latest output once. False: try again later. */
bool stage_tell_tail(
	struct run *run, const struct stage *stage, const struct process_result *result);

/* Send a stage's events one by one, for a stage with several programs. The event "log" has the
 * output of one program. */
void stage_tell_begin(struct run *run, struct stage *stage, const struct process *process);
void stage_tell_log(
	struct run *run, const struct stage *stage, const struct process_result *result);

/* Sends "stage_end" once, if "stage" was sent. */
void stage_tell_end(struct run *run, struct stage *stage);

/* The "compile" stages of the two languages. They fill stage->judgement. A returned error means an
 * internal error. */
int compile_py(struct run *run, struct stage *stage, struct error *error);
int compile_cu(struct run *run, struct stage *stage, struct error *error);

/* Compiles a CUDA C++ task once more, for the engine to which a job has fallen back, in the folder
 * of the open stage. Sends no events. */
int compile_cu_again(struct run *run, const struct stage *stage, struct error *error);

/* For stage_write_task: false if only the compiler reads this file of a CUDA C++ task. */
bool compile_is_data(const struct job *job, const char *path);

#endif
