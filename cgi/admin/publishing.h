/* What the pages about a leaderboard's visibility, freeze and archive show, and those about
 * invites. */
#ifndef PODIUM_CGI_PUBLISHING_H
#define PODIUM_CGI_PUBLISHING_H

#include "lib/invite.h"
#include "lib/publishing.h"

struct publishing_form {
	const struct leaderboard *leaderboard;
	const char *visibility; /* as chosen */
	const char *frozen;     /* as typed */
	bool practice, archived;
	const struct member *members;
	size_t member_count; /* of a closed leaderboard */
	const struct removed_member *removed;
	size_t removed_count;
	const char *visibility_error, *frozen_error; /* sentences, or NULL */
};

struct invite_choice {
	const char *name, *visibility;
	bool chosen;
};

struct invites_view {
	const struct invite *invites;
	size_t count;
	struct invite_choice *boards;
	size_t board_count;                /* that the viewer may invite to */
	const char *note, *uses, *expires; /* as typed */
	const char *note_error, *uses_error, *expires_error, *board_error;
	bool is_admin;
};

struct archive_row {
	const char *name, *language;
	int64_t deadline_ms, archived_at_ms;
};

struct membership {
	const char *leaderboard;
}; /* of a closed leaderboard */
struct join_form {
	const char *code, *code_error;
	const struct membership *memberships;
	size_t membership_count; /* the visitor's */
};

#endif
