/* Command lines of nvcc, with the flags of the field, those of the task, and the architecture of
 * the device; and how they are run: in a sandbox without a GPU in sight, with limits of their own.
 */
#ifndef PODIUM_RUN_NVCC_H
#define PODIUM_RUN_NVCC_H

#include "worker/run/run.h"

enum { nvcc_most_program_bytes = 256 * 1024 * 1024 };

struct nvcc {
	struct arena *arena;
	const char **words; /* NULL at the end */
	size_t count, room;
};

/* nvcc and the flags. ERROR_INPUT names a flag that cannot be taken. */
int nvcc_open(struct nvcc *nvcc, struct arena *arena, const struct job *job, struct error *error);

/* Adds one word, which is not copied. */
void nvcc_add(struct nvcc *nvcc, const char *word);

/* The program, to be run in the open stage of the job's own folder. */
struct process nvcc_process(struct run *run, const struct nvcc *nvcc);

#endif
