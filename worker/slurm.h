/* What Slurm's programs say, read: sinfo's nodes, squeue's jobs, and why srun has ended. All of it
 * is text of other programs with names in it that other people chose, so nothing is believed that
 * does not look as it should. */
#ifndef PODIUM_WORKER_SLURM_H
#define PODIUM_WORKER_SLURM_H

#include "lib/arena.h"
#include "lib/buffer.h"
#include "lib/slurm_options.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* ---- sinfo ---- */

/* How sinfo is asked: a line for each node and partition. */
#define SLURM_NODES_FORMAT "%N|%t|%P|%G"

/* One kind of GPUs, or with an empty gres the processors, in the nodes that jobs may use. */
struct slurm_offer {
	const char *model; /* "H200" as Podium calls it; "" where the cluster gives no type; "CPU" */
	const char *gres;  /* "gpu:h200" as the cluster does; "" for the CPU */
	int64_t devices, usable; /* how many there are, and how many of them in nodes that take jobs; of
	                            the CPU: nodes */
};

/* Reads what sinfo said. A node counts if it is in one of the partitions ("a,b"), or, where
 * `partitions` is NULL, in the default one; where none is marked so, in any. One offer of each
 * kind, and last that of the CPU, in the arena. */
void slurm_read_nodes(struct arena *arena, const char *text, const char *partitions,
	struct slurm_offer **offers, size_t *count);

/* "nvidia_h100_pcie" and "h100-pcie" are H100-PCIe, "rtx_4090" is RTX4090, "h200" is H200: the name
 * that a leaderboard chooses, as device_model() gives it for the product. */
const char *slurm_model(struct arena *arena, const char *type);

/* ---- squeue ---- */

enum { slurm_number_bytes = 32 };
#define SLURM_JOB_FORMAT "%i|%T|%r|%N"

struct slurm_job {
	char number[slurm_number_bytes], state[24], reason[64],
		node[64]; /* "17", "PENDING", "Resources"; "": not said */
};

/* The newest job that squeue told of. False when it told of none. */
bool slurm_read_job(const char *text, struct slurm_job *job);

bool slurm_is_over(const struct slurm_job *job);

/* Of lines "NUMBER|NAME", the jobs whose names are `prefix` and the number of a place: as many as
 * there are, at most `most`. */
struct slurm_leftover {
	char number[slurm_number_bytes];
	int64_t place;
};
size_t slurm_read_leftovers(
	const char *text, const char *prefix, struct slurm_leftover *leftovers, size_t most);

/* ---- the end ---- */

/* Why podium-run in the cluster has ended: one sentence for the participant and the admin, by the
 * job's state, and where that is not known, by what srun has said. `limit_min` is what the job had
 * asked for. */
void slurm_say_end(
	struct buffer *out, const struct slurm_job *job, const char *said, int64_t limit_min);

/* The last line in which a program says what is wrong, without its name in front and its full stop;
 * nothing where there is none. Printable, on one line, 300 bytes at most. */
void slurm_say_error(struct buffer *out, const char *said);

#endif
