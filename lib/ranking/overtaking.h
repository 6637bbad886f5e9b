/* Telling a user that somebody has come before him in a ranking. What is told is kept until it is
 * dismissed, one thing for each ranking: who was overtaken there by three hears of the last. */
#ifndef PODIUM_LIB_OVERTAKING_H
#define PODIUM_LIB_OVERTAKING_H

#include "lib/ranking.h"

/* As many users as one change of a ranking tells at most, the first behind whoever came before
 * them. Whoever comes from far behind overtakes everybody in between, and the ranking is locked
 * meanwhile. */
enum { overtaking_most_told = 100 };

/* Inside the transaction that changes the ranking, after its order is stored: the entry of
 * `by_user_id` at `by_place` has overtaken the entries on the positions `first` to `last`. Those
 * that share its place are not told. */
int overtaking_note(struct database *db, const struct ranking_key *key, int64_t by_user_id,
	int64_t by_place, int64_t first, int64_t last, struct error *error);

struct overtaking {
	int64_t leaderboard_id;
	const char *leaderboard, *gpu;
	const char *by;
	int64_t place; /* the user's own, now */
};

/* The newest that is still so. ERROR_NOT_FOUND when there is none; then what is not so any more is
 * forgotten. */
int overtaking_newest(struct database *db, struct arena *arena, int64_t user_id,
	struct overtaking *overtaking, struct error *error);

/* Forgets what is told of one ranking. */
int overtaking_dismiss(struct database *db, int64_t user_id, int64_t leaderboard_id,
	const char *gpu, struct error *error);

/* A part of a statement: whether there may be something to tell this user. */
#define SQL_IS_OVERTAKEN(user_id) \
	"EXISTS (SELECT 1 FROM overtakings told WHERE told.user_id = " user_id ")"

#endif
