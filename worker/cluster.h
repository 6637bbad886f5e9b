/* The Slurm cluster that a worker offers in the place of its own devices (launcher = slurm): which
 * GPU models it has, whether it answers, and how its programs are started. A thread of its own asks
 * it every few seconds; all slots look at what it has found.
 *
 * What stands for a device is a place: the right to have one Slurm job. Its name, "slurm-H200-1",
 * is that of a device everywhere else: an admin may pause it, and while the cluster has nothing for
 * it, it is out of service. */
#ifndef PODIUM_WORKER_CLUSTER_H
#define PODIUM_WORKER_CLUSTER_H

#include "lib/arena.h"
#include "lib/buffer.h"
#include "lib/config.h"
#include "lib/device.h"
#include "lib/error.h"

#include <stdbool.h>
#include <stddef.h>

struct cluster;

/* `stop`: readable when the worker is to stop; never read. The configuration must outlive it. */
struct cluster *cluster_new(const struct config *config, int stop);
void cluster_free(struct cluster *cluster); /* also ends its thread; NULL is fine */

/* Asks Slurm which nodes there are. ERROR_SYSTEM with a sentence when it does not answer. Slurm
 * jobs that are called as those of this worker, and whose place has none, are cancelled: a worker
 * that was killed has left them, or a controller that was away did not hear that they are over. */
int cluster_look(struct cluster *cluster, struct error *error);

/* Starts the thread that looks from time to time. */
int cluster_start(struct cluster *cluster, struct error *error);

/* The places: those of the models that the settings name, else of all that the last look has found.
 * *count is 0 when neither says anything. They live in the arena. */
void cluster_places(
	struct cluster *cluster, struct arena *arena, struct device **places, size_t *count);

/* 0 when a job of this model can be given to Slurm now; else ERROR_SYSTEM, and the sentence says
 * why not. */
int cluster_standing(struct cluster *cluster, const char *model, struct error *error);

/* What the cluster calls GPUs of this model, "gpu:h200"; "" for the CPU, and where it is not known.
 */
const char *cluster_gres(struct cluster *cluster, struct arena *arena, const char *model);

/* The settings of a model: its own (NULL: none), beside config->slurm_options. */
const struct slurm_options *cluster_options(const struct cluster *cluster, const char *model);

/* How the Slurm jobs of this worker are called, before the number of the place:
 * "podium-gpu1-0123abcd-". It is another one for another worker or another database. */
const char *cluster_prefix(const struct cluster *cluster);

/* What programs of Slurm, and through them podium-run on a node, get as environment: nothing that
 * is the worker's own, such as the database's password. */
char *const *cluster_environment(const struct cluster *cluster);

/* Runs one of Slurm's programs; words[0] is its name, looked for on the PATH. Its exit code, or -1;
 * `answer` gets what it prints. cluster_ask ends early when the worker is to stop, cluster_tell
 * does not. */
int cluster_ask(
	struct cluster *cluster, const char *const *words, int limit_ms, struct buffer *answer);
int cluster_tell(struct cluster *cluster, const char *const *words, int limit_ms);

/* Whether a place, by its number, has a Slurm job or asks for one: said before it asks, and after
 * all of it has ended. */
void cluster_set_used(struct cluster *cluster, size_t number, bool is_used);

/* Which places hold a GPU without a job: they take the next job before a place that would have to
 * ask for a GPU. */
void cluster_set_warm(struct cluster *cluster, const struct device *place, bool is_warm);
bool cluster_has_warm(struct cluster *cluster, const char *model);

#endif
