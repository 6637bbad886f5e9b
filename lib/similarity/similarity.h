/* Submissions to a leaderboard by different users whose sources resemble each other, whatever their
 * comments, names and layout (lib/submission/sketch.h). The files of the task, such as its
 * templates, do not count. podium-hooks compares each new submission with the earlier ones; a
 * user's source counts once for each leaderboard. */
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
	similar_most_pairs = 200    /* of a list */
};

/* Compares the next few submissions. *is_done: there are no more, or another program compares. The
 * work for a submission does not grow with the number of others: Podium looks at most at 50 newest
 * submissions for each of 32 hashes, and compares with the 20 that share most. */
int similarity_step(struct database *db, bool *is_done, struct error *error);

struct similar_pair {
	int64_t percent;
	int64_t submission_id, submitted_at_ms, other_id, other_at_ms; /* other: the earlier one */
	const char *user, *other_user;
	int64_t place, other_place; /* the best rank of each user now; SQL_NULL_INTEGER: none */
};

/* Lists of each two users of a leaderboard the pair that resembles most, those that resemble most
 * first; at most similar_most_pairs. The caller checks who may see them. */
int similarity_list(struct database *db, struct arena *arena, int64_t leaderboard_id,
	struct similar_pair **pairs, size_t *count, struct error *error);

#endif
