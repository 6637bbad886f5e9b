/* A profiler beside the harness. NVIDIA's ncu looks on from outside and leaves a file and a text;
 * where it cannot, the harness has torch's profiler, or none, and one sentence says why. */
#ifndef PODIUM_RUN_PROFILE_H
#define PODIUM_RUN_PROFILE_H

#include "lib/arena.h"
#include "lib/buffer.h"
#include "worker/run/job.h"
#include "worker/run/process.h"
#include "worker/run/workspace.h"

#include <stdbool.h>
#include <stddef.h>

enum {
	profile_most_text_bytes = 256 * 1024,
	profile_most_file_bytes = 64 * 1024 * 1024, /* as ncu writes it; ten times less once packed */
	profile_most_packed_bytes = 16 * 1024 * 1024,
};

struct profiler {
	const char *ncu;     /* its path; NULL: there is none, and `without` says so */
	const char *without; /* why there is no report of ncu, in one sentence; NULL while nothing
	                        speaks against one */
	bool is_final;       /* no other benchmark of this job would get one either */
};

/* What a job can be profiled with: ncu is looked for in podium-run's PATH, beside nvcc, and in
 * /usr/local/cuda/bin. */
struct profiler profiler_find(struct arena *arena, const struct job *job);

/* The command with ncu in front of it. */
const char *const *profiler_command(
	struct arena *arena, const struct profiler *profiler, const char *const *command);

/* Keeps what speaks against a report after ncu has run and left none, or none of a program that
 * passed. */
void profiler_explain(struct profiler *profiler, struct arena *arena, const struct process *process,
	const struct process_result *result);

/* What ncu left in the run folder. */
struct profile {
	struct buffer text; /* for the page; empty: none. Free with profile_free */
	struct buffer file; /* the gzip of the .ncu-rep; empty: none */
	size_t file_size;   /* of the .ncu-rep */
};
void profile_free(struct profile *profile);

/* Packs the report and lets ncu say in words what is in it: `process` is the one that ncu ran,
 * whose account, folder and variables are used again. False where there is no report; then the
 * reason may be in the profiler already. */
bool profile_collect(struct profile *profile, struct profiler *profiler, struct arena *arena,
	const struct process *process);

/* The text in a harness's result line `report`: base64, in its usual alphabet or with `*` in the
 * place of `/`. */
void profile_decode(struct profile *profile, const char *base64);

#endif
