/* The programs of a stage of the isolated engine, in the order in which they are started and in
 * which the judge has its channels. */
#ifndef PODIUM_RUN_ISOLATED_H
#define PODIUM_RUN_ISOLATED_H

#include "worker/run/judgement.h"

enum isolated_program {
	PROGRAM_JUDGE,
	PROGRAM_ENTRY, /* the contestant with the submission */
	PROGRAM_NULL,  /* the one with the empty kernel, where something is timed */
	PROGRAM_RIVAL, /* and the one with the submission that it is compared with, in a comparison */
	PROGRAMS,
};

/* Exit codes that only a judge has. */
enum {
	JUDGE_RAISED = 1,
	JUDGE_CUDA = 110,
	JUDGE_WRONG = 112,
	JUDGE_TIMEOUT = 114,
	JUDGE_CANNOT_SPLIT = 115,
	JUDGE_VIOLATION = 116,
	JUDGE_LOSS = 117,
};

/* The verdict on a stage; results_finish() has been called. What the judge could not do is never
 * the submission's fault. */
void judge_isolated(const struct process processes[static PROGRAMS],
	const struct process_result ended[static PROGRAMS], size_t count, struct results *results,
	struct judgement *judgement);

#endif
