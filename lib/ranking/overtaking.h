/* Notices: a user learns that somebody has overtaken the user in a ranking. A notice stays until
 * the user dismisses it. A user has at most one notice per ranking, about the latest overtaking. */
#ifndef PODIUM_LIB_RANKING_OVERTAKING_H
#define PODIUM_LIB_RANKING_OVERTAKING_H

#include "lib/base/arena.h"
#include "lib/base/error.h"
#include "lib/database/database.h"
#include "lib/ranking/key.h"

#include <stdint.h>

/* One change of a ranking notifies at most this many users, from the first position behind the new
 * entry. The limit keeps the ranking from being locked for long when an entry rises from far
 * behind. */
enum { overtaking_most_notices = 100 };

/* Notes that the entry of `by_user_id` at `by_place` has overtaken the entries at positions `first`
 * to `last`. Users with the same place get no notice. Runs inside the transaction that changes the
 * ranking, after it has stored the new order. */
int overtaking_note(struct database *db, const struct ranking_key *key, int64_t by_user_id,
	int64_t by_place, int64_t first, int64_t last, struct error *error);

struct overtaking {
	int64_t leaderboard_id;
	const char *leaderboard, *gpu;
	const char *by;
	int64_t place, is_tied; /* the notified user's current place, and whether others share it */
};

/* Reads the user's newest notice that is still true. If there is none, deletes the user's outdated
 * notices and returns ERROR_NOT_FOUND. */
int overtaking_newest(struct database *db, struct arena *arena, int64_t user_id,
	struct overtaking *overtaking, struct error *error);

/* Deletes the user's notice about one ranking. */
int overtaking_dismiss(struct database *db, int64_t user_id, int64_t leaderboard_id,
	const char *gpu, struct error *error);

/* A part of a statement: the user has a notice, which may be outdated. */
#define SQL_IS_OVERTAKEN(user_id) \
	"EXISTS (SELECT 1 FROM overtakings told WHERE told.user_id = " user_id ")"

#endif
