/* Private to lib/ranking: the table `baselines` with the times of the task's own files: baselines
 * that task.yml names, samples and templates. A submission with the same bytes as such a file
 * counts as that file. A file that task.yml names as a baseline does not count as a sample or
 * template, too. Baselines change in the same transactions as the ranking (lib/ranking/ranking.h).
 */
#ifndef PODIUM_LIB_RANKING_BASELINE_H
#define PODIUM_LIB_RANKING_BASELINE_H

#include "lib/base/error.h"
#include "lib/database/database.h"
#include "lib/ranking/key.h"

#include <stdint.h>

/* Updates the baselines after a job entered the ranking, was measured again or left the ranking.
 * The caller has locked the ranking. */
int baseline_take(struct database *db, int64_t job_id, struct error *error);

/* Recomputes those baselines of a ranking whose time came from a user's job, after submissions of
 * that user, or their sources, were deleted. The caller has locked the ranking. */
int baseline_refresh(
	struct database *db, const struct ranking_key *key, int64_t user_id, struct error *error);

/* Recomputes all baselines of a leaderboard from its jobs. */
int baseline_rebuild(struct database *db, int64_t leaderboard_id, struct error *error);

#endif
