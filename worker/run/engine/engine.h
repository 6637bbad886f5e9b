/* The stages of a job, and what its two engines share: the cases of a stage, what is reported of
 *them, and what goes out.
 *
 *	custom      the task's own eval.py or eval.cu, which shares a process with the submission
 *	isolated    a judge, and a contestant with the submission in it (harness/isolated/native.h) */
#ifndef PODIUM_RUN_ENGINE_H
#define PODIUM_RUN_ENGINE_H

#include "worker/run/gauge.h"
#include "worker/run/profile.h"
#include "worker/run/run.h"

struct stage_kind {
	const char *name;
	const char *argument; /* the harness's word for it */
	const char *progress; /* "timing 2/5" */
	enum result_family family;
	size_t timeout_offset; /* in struct task, seconds */
	bool is_timed;
	bool is_profiled; /* there is a stage for each case */
};

/* A harness or a judge at work: the results that it reports, and where progress goes. */
struct evaluation {
	struct run *run;
	const struct stage_kind *kind;
	struct results results;
	size_t told;              /* finished cases that progress has told of */
	const char *const *cases; /* what the harness gets, */
	size_t count;
	size_t first, all; /* and where they stand among those of all stages of this kind */
	struct profiler *profiler;
	struct stage *stage;
	struct evaluation *next; /* of the stage whose cases the same judge goes on with when these have
	                            passed; NULL: there is none */
	bool is_over;            /* it has done so, and all is told of this stage */
	const struct process_result *printed; /* what the submission's program prints, to be told when a
	                                         timed case ends; NULL: it is not */
	int64_t printed_told_ms;
	const struct process
		*judge; /* with this one's command; NULL: it is told of already, or later */
	struct gauge_reading before; /* the device, where the stage is timed and it tells */
	bool has_gauge;
	bool is_measured;          /* it told something while cases ended */
	struct gauge_reading busy; /* then the worst of it */
	double used_bytes; /* the most of the device's memory that was in use when a case had ended;
	                      NAN: it does not tell */
};

/* Runs all stages of the job. Sends every event but "environment" and "verdict". The caller frees
 * the judgement's message. */
void engine_run(struct run *run, struct judgement *judgement);

/* Runs and judges the cases of a stage, whose folder is open and empty, whatever comes next. An
 * error is an internal one. Of a profiled stage it also sends the cases, which what it then sends
 * of them belongs to. */
int engine_custom(
	struct run *run, struct stage *stage, struct evaluation *evaluation, struct error *error);

/* The same for a stage and the next one, which are judged by the same programs: so these start
 * once, and the submission is loaded once. If the judge says that the task cannot be split, the
 * stage is left unjudged, nothing is told of it, and the run's engine is another one afterwards,
 * with the reason. */
int engine_isolated(struct run *run, struct evaluation *evaluation, struct error *error);

/* Which engine a job is for, before anything has run, and why it is custom where isolated was
 * wanted, else NULL. */
enum task_engine engine_choose(const struct job *job, const char **reason);

/* ---- for engines ---- */

int64_t evaluation_limit_s(const struct evaluation *evaluation);

/* The case file, into the folder of a stage. */
int evaluation_write_cases(
	const struct evaluation *evaluation, int folder, const char *name, struct error *error);

/* What comes on the result pipe (on_result of a process, with the evaluation as its context), and
 * what is to be told of it. */
bool evaluation_take(void *evaluation, const char *bytes, size_t length);
void evaluation_note(struct evaluation *evaluation);
void evaluation_tell_progress(const struct evaluation *evaluation);

/* As if nothing had been reported yet. */
void evaluation_open_results(struct evaluation *evaluation);

/* Once the stage has its verdict: score or ratio, and what is sent of the cases. Ends the results.
 */
void evaluation_close(struct evaluation *evaluation);

/* The device before the program starts, and the event about it afterwards. */
void evaluation_look_before(struct evaluation *evaluation);
void evaluation_send_conditions(struct evaluation *evaluation, const struct stage *stage);

/* The cases that have a result. Where the program broke down, the one that it had not ended gets
 * the blame. */
void evaluation_send_cases(const struct evaluation *evaluation, const struct stage *stage);

#endif
