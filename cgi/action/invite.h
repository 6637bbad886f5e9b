/* Invite codes: a user who enters a code becomes a member of the code's leaderboards. */
#ifndef PODIUM_CGI_ACTION_INVITE_H
#define PODIUM_CGI_ACTION_INVITE_H

#include "lib/leaderboard/leaderboard.h"

enum { invite_code_length = 20, invite_most_note_bytes = 80, invite_most_uses = 100000 };

struct invite {
	int64_t id;
	const char *code, *note;
	const char *leaderboards; /* "a, b"; without deleted leaderboards; NULL: none is left */
	int64_t most_uses;        /* SQL_NULL_INTEGER: unlimited */
	int64_t uses;
	int64_t expires_at_ms, revoked_at_ms; /* TIME_NULL: never */
	int64_t expired;
	int64_t suspended;   /* the creator may no longer invite to any of the leaderboards */
	const char *creator; /* NULL: the code has no creator */
	int64_t created_at_ms;
};

/* "open", "used up", "expired", "revoked" or "suspended". A code is suspended while its creator is
 * banned or may no longer invite to any of its leaderboards. If the creator's account is deleted,
 * the code works until an admin revokes it. */
const char *invite_state(const struct invite *invite);

struct invite_request {
	const char *note;
	const char **leaderboards; /* names */
	size_t leaderboard_count;
	int64_t most_uses;     /* 0: unlimited */
	int64_t expires_at_ms; /* TIME_NULL: never */
};

/* Check one field each, so that a form can report all errors together. */
int invite_check_leaderboards(
	struct arena *arena, const struct invite_request *request, struct error *error);
int invite_check_note(const struct invite_request *request, struct error *error);
int invite_check_expiry(const struct invite_request *request, struct error *error);

/* Creates a code, with an audit entry. ERROR_INPUT has the field leaderboard, note or expires. */
int invite_create(struct database *db, struct arena *arena, const struct invite_request *request,
	const struct actor *actor, const char **code, struct error *error);

/* Lists the newest 500 codes of one creator (0: of all), newest first. */
int invites_list(struct database *db, struct arena *arena, int64_t creator_id,
	struct invite **invites, size_t *count, struct error *error);

/* Revokes a code of this creator (0: of any). The code then admits no new members; existing members
 * stay. */
int invite_revoke(struct database *db, struct arena *arena, int64_t id, int64_t creator_id,
	const struct actor *actor, struct error *error);

/* Makes the user a member of the code's leaderboards. Skips leaderboards to which the code's
 * creator may no longer invite, and leaderboards from which the user was removed
 * (cgi/action/publishing.h). `leaderboards` lists the code's leaderboards of which the user is now
 * a member. Counts as a use of the code only if the user became a member of a leaderboard. Does
 * nothing if the user is already a member of all the code's leaderboards. Otherwise returns
 * ERROR_INPUT, with the field `code`, if the code is not open or admits the user to none of them.
 * Returns the same error for an unknown code. */
struct invite_leaderboard {
	const char *name;
};
int invite_redeem(struct database *db, struct arena *arena, const char *code, int64_t user_id,
	struct invite_leaderboard **leaderboards, size_t *count, struct error *error);

#endif
