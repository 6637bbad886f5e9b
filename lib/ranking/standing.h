/* Private to lib/ranking: updates the columns of a ranking's entries that depend on other entries,
 * and says which entries moved. Other folders use lib/ranking/ranking.h. */
#ifndef PODIUM_LIB_RANKING_STANDING_H
#define PODIUM_LIB_RANKING_STANDING_H

#include "lib/base/arena.h"
#include "lib/base/error.h"
#include "lib/database/database.h"
#include "lib/ranking/key.h"
#include "lib/ranking/order.h"

#include <stddef.h>
#include <stdint.h>

/* An entry before and after a change of the ranking. A new entry has before.position 0. */
struct standing_move {
	struct ranking_entry before, after;
};

/* A ranking after a change. `entries` is sorted by the new positions, `moves` by the positions
 * before the change. */
struct standing {
	struct ranking_entry *entries;
	struct standing_move *moves;
	size_t count;
};

/* Reorders the ranking after entries or comparisons have changed, with as few statements as
 * possible. The caller has locked the ranking. */
int standing_update(struct database *db, struct arena *arena, const struct ranking_key *key,
	struct standing *standing, struct error *error);

/* The move of a user's entry. NULL: the user is not in the ranking. */
const struct standing_move *standing_move_of(const struct standing *standing, int64_t user_id);

/* Queues comparisons of a user's entry with its rivals (ranking_rivals). */
int standing_compare(struct database *db, const struct ranking_key *key,
	const struct standing *standing, int64_t user_id, struct error *error);

#endif
