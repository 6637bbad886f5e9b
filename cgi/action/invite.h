/* Invite codes: whoever enters one becomes a member of the closed leaderboards that it is for. */
#ifndef PODIUM_LIB_INVITE_H
#define PODIUM_LIB_INVITE_H

#include "lib/leaderboard.h"

enum { invite_code_length = 20, invite_most_note_bytes = 80, invite_most_uses = 100000 };

struct invite {
	int64_t id;
	const char *code, *note;
	const char *leaderboards; /* "a, b": those that are left; NULL: all of them were deleted */
	int64_t most_uses;        /* SQL_NULL_INTEGER: as often as one likes */
	int64_t uses;
	int64_t expires_at_ms, revoked_at_ms; /* TIME_NULL: never, not */
	int64_t expired;
	int64_t suspended;   /* its maker may invite to none of its leaderboards any more */
	const char *creator; /* NULL: the account is gone */
	int64_t created_at_ms;
};

/* "open", "used up", "expired", "revoked", or "suspended": whoever made it was banned, or has not
 * the role any more. That ends with the ban; a code of an account that was deleted goes on working
 * until an admin revokes it. */
const char *invite_state(const struct invite *invite);

struct invite_request {
	const char *note;
	const char **leaderboards;
	size_t leaderboard_count; /* names */
	int64_t most_uses;        /* 0: as often as one likes */
	int64_t expires_at_ms;    /* TIME_NULL: never */
	bool may_all;             /* else only for leaderboards that the actor has made */
};

/* Makes a code, with an audit entry. The error's field is leaderboard, note, uses or expires. */
int invite_create(struct database *db, struct arena *arena, const struct invite_request *request,
	const struct actor *actor, const char **code, struct error *error);

/* Those of one creator (0: of all), the newest first. */
int invites_list(struct database *db, struct arena *arena, int64_t creator_id,
	struct invite **invites, size_t *count, struct error *error);

/* From then on it makes no more members; those that there are stay. `creator_id` 0: whoever has
 * made it. */
int invite_revoke(struct database *db, struct arena *arena, int64_t id, int64_t creator_id,
	const struct actor *actor, struct error *error);

/* Makes the user a member of those of its leaderboards to which its maker may still invite, and
 * which the user was not removed from (lib/publishing.h); `boards` are those of them that the user
 * is a member of now. A use counts only where there was a seat to give. ERROR_INPUT with field code
 * when there is no such code, it is not open, or it gives this user no seat. */
struct invite_board {
	const char *name;
};
int invite_redeem(struct database *db, struct arena *arena, const char *code, int64_t user_id,
	struct invite_board **boards, size_t *count, struct error *error);

#endif
