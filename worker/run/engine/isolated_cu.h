/* What a task in CUDA C++ is built into for the isolated engine (harness/isolated/judge.cu,
 *contestant.cu, entry.h):
 *
 *	judge.out       with the task's reference.cuh            the same for all submissions to a
 *version of a task, so contestant.out  with its task.h                          they are kept in
 *memory from one job to the next: the kit submission.so   the submission, behind an entry
 */
#ifndef PODIUM_RUN_ISOLATED_CU_H
#define PODIUM_RUN_ISOLATED_CU_H

#include "worker/run/nvcc.h"
#include "worker/run/run.h"

/* Compiles the kit, unless it is there, and the submission, into run->programs. Where the task
 * cannot be split, run->engine becomes ENGINE_CUSTOM and run->engine_reason says why; but a job for
 * which that is not allowed fails. */
int isolated_cu_compile(struct run *run, struct stage *stage, struct error *error);

/* Of compile_cu.c: nvcc as the stage's program, with its events and its verdict. What it made of
 * `name` becomes run->programs[kind] where that is "passed". */
int compile_cu_program(struct run *run, struct stage *stage, const struct nvcc *nvcc,
	const char *name, enum compiled_kind kind, struct error *error);

#endif
