/* The ranking of every (leaderboard, task version, GPU): the best ranked job of each user.
 * Kept in the table `ranking`, which is the only source of ranks for pages, JSON, CSV and commands.
 *
 * Order and ties: entries are sorted by score. The fastest opens a group; an entry whose difference to
 * the group's fastest is within the noise of the two (1.96 standard errors of the difference) ties with it
 * and shares its place. Inside a group the earlier submission stands first. The next group's place counts
 * all entries before it: 1, 1, 3. Without a standard error, only equal scores tie. */
#ifndef PODIUM_LIB_RANKING_H
#define PODIUM_LIB_RANKING_H

#include "lib/arena.h"
#include "lib/database.h"
#include "lib/error.h"

#include <stddef.h>
#include <stdint.h>

struct ranking_entry {
	int64_t user_id, submission_id;
	double score_ns, score_err_ns; /* NAN: unknown */
	int64_t position, place;       /* filled by ranking_order */
};

/* Sorts `entries` into page order and fills position (1..count) and place. */
void ranking_order(struct ranking_entry *entries, size_t count);

/* Inside the transaction that finishes a passed ranked job: takes the job into the ranking if it is its
 * user's best there (or equal and earlier), and brings positions and places up to date. Locks the
 * leaderboard's GPU row first, so that two finishing jobs wait for each other. ERROR_NOT_FOUND for a job that is none to be
 * ranked, such as one that is held for review. */
int ranking_insert(struct database *db, struct arena *arena, int64_t job_id, struct error *error);

/* Recomputes the ranking of one leaderboard (0: of all) from the jobs. Gives the same rows. */
int ranking_rebuild(struct database *db, int64_t leaderboard_id, struct error *error);

#endif
