/* Finds submissions of different users to one leaderboard whose sources resemble each other,
 * whatever their comments, names and layout are (lib/submission/sketch.h). Code that the sources
 * share with the task's own files, such as templates, does not count. podium-hooks compares each
 * new submission with the earlier ones. The same source of one user counts only once on a
 * leaderboard. */
#ifndef PODIUM_LIB_SIMILARITY_SIMILARITY_H
#define PODIUM_LIB_SIMILARITY_SIMILARITY_H

#include "lib/base/arena.h"
#include "lib/base/error.h"
#include "lib/database/database.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
	similar_least_percent = 60, /* pairs below are not stored */
	similar_most_pairs = 200    /* that similarity_list returns */
};

/* Compares the next few submissions. *is_done: there are no more, or another program is comparing.
 * The work for a submission does not grow with the number of others: for each of 32 hashes, Podium
 * looks at no more than the 50 newest submissions with this hash, and compares with the 20 that
 * share the most hashes. */
int similarity_step(struct database *db, bool *is_done, struct error *error);

struct similar_pair {
	int64_t percent;
	/* other: the earlier submission */
	int64_t submission_id, submitted_at_ms, other_id, other_at_ms;
	const char *user, *other_user;
	/* each user's best current rank; SQL_NULL_INTEGER: none */
	int64_t place, other_place;
};

/* For each two users of a leaderboard, lists their most similar pair of submissions, the most
 * similar pairs first, at most similar_most_pairs. The caller checks who may see them. */
int similarity_list(struct database *db, struct arena *arena, int64_t leaderboard_id,
	struct similar_pair **pairs, size_t *count, struct error *error);

#endif
