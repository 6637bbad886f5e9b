/* The scoreboard of a contest: its contestants in order, with their points on every problem and
 * device. Podium computes it from the rankings (lib/ranking/ranking.h), so it is frozen while they
 * are. Final standings are stored, because the rankings may change later: somebody may be
 * disqualified, or a leaderboard deleted. */
#ifndef PODIUM_LIB_CONTEST_STANDINGS_H
#define PODIUM_LIB_CONTEST_STANDINGS_H

#include "lib/base/arena.h"
#include "lib/base/error.h"
#include "lib/contest/contest.h"
#include "lib/contest/scoring.h"
#include "lib/database/database.h"

#include <stddef.h>
#include <stdint.h>

/* A problem on one device. */
struct standings_column {
	int64_t leaderboard_id;
	const char *problem, *gpu;
	int64_t is_seen;    /* the reader may see the leaderboard */
	int64_t is_deleted; /* it was deleted after the standings became final */
};

/* A contestant's result in one column. */
struct standings_result {
	/* none, or it was deleted after the standings became final */
	int64_t submission_id;
	double score_ns, score_err_ns;
};

struct standings_row {
	int64_t user_id;
	const char *user;
	const struct scoring_row *score;        /* with a cell for each column */
	const struct standings_result *results; /* one for each column */
};

struct standings {
	struct standings_column *columns;
	size_t column_count;
	struct standings_row *rows; /* in order of place */
	size_t row_count;
};

/* Reads the final standings if they are stored, otherwise computes them from the current rankings.
 * `reader_id` 0: nobody is signed in. */
int standings_read(struct database *db, struct arena *arena, const struct contest *contest,
	int64_t reader_id, struct standings *standings, struct error *error);

/* Reads the standings without the freeze. Lifts the freeze in a transaction and rolls back, so that
 * all rules of the rankings apply and nobody else sees a change. */
int standings_read_final(struct database *db, struct arena *arena, const struct contest *contest,
	int64_t reader_id, struct standings *standings, struct error *error);

/* Stores the current standings as the final ones, or deletes the stored ones. Call these in a
 * transaction. */
int standings_store(
	struct database *db, struct arena *arena, const struct contest *contest, struct error *error);
int standings_forget(struct database *db, int64_t contest_id, struct error *error);

/* The row of a user; NULL: none. */
const struct standings_row *standings_row_of(const struct standings *standings, int64_t user_id);

/* ---- private to lib/contest ---- */

/* Empty tables of results: for each contestant, a cell for each column of the standings. */
struct standings_table {
	struct scoring_row *scores;
	struct scoring_cell *cells;
	struct standings_result *results;
};
struct standings_table standings_make_table(struct arena *arena, const struct standings *standings);

/* standings_read calls one of these two: from the current rankings, or from the stored standings.
 */
int standings_compute(struct database *db, struct arena *arena, const struct contest *contest,
	int64_t reader_id, struct standings *standings, struct error *error);
int standings_read_stored(struct database *db, struct arena *arena, const struct contest *contest,
	int64_t reader_id, struct standings *standings, struct error *error);

#endif
