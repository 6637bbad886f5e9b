/* Data for the pages about invites and about a leaderboard's visibility, freeze and archive. */
#ifndef PODIUM_CGI_ADMIN_PUBLISHING_H
#define PODIUM_CGI_ADMIN_PUBLISHING_H

#include "cgi/action/invite.h"
#include "cgi/action/publishing.h"
#include "cgi/http/paging.h"

struct publishing_form {
	const struct leaderboard *leaderboard;
	const char *visibility; /* as chosen */
	const char *frozen;     /* as typed */
	bool practice, archived;
	int64_t waits_until_ms;       /* lib/leaderboard/publication.h */
	const struct member *members; /* of a closed leaderboard */
	struct paging paging;         /* of the members */
	size_t member_count;
	const struct removed_member *removed;
	size_t removed_count;
	const char *visibility_error, *frozen_error; /* messages, or NULL */
};

struct invite_choice {
	const char *name, *visibility;
	bool chosen;
};

struct invites_view {
	const struct invite *invites;
	size_t count;
	struct invite_choice *leaderboards; /* to which the viewer may invite */
	size_t leaderboard_count;
	bool all_public; /* the viewer has leaderboards, but no code could admit to one */
	const char *note, *uses, *expires; /* as typed */
	const char *note_error, *uses_error, *expires_error, *leaderboard_error;
	bool is_admin;
};

struct membership {
	const char *leaderboard; /* the name of a closed leaderboard */
};
struct join_form {
	const char *code, *code_error;
	const struct membership *memberships; /* the visitor's */
	size_t membership_count;
};

#endif
