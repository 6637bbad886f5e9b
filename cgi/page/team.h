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
	bool may_manage;        /* sets how many members a team has: the contest's creator, admins */
	bool is_admin;
	/* What the visitor typed into a refused form, and the errors of its fields; NULL: none. */
	const char *name, *code, *most, *team, *user, *reason;
	const char *name_error, *code_error, *most_error, *user_error, *reason_error;
};

/* Limits of the viewer: teams that they make, codes that they try. */
int team_limit_hit(struct request *request);
int team_code_limit_hit(struct request *request);

#endif
