/* Data for the page of a contest's teams. */
#ifndef PODIUM_CGI_PAGE_TEAM_H
#define PODIUM_CGI_PAGE_TEAM_H

#include "cgi/http/request.h"
#include "lib/account/team.h"

struct team_view {
	const struct team_contest *contest;
	const struct team *teams;
	size_t count;
	const struct team *own; /* the viewer's team; NULL: none */
	bool is_admin;
	/* What the visitor typed into a refused form, and the errors of its fields; NULL: none. */
	const char *name, *code, *team, *user, *reason;
	const char *name_error, *code_error, *user_error, *reason_error;
};

/* Count a team that the viewer creates, or a code that they try, against the viewer's limit. */
int team_limit_hit(struct request *request);
int team_code_limit_hit(struct request *request);

#endif
