/* Private to worker/run/engine: nvcc's command line, which has the usual flags, the task's flags
 * and the device's architecture. nvcc runs in a sandbox that shows no GPU, with its own limits. */
#ifndef PODIUM_WORKER_RUN_ENGINE_NVCC_H
#define PODIUM_WORKER_RUN_ENGINE_NVCC_H

#include "worker/run/engine/stage.h"

enum { nvcc_most_program_bytes = 256 * 1024 * 1024 };

struct nvcc {
	struct arena *arena;
	const char **words; /* NULL at the end */
	size_t count, room;
};

/* Starts a command line with nvcc and the flags. ERROR_INPUT names a flag that is refused. */
int nvcc_open(struct nvcc *nvcc, struct arena *arena, const struct job *job, struct error *error);

/* Adds one word, which must outlive the command line. */
void nvcc_add(struct nvcc *nvcc, const char *word);

/* The process that runs nvcc in the open stage of the job's folder. */
struct process nvcc_process(struct run *run, const struct nvcc *nvcc);

/* The script in nvcc's folder that does the same work faster (harness/isolated/compile_cu), and the
 * command line that starts it. */
#define NVCC_SCRIPT "isolated/compile_cu"
const char *const *nvcc_script_words(const struct nvcc *nvcc);

#endif
