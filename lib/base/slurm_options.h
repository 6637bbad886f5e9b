/* The cluster settings: srun's options and the number of concurrent jobs, for all GPU models or
 * for one. Each word is checked and becomes one argument of srun. No shell reads any of it. */
#ifndef PODIUM_LIB_BASE_SLURM_OPTIONS_H
#define PODIUM_LIB_BASE_SLURM_OPTIONS_H

#include "lib/base/error.h"

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
	char model[slurm_model_bytes]; /* "H200"; "": all models */
	char gres[slurm_gres_bytes];   /* the cluster's name for the model, "gpu:h200"; "": ask sinfo */
	int64_t jobs;                  /* concurrent jobs; 0: not set */
	char text[512];                /* srun's options, each ended by a NUL */
	size_t count;                  /* number of options */
};

/* Reads "jobs=2 gres=gpu:h200 --partition=gpu --account=podium" for `model`. For all models,
 * jobs and gres are not allowed. ERROR_INPUT names the wrong word and what is allowed. */
int slurm_options_read(
	struct slurm_options *options, const char *model, const char *text, struct error *error);

/* Fills `words` with at most slurm_most_words options and returns their number. The words belong to
 * `options`. */
size_t slurm_options_words(
	const struct slurm_options *options, const char *words[static slurm_most_words]);

/* The value of "--NAME=", or NULL without this option. */
const char *slurm_options_value(const struct slurm_options *options, const char *name);

/* Whether `text` is a GPU model or GRES type: 1 to `most` letters, digits, dots, dashes and
 * underscores. */
bool slurm_is_name(const char *text, size_t length, size_t most);

#endif
