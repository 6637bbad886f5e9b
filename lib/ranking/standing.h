/* Who stands where in one ranking, and what a change of it moves: brings `position` and `place` in
 * the table up to date. Of the ranking's own files only; others use lib/ranking.h. */
#ifndef PODIUM_LIB_STANDING_H
#define PODIUM_LIB_STANDING_H

#include "lib/ranking.h"

/* An entry as it stood in the table, with position 0 if it is new, and as it is to be. */
struct standing_move {
	struct ranking_entry before, after;
};

/* A ranking as it is, from the first position to the last; and what became of each entry, in the
 * order of before. */
struct standing {
	struct ranking_entry *entries;
	struct standing_move *moves;
	size_t count;
};

/* Under the ranking's lock, after entries or comparisons have changed: puts all entries in order,
 * in as few statements as the change asks for. */
int standing_update(struct database *db, struct arena *arena, const struct ranking_key *key,
	struct standing *standing, struct error *error);

/* NULL for a user that does not stand in it. */
const struct standing_move *standing_move_of(const struct standing *standing, int64_t user_id);

/* Has the entry of a user compared with its rivals. */
int standing_compare(struct database *db, const struct ranking_key *key,
	const struct standing *standing, int64_t user_id, struct error *error);

#endif
