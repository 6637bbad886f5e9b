/* Derives a verdict and one sentence from how a program ended and what its harness reported. */
#ifndef PODIUM_WORKER_RUN_ENGINE_JUDGEMENT_H
#define PODIUM_WORKER_RUN_ENGINE_JUDGEMENT_H

#include "lib/base/buffer.h"
#include "lib/result/verdict.h"
#include "worker/run/engine/result_lines.h"
#include "worker/run/sandbox/process.h"

enum side { SIDE_NONE, SIDE_SUBMISSION, SIDE_RIVAL };

struct judgement {
	enum verdict verdict;
	struct buffer message; /* a sentence; when passed, a warning or empty; use buffer_free */
	bool machine_failed;   /* this machine is at fault, so another one may succeed */
	enum side loser;       /* of a comparison: the side whose failure ended it */
};

/* Judges a harness that ran one stage. Call results_finish() first. */
void judge_harness(const struct process *process, const struct process_result *result,
	struct results *results, struct judgement *judgement);

/* Judges an exit with a code that the submission chose itself. */
void judge_own_exit(const struct process_result *result, const struct results *results,
	struct judgement *judgement);

/* Judges a compiler. A failure is the fault of the file that it compiled. */
void judge_compiler(const struct process *process, const struct process_result *result,
	struct judgement *judgement);

/* The programs of a stage of the isolated or the sealed engine, in the order in which podium-run
 * starts those that the stage needs. The judge has its channels to the others in the same order. */
enum program {
	PROGRAM_JUDGE,
	PROGRAM_ENTRY,    /* with the submission: the contestant, or the builder */
	PROGRAM_LAUNCHER, /* plays what the submission's builder has recorded */
	PROGRAM_NULL,     /* the contestant or launcher with the empty kernel, in timed stages */
	PROGRAM_RIVAL,    /* with the rival submission, in comparisons */
	PROGRAM_RIVAL_LAUNCHER,
	PROGRAMS,
};

/* The judge enforces the time limit itself and says who used it up. podium-run ends a judge that is
 * still running this much later. */
enum { judge_grace_ms = 2000 };

/* The judge's exit codes (docs/podium-run.md). */
enum {
	JUDGE_RAISED = 1,
	JUDGE_FAILED = 2,
	JUDGE_CUDA = 110,
	JUDGE_WRONG = 112,
	JUDGE_TIMEOUT = 114,
	JUDGE_CANNOT_SPLIT = 115,
	JUDGE_VIOLATION = 116,
	JUDGE_LOSS = 117,
	JUDGE_RIVAL = 118,
	JUDGE_RIVAL_LOSS = 119,
	JUDGE_BUSY = 120,
	JUDGE_REFUSED = 121,
};

/* Sets the verdict on a stage. Call results_finish() first. A program that the stage does not need
 * has no arguments. A failure of the judge is never the submission's fault. */
void judge_isolated(const struct process processes[static PROGRAMS],
	const struct process_result ended[static PROGRAMS], struct results *results,
	struct judgement *judgement);

#endif
