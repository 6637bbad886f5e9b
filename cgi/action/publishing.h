/* How a leaderboard is published: who sees it, whether it accepts practice after its deadline,
 * whether its public ranking is frozen, and whether it is archived. */
#ifndef PODIUM_CGI_ACTION_PUBLISHING_H
#define PODIUM_CGI_ACTION_PUBLISHING_H

#include "lib/leaderboard/leaderboard.h"

struct publishing {
	const char *visibility; /* "public", "closed", "hidden"; NULL: no change */
	bool practice;          /* accepts unranked submissions after the deadline */
	/* Results that finish after this time are not ranked until an admin lifts the freeze. The time
	 * may lie in the future. TIME_NULL: not frozen. */
	int64_t frozen_at_ms;
	bool archived;
};

/* Stores the changed settings in one transaction, with an audit entry of old and new values. Writes
 * nothing if nothing changed. A hidden leaderboard becomes visible once the check of its task has
 * passed (lib/leaderboard/publication.h), which may be later. If the leaderboard becomes closed,
 * its users with submissions become members. If the freeze changed, the ranking is computed again.
 * ERROR_INPUT has the field `visibility`, which publishing_check_visibility checks. */
int publishing_check_visibility(const char *visibility, struct error *error);
int publishing_change(struct database *db, struct arena *arena,
	const struct leaderboard *leaderboard, const struct publishing *after,
	const struct actor *actor, struct error *error);

/* Members of a closed leaderboard, and users who were removed from it. Neither an invite code nor
 * closing the leaderboard makes a removed user a member again. */
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

/* Remove a member, or readmit a removed one, with an audit entry. ERROR_NOT_FOUND if no member or
 * removed member has that name. */
int publishing_remove_member(struct database *db, struct arena *arena,
	const struct leaderboard *leaderboard, const char *name, const struct actor *actor,
	struct error *error);
int publishing_readmit(struct database *db, struct arena *arena,
	const struct leaderboard *leaderboard, const char *name, const struct actor *actor,
	struct error *error);

#endif
