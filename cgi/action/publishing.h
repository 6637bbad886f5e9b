/* Whether and how a leaderboard is out: who may see it, what happens after its deadline, whether
 * its public ranking stands still, whether it is in the archive. */
#ifndef PODIUM_LIB_PUBLISHING_H
#define PODIUM_LIB_PUBLISHING_H

#include "lib/leaderboard.h"

struct publishing {
	const char *visibility; /* "public", "closed", "hidden" */
	bool practice;          /* after the deadline it takes submissions that get no rank */
	int64_t frozen_at_ms;   /* what ends later is not ranked; may lie ahead. TIME_NULL: nothing is
	                           frozen */
	bool archived;
};

/* Changes it in one transaction, with an audit entry that says what became what; nothing is written
 * where nothing differs. A leaderboard that becomes closed keeps those who have submitted to it as
 * members. Another freeze, or none, computes the ranking anew. The error's field is visibility. */
int publishing_change(struct database *db, struct arena *arena,
	const struct leaderboard *leaderboard, const struct publishing *after,
	const struct actor *actor, struct error *error);

/* Members of a closed leaderboard, and those who were removed: no invite code, and no closing of
 * the leaderboard, makes members of them again. */
struct member {
	const char *name;
	int64_t joined_at_ms, submissions;
};
struct removed_member {
	const char *name;
	int64_t removed_at_ms;
};
struct members {
	const struct member *members;
	size_t count;
	const struct removed_member *removed;
	size_t removed_count;
};
int publishing_members(struct database *db, struct arena *arena, int64_t leaderboard_id,
	struct members *members, struct error *error);

/* Takes a member's seat, or gives it back to one who was removed, with an audit entry.
 * ERROR_NOT_FOUND when there is none of that name. */
int publishing_remove_member(struct database *db, struct arena *arena,
	const struct leaderboard *leaderboard, const char *name, const struct actor *actor,
	struct error *error);
int publishing_readmit(struct database *db, struct arena *arena,
	const struct leaderboard *leaderboard, const char *name, const struct actor *actor,
	struct error *error);

#endif
