/* The Slurm cluster that a worker offers instead of local devices (launcher = slurm): its GPU
 * models, whether it answers, and how to start its programs. A thread queries it every few seconds;
 * all slots read what that thread found.
 *
 * Instead of a device a slot has a place: the right to run one Slurm job. A place has a device
 * name, such as "slurm-H200-1", wherever Podium names devices. An admin can pause a place. A place
 * is out of service while the cluster has no node for it. */
#ifndef PODIUM_WORKER_CLUSTER_H
#define PODIUM_WORKER_CLUSTER_H

#include "lib/base/arena.h"
#include "lib/base/buffer.h"
#include "lib/base/config.h"
#include "lib/base/error.h"
#include "lib/gpu/device.h"

#include <stdbool.h>
#include <stddef.h>

struct cluster;

/* `stop` is a descriptor that becomes readable when the worker stops; nobody reads from it. The
 * configuration must outlive the cluster. */
struct cluster *cluster_new(const struct config *config, int stop);
void cluster_free(struct cluster *cluster); /* also joins its thread; NULL is allowed */

/* Asks Slurm for its nodes. ERROR_SYSTEM with a message when Slurm does not answer.
 *
 * Also cancels Slurm jobs that carry this worker's prefix but whose place is not marked as having
 * one (cluster_set_used). Such jobs stay behind when a worker is killed, or when Slurm's controller
 * was away and did not cancel them. */
int cluster_look(struct cluster *cluster, struct error *error);

/* Starts the thread that queries Slurm every few seconds. */
int cluster_start(struct cluster *cluster, struct error *error);

/* Returns the places for the models in the settings, or else for all models that the last query
 * found. *count is 0 if there are neither. The places live in the arena. */
void cluster_places(
	struct cluster *cluster, struct arena *arena, struct device **places, size_t *count);

/* Returns 0 when Slurm can take a job for this model now; else ERROR_SYSTEM with a message that
 * says why not. */
int cluster_check_model(struct cluster *cluster, const char *model, struct error *error);

/* Returns the cluster's name for GPUs of this model, such as "gpu:h200"; "" for the CPU and for an
 * unknown model. */
const char *cluster_gres(struct cluster *cluster, struct arena *arena, const char *model);

/* The settings of one model, which override config->slurm_options; NULL if the model has none. */
const struct slurm_options *cluster_options(const struct cluster *cluster, const char *model);

/* The beginning of the names of this worker's Slurm jobs, such as "podium-gpu1-0123abcd-"; a
 * place's number follows. Another worker or another database gives another prefix. */
const char *cluster_prefix(const struct cluster *cluster);

/* The environment for Slurm's programs, which podium-run on a node inherits. This environment has
 * none of the worker's secrets, such as the database's password. */
char *const *cluster_environment(const struct cluster *cluster);

/* Runs one of Slurm's programs: words[0] is its name, which is looked up on the PATH. Returns the
 * program's exit code, or -1 if the program did not start or did not end within limit_ms. `answer`
 * gets the program's output. cluster_ask returns early when the worker stops; cluster_tell does
 * not. */
int cluster_ask(
	struct cluster *cluster, const char *const *words, int limit_ms, struct buffer *answer);
int cluster_tell(struct cluster *cluster, const char *const *words, int limit_ms);

/* Marks the place as having a Slurm job, so that cluster_look does not cancel the job. Set the mark
 * before asking Slurm for a job, and clear it after the job has ended. Numbers start at 1. */
void cluster_set_used(struct cluster *cluster, size_t number, bool is_used);

/* Marks a place as warm: it holds a GPU but runs no job. A warm place takes the next job before
 * another place asks Slurm for a GPU. */
void cluster_set_warm(struct cluster *cluster, const struct device *place, bool is_warm);
bool cluster_has_warm(struct cluster *cluster, const char *model);

#endif
