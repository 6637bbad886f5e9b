/* The scoreboard of a contest: its contestants in order, with their points on every problem and
 * device. It is computed from the rankings (lib/ranking/ranking.h), so it is frozen while they
 * are. Final standings are stored, because the rankings may change later: a host disqualifies
 * somebody, a leaderboard is deleted. */
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
	int64_t is_deleted; /* since the standings are final */
};

/* A contestant's result there. */
struct standings_result {
	int64_t submission_id; /* 0: none, or deleted since the standings are final */
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

/* Reads the final standings if they are stored, or the standings as the rankings are now.
 * `reader_id` 0: nobody. */
int standings_read(struct database *db, struct arena *arena, const struct contest *contest,
	int64_t reader_id, struct standings *standings, struct error *error);

/* Reads the standings as they will be when the freeze is lifted. Lifts it in a transaction that is
 * rolled back, so that all rules of the rankings apply and nobody else sees a change. */
int standings_read_final(struct database *db, struct arena *arena, const struct contest *contest,
	int64_t reader_id, struct standings *standings, struct error *error);

/* Stores the standings as the rankings are now, or forgets the stored ones. They belong into a
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

/* The two ways of standings_read. */
int standings_compute(struct database *db, struct arena *arena, const struct contest *contest,
	int64_t reader_id, struct standings *standings, struct error *error);
int standings_read_stored(struct database *db, struct arena *arena, const struct contest *contest,
	int64_t reader_id, struct standings *standings, struct error *error);

#endif
