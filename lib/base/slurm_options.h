/* What the settings say of a cluster: which options srun gets, for all GPU models or for one, and
 * how many jobs of a model run at once. Each word is looked at here, and goes to srun as a word of
 * its own: no shell reads any of it. */
#ifndef PODIUM_LIB_SLURM_OPTIONS_H
#define PODIUM_LIB_SLURM_OPTIONS_H

#include "lib/error.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
	slurm_most_words = 24,
	slurm_most_models = 16,
	slurm_most_jobs = 64,
	slurm_model_bytes = 49,
	slurm_gres_bytes = 64
};

struct slurm_options {
	char model[slurm_model_bytes]; /* "H200"; "": for every model */
	char gres[slurm_gres_bytes];   /* "gpu:h200", how the cluster calls it; "": as sinfo says */
	int64_t jobs;                  /* at once; 0: not said */
	char text[512];                /* the options of srun, each ended by NUL */
	size_t count;                  /* how many */
};

/* Reads "jobs=2 gres=gpu:h200 --partition=gpu --account=podium" for `model`, or without the first
 * two for every model. ERROR_INPUT says which word is wrong, and what would be right. */
int slurm_options_read(
	struct slurm_options *options, const char *model, const char *text, struct error *error);

/* Puts the options into `words`, at most slurm_most_words, and returns how many there are. They
 * belong to `options`. */
size_t slurm_options_words(
	const struct slurm_options *options, const char *words[static slurm_most_words]);

/* What stands behind "--NAME=", or NULL where the option is not there. */
const char *slurm_options_value(const struct slurm_options *options, const char *name);

/* Letters, digits, dots, dashes and underscores, from 1 to `most` bytes: a model, or the name of a
 * type of GPUs. */
bool slurm_is_name(const char *text, size_t length, size_t most);

#endif
