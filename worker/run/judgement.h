/* From how a program ended, and what its harness reported, to a verdict and one sentence. */
#ifndef PODIUM_RUN_JUDGEMENT_H
#define PODIUM_RUN_JUDGEMENT_H

#include "lib/buffer.h"
#include "lib/verdict.h"
#include "worker/run/process.h"
#include "worker/run/result_lines.h"

struct judgement {
	enum verdict verdict;
	struct buffer message; /* a sentence; empty when passed. Free with buffer_free */
	bool machine_failed;   /* an internal error of this machine, which another one need not have */
};

/* The verdict on a harness that has run one stage; results_finish() has been called. */
void judge_harness(const struct process *process, const struct process_result *result,
	struct results *results, struct judgement *judgement);

/* The verdict on a program whose exit code says that the harness failed, while it was the
 * submission that chose it. */
void judge_own_exit(const struct process_result *result, const struct results *results,
	struct judgement *judgement);

/* The verdict on a compiler, for whose failures the file that it was given is to blame. */
void judge_compiler(const struct process *process, const struct process_result *result,
	struct judgement *judgement);

#endif
