/* Private to worker/run/engine: the programs that the isolated and the sealed engine build from a
 * CUDA C++ task (harness/isolated/judge.cu, contestant.cu, entry.h; harness/sealed/builder.cu):
 *
 * - judge.out, with the task's reference.cuh.
 * - contestant.out, with the task's task.h. In the sealed engine, this is the builder.
 * - submission.so, the submission and the entry that calls it.
 *
 * judge.out and contestant.out are the same for all submissions to a version of a task. This module
 * calls both the kit, and keeps it in memory from one job to the next and in a folder for the next
 * podium-run (kit_store.h). */
#ifndef PODIUM_WORKER_RUN_ENGINE_ISOLATED_CU_H
#define PODIUM_WORKER_RUN_ENGINE_ISOLATED_CU_H

#include "worker/run/engine/nvcc.h"
#include "worker/run/engine/stage.h"

/* Compiles the submission, and the kit if there is none yet, into run->programs. A job of the mode
 * "kit" compiles only the kit. If the task cannot be split into judge and contestant, the job
 * fails. If the job may fall back, run->engine becomes a weaker one instead, and run->engine_reason
 * says why. */
int isolated_cu_compile(struct run *run, struct stage *stage, struct error *error);

/* In compile_cu.c: runs nvcc as the stage's program, with its events and its verdict. If the
 * verdict is "passed", the file `name` becomes run->programs[kind]. */
int compile_cu_program(struct run *run, struct stage *stage, const struct nvcc *nvcc,
	const char *name, enum compiled_kind kind, struct error *error);

#endif
