/* Parsers for the output of Slurm's programs: sinfo's nodes, squeue's jobs, and srun's reason for
 * ending. Other people chose the names in that output, so the parsers skip whatever is malformed.
 */
#ifndef PODIUM_WORKER_SLURM_H
#define PODIUM_WORKER_SLURM_H

#include "lib/base/arena.h"
#include "lib/base/buffer.h"
#include "lib/base/slurm_options.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* ---- sinfo ---- */

/* sinfo's format: one line for each node and partition */
#define SLURM_NODES_FORMAT "%N|%t|%P|%G"

/* One kind of GPU in the nodes that jobs may use. The offer with an empty gres is the CPU. */
struct slurm_offer {
	/* Podium's name, "H200"; "" for GPUs without a type; "CPU". */
	const char *model;
	const char *gres; /* the cluster's name, "gpu:h200"; "" for the CPU */
	/* GPUs in all, and GPUs in nodes that take jobs. For the CPU both count nodes. */
	int64_t devices, usable;
};

/* Parses sinfo's output. A node counts if it is in one of the `partitions` ("a,b"). NULL means the
 * default partition, or any partition where none is the default. Returns one offer for each kind,
 * the CPU's last, in the arena. */
void slurm_read_nodes(struct arena *arena, const char *text, const char *partitions,
	struct slurm_offer **offers, size_t *count);

/* The model that leaderboards use for a cluster's GPU type, as device_model() derives it from a
 * product's name. "nvidia_h100_pcie" and "h100-pcie" give H100-PCIe, "rtx_4090" gives RTX4090,
 * "h200" gives H200. */
const char *slurm_model(struct arena *arena, const char *type);

/* ---- squeue ---- */

enum { slurm_number_bytes = 32 };
#define SLURM_JOB_FORMAT "%i|%T|%r|%N"

struct slurm_job {
	/* As squeue prints them, such as "17", "PENDING", "Resources" and "node1"; "": unknown. */
	char number[slurm_number_bytes], state[24], reason[64], node[64];
};

/* Reads the newest job in squeue's output. False if there is none. */
bool slurm_read_job(const char *text, struct slurm_job *job);

bool slurm_is_over(const struct slurm_job *job);

/* A Slurm job whose name has this worker's prefix and a place's number. */
struct slurm_leftover {
	char number[slurm_number_bytes];
	int64_t place;
};
/* Reads squeue's lines "NUMBER|NAME". Fills `leftovers`; returns their number, at most `most`. */
size_t slurm_read_leftovers(
	const char *text, const char *prefix, struct slurm_leftover *leftovers, size_t most);

/* ---- the end ---- */

/* Appends one sentence for the participant and the admin that says why podium-run in the cluster
 * ended. Uses the job's state, or srun's output `said` while the state is unknown. `limit_min` is
 * the time limit that the job asked for, in minutes. */
void slurm_say_end(
	struct buffer *out, const struct slurm_job *job, const char *said, int64_t limit_min);

/* Appends the last line in which a program says what is wrong, without the program's name and the
 * full stop. Appends nothing if there is none. The text is printable, on one line, at most 300
 * bytes. */
void slurm_say_error(struct buffer *out, const char *said);

#endif
