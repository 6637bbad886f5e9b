/* Profiling of a submission. NVIDIA's ncu profiles the program from outside and leaves a file and a
 * text. If ncu cannot do that, the harness may use torch's profiler, and one sentence says why ncu
 * has no report. */
#ifndef PODIUM_WORKER_RUN_PROFILE_PROFILE_H
#define PODIUM_WORKER_RUN_PROFILE_PROFILE_H

#include "lib/base/arena.h"
#include "lib/base/buffer.h"
#include "worker/run/job/job.h"
#include "worker/run/sandbox/process.h"
#include "worker/run/sandbox/workspace.h"

#include <stdbool.h>
#include <stddef.h>

enum {
	profile_most_text_bytes = 256 * 1024,
	profile_most_file_bytes = 64 * 1024 * 1024, /* as ncu writes it; a tenth of that once packed */
	profile_most_packed_bytes = 16 * 1024 * 1024,
};

struct profiler {
	const char *ncu; /* its path; NULL: not installed or not usable, and `without` says why */
	/* Why there is no report of ncu, in one sentence; NULL: no reason so far. */
	const char *without;
	bool is_final; /* the reason holds for every benchmark of this job */
};

/* Finds one of NVIDIA's tools in podium-run's PATH, in nvcc's folder, or in /usr/local/cuda/bin.
 * NULL: none. */
const char *profile_find_tool(struct arena *arena, const char *name, const char *nvcc);

/* Finds a job's profiler. */
struct profiler profiler_find(struct arena *arena, const struct job *job);

/* Returns the command that runs `command` under ncu, in the arena. */
const char *const *profiler_command(
	struct arena *arena, const struct profiler *profiler, const char *const *command);

/* Stores in `profiler` why ncu left no report or the program failed. Call it after ncu has run. */
void profiler_explain(struct profiler *profiler, struct arena *arena, const struct process *process,
	const struct process_result *result);

/* A profiler's report: a text for the page and, from ncu, a file. */
struct profile {
	struct buffer text; /* for the page; empty: none. Free with profile_free */
	struct buffer file; /* the gzip of the .ncu-rep; empty: none */
	size_t file_size;   /* of the unpacked .ncu-rep, in bytes */
};
void profile_free(struct profile *profile);

/* Packs the report and lets ncu print it as text. `process` is the run under ncu; its host, folder
 * and variables are used again. False if there is no report; the profiler may then have the reason.
 */
bool profile_collect(struct profile *profile, struct profiler *profiler, struct arena *arena,
	const struct process *process);

/* Decodes a harness's result line `report`: base64 in its usual alphabet, or with `*` instead of
 * `/`. */
void profile_decode(struct profile *profile, const char *base64);

#endif
