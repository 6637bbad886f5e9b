/* The rankings of a leaderboard as they would be without its freeze, for those who may read all of
 * it (lib/leaderboard/right.h). */
#ifndef PODIUM_LIB_RANKING_UNFROZEN_H
#define PODIUM_LIB_RANKING_UNFROZEN_H

#include "lib/base/arena.h"
#include "lib/base/error.h"
#include "lib/database/database.h"

#include <stddef.h>
#include <stdint.h>

struct unfrozen_rank {
	const char *gpu, *user;
	int64_t place, is_tied, submission_id;
	int64_t public_place; /* in the frozen ranking; SQL_NULL_INTEGER: none */
	double score_ns, score_err_ns;
};

/* Lists the ranks of the current version, sorted by device and position. Lifts the freeze and rolls
 * back, so the answer is exact. This costs as many writes as lifting the freeze. */
int unfrozen_ranks(struct database *db, struct arena *arena, int64_t leaderboard_id,
	struct unfrozen_rank **ranks, size_t *count, struct error *error);

#endif
