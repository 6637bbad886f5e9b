/* Baselines: what the task's own samples and templates take, from submissions that are one of them,
 * byte for byte. They are kept beside the ranking (lib/ranking.h), in the same transactions. */
#ifndef PODIUM_LIB_BASELINE_H
#define PODIUM_LIB_BASELINE_H

#include "lib/database.h"
#include "lib/error.h"
#include "lib/ranking.h"

#include <stdint.h>

/* While its ranking is locked: takes a job that is ranked, has run again or is ranked no more. */
int baseline_take(struct database *db, int64_t job_id, struct error *error);

/* While the ranking is locked, after submissions of a user were deleted or emptied there: what he
 * had given to its baselines is found anew. */
int baseline_renew(
	struct database *db, const struct ranking_key *key, int64_t user_id, struct error *error);

/* All of a leaderboard, from its jobs. */
int baseline_rebuild(struct database *db, int64_t leaderboard_id, struct error *error);

#endif
