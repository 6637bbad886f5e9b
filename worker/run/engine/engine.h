/* The stages of a job, and what the engines share: a stage's cases, their results, and the events
 * about them.
 *
 * - custom: the task's own eval.py or eval.cu, which shares a process with the submission.
 * - isolated: a judge, and a contestant with the submission in it (harness/isolated/native.h).
 * - sealed: a judge, a builder with the submission in it, and a launcher, which plays what the
 *   builder has recorded (harness/sealed/launch.h). */
#ifndef PODIUM_WORKER_RUN_ENGINE_ENGINE_H
#define PODIUM_WORKER_RUN_ENGINE_ENGINE_H

#include "worker/run/engine/stage.h"
#include "worker/run/profile/gauge.h"
#include "worker/run/profile/profile.h"

/* One run of a harness or judge: its cases, the results that it reports, and which events about
 * them were sent. */
struct evaluation {
	struct run *run;
	const struct stage_kind *kind;
	struct results results;
	size_t told;              /* how many finished cases the last progress event reported */
	const char *const *cases; /* the case lines that the harness gets */
	size_t count;
	/* The index of this stage's first case among the cases of all stages of this kind, and the
	 * number of those cases. */
	size_t first, all;
	struct profiler *profiler;
	struct stage *stage;
	/* The evaluation of the stage that the same judge runs after this stage has passed; NULL: none.
	 */
	struct evaluation *next;
	/* For a stage that runs several times (repetition.c): the runs that passed before this one, and
	 * how much of the stage's time limit they took. */
	size_t earlier_runs;
	int64_t spent_ms;
	bool is_over; /* the judge has started `next`, and all events of this stage were sent */
	/* The output of the submission's program, to be sent when a timed case ends; NULL: never. */
	const struct process_result *printed;
	int64_t printed_told_ms;
	/* The judge, whose command the event "stage" shows. The event is sent once the judge has
	 * reported the number of its cases. NULL: other code sends the event. */
	const struct process *judge;
	/* The device's state before a timed stage, if has_gauge. */
	struct gauge_reading before;
	bool has_gauge;
	bool is_measured;          /* `busy` has a reading */
	struct gauge_reading busy; /* the worst of the readings at the ends of cases */
	/* The device's peak memory use at the ends of cases, in bytes; NAN: unknown. */
	double used_bytes;
};

/* Runs all stages of the job. Sends every event except "environment" and "verdict". The caller
 * frees the judgement's message. */
void engine_run(struct run *run, struct judgement *judgement);

/* Runs and judges a stage's cases. The stage's folder is open and empty. A returned error means an
 * internal error. For a profiled stage, the function also sends the cases, because the events with
 * their reports must follow. */
int engine_custom(
	struct run *run, struct stage *stage, struct evaluation *evaluation, struct error *error);

/* Runs and judges a stage's cases with the isolated or the sealed engine, and those of
 * evaluation->next if it is set. Both stages share their programs, which start once and load the
 * submission once. If the judge says that the engine cannot run the task or record the submission
 * and the job may fall back, the function leaves the stage unjudged and sends no event. It then
 * changes the run's engine to the next weaker one, with the reason. */
int engine_isolated(struct run *run, struct evaluation *evaluation, struct error *error);

/* ---- a timed stage on the CPU device (repetition.c) ----
 *
 * On a CPU, all times of one process are off by the same 3 to 17 % (docs/measurements.md). A judge
 * cannot see this, because it has only one process of the submission. The stage therefore runs
 * several times, each time in new processes. A case's time is the median of these runs, and their
 * spread gives the interval. */

/* Whether the job repeats this kind of stage. A comparison alternates between its sides instead. */
bool repetition_applies(const struct job *job, const struct stage_kind *kind);

/* Calls `run_once`, which runs and judges the stage's cases, until there are enough times or the
 * stage has failed. Keeps within the stage's time limit. The custom engine runs a stage once,
 * because its harness decides how to measure. */
int repetition_run(struct evaluation *evaluation,
	int (*run_once)(struct run *run, struct evaluation *evaluation, struct error *error),
	struct error *error);

/* The median of `count` times (1 to repetition_most_runs; sorted by the function), and half of its
 * 95 % interval by Student's t; NAN for a single time. Public for tests. */
enum { repetition_most_runs = 5 };
double repetition_middle(double *times, size_t count, double *half);

/* ---- for engines ---- */

/* What is left of the stage's time limit. */
int64_t evaluation_limit_s(const struct evaluation *evaluation);

/* Writes the case file into a stage's folder. */
int evaluation_write_cases(
	const struct evaluation *evaluation, int folder, const char *name, struct error *error);

/* evaluation_take reads the result pipe. It serves as a process's on_result, with the evaluation as
 * context. evaluation_note sends the events that follow from new results. */
bool evaluation_take(void *evaluation, const char *bytes, size_t length);
void evaluation_note(struct evaluation *evaluation);
void evaluation_tell_progress(const struct evaluation *evaluation);

/* Discards all results, so that the cases can run. */
void evaluation_open_results(struct evaluation *evaluation);

/* Discards the stage's judgement, results and folder, so that the stage can run again. */
int evaluation_reopen_stage(struct run *run, struct evaluation *evaluation, struct error *error);

/* Call it once the stage has its verdict: computes the score or the ratio, sends the cases and
 * frees the results. */
void evaluation_close(struct evaluation *evaluation);

/* evaluation_look_before reads the device's state before the program starts.
 * evaluation_send_conditions sends the event "conditions" after the program has ended. */
void evaluation_look_before(struct evaluation *evaluation);
void evaluation_send_conditions(struct evaluation *evaluation, const struct stage *stage);

/* Sends the cases that have a result. If the program broke down, the first unfinished case gets the
 * blame. */
void evaluation_send_cases(const struct evaluation *evaluation, const struct stage *stage);

#endif
