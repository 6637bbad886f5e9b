/* Taking a submission in. Used by the form, and later by the API and the terminal. */
#ifndef PODIUM_LIB_SUBMISSION_H
#define PODIUM_LIB_SUBMISSION_H

#include "lib/arena.h"
#include "lib/database.h"
#include "lib/error.h"
#include "lib/leaderboard.h"
#include "lib/submission_file.h"

#include <stdbool.h>
#include <stdint.h>

struct submission_request {
	int64_t user_id;
	const char *file_name; /* as sent; only its last part is kept. NULL or "": pasted code */
	const char *source;
	size_t length;    /* bytes, may be anything */
	const char *mode; /* "test", "benchmark", "ranked", "profile" */
	const char **gpus;
	size_t gpu_count;            /* none: those of the file's header, else the only one there is */
	bool gpus_win;               /* over those of the header; else both must be the same */
	const struct config *config; /* the site's quotas; NULL: none */
};

/* Checks everything (field of the error: file, code, mode, gpu, leaderboard) and stores the
 * submission and one job per GPU in one transaction: leaderboard closed or in the archive, deadline
 * passed (by the database's clock; where the leaderboard has practice, the submission is taken in
 * as such and is never ranked), no GPU chosen for it; what submission_file_take refuses; unknown
 * mode; a `#!POPCORN leaderboard` that names another leaderboard; GPUs that differ between the
 * header and the form; a GPU the leaderboard has not. ERROR_FORBIDDEN for a banned user,
 * ERROR_LIMIT when a quota (lib/quota.h) is used up. */
int submission_create(struct database *db, struct arena *arena,
	const struct leaderboard *leaderboard, const struct submission_request *request, int64_t *id,
	struct error *error);

#endif
