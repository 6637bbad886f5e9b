/* Invite codes: a user who enters one becomes a member of its closed leaderboards. */
#ifndef PODIUM_CGI_ACTION_INVITE_H
#define PODIUM_CGI_ACTION_INVITE_H

#include "lib/leaderboard/leaderboard.h"

enum { invite_code_length = 20, invite_most_note_bytes = 80, invite_most_uses = 100000 };

struct invite {
	int64_t id;
	const char *code, *note;
	const char *leaderboards; /* "a, b": those that still exist; NULL: none */
	int64_t most_uses;        /* SQL_NULL_INTEGER: unlimited */
	int64_t uses;
	int64_t expires_at_ms, revoked_at_ms; /* TIME_NULL: never */
	int64_t expired;
	int64_t suspended;   /* its creator may no longer invite to any of its leaderboards */
	const char *creator; /* NULL: the account was deleted */
	int64_t created_at_ms;
};

/* "open", "used up", "expired", "revoked" or "suspended". A code is suspended while its creator is
 * banned or lacks the role. A code of a deleted account works until an admin revokes it. */
const char *invite_state(const struct invite *invite);

struct invite_request {
	const char *note;
	const char **leaderboards;
	size_t leaderboard_count; /* names */
	int64_t most_uses;        /* 0: unlimited */
	int64_t expires_at_ms;    /* TIME_NULL: never */
	bool may_all;             /* else only for leaderboards of the actor */
};

/* Creates a code, with an audit entry. ERROR_INPUT has the field leaderboard, note, uses or
 * expires. */
int invite_create(struct database *db, struct arena *arena, const struct invite_request *request,
	const struct actor *actor, const char **code, struct error *error);

/* The codes of one creator (0: of all), newest first. */
int invites_list(struct database *db, struct arena *arena, int64_t creator_id,
	struct invite **invites, size_t *count, struct error *error);

/* A revoked code admits no new members; existing ones stay. `creator_id` 0: any creator. */
int invite_revoke(struct database *db, struct arena *arena, int64_t id, int64_t creator_id,
	const struct actor *actor, struct error *error);

/* Makes the user a member of the code's leaderboards. It skips those to which the code's creator
 * may no longer invite, and those that the user was removed from (cgi/action/publishing.h).
 * `leaderboards` lists the code's leaderboards that the user is a member of now. A use counts only
 * if it gave a seat. ERROR_INPUT with field code when the code is unknown, not open, or gives this
 * user no seat. */
struct invite_leaderboard {
	const char *name;
};
int invite_redeem(struct database *db, struct arena *arena, const char *code, int64_t user_id,
	struct invite_leaderboard **leaderboards, size_t *count, struct error *error);

#endif
