/* The teams of a contest: created and joined by participants, changed by admins. */
#include "cgi/page/team.h"

#include "cgi/http/notice.h"
#include "cgi/http/rate_limit.h"
#include "cgi/page/pages.h"
#include "lib/base/scope.h"
#include "templates/team.h"

#include <string.h>

/* Each team takes a user name, for good once it has submitted. */
static const struct rate_limit TEAMS_OF_USER = { "make teams", 20, 3600 };
static const struct rate_limit CODES_OF_USER = { "team code", 30, 600 };

int team_limit_hit(struct request *request)
{
	return rate_limit_hit(request, &TEAMS_OF_USER, request->viewer.name);
}

int team_code_limit_hit(struct request *request)
{
	return rate_limit_hit(request, &CODES_OF_USER, request->viewer.name);
}

static int read_contest(struct request *request, struct team_contest *contest)
{
	return team_contest_by_name(
		request->db, request->arena, request->path_parameters[0], contest, request->error);
}

static int show_teams(struct request *request, const struct team_contest *contest)
{
	struct team *teams;
	struct error own = { 0 };
	struct team_view view = { .contest = contest,
		.own = viewer_team_in(&request->viewer, contest->id),
		.is_admin = request->viewer.role == ROLE_ADMIN,
		.name = request_form_or(request, "name", ""),
		.code = request_form_or(request, "code", ""),
		.team = request_form_or(request, "team", ""),
		.user = request_form_or(request, "user", ""),
		.reason = request_form_or(request, "reason", ""),
		.name_error = form_error(request, "name"),
		.code_error = form_error(request, "code"),
		.user_error = form_error(request, "user"),
		.reason_error = form_error(request, "reason") };
	int rc = teams_of_contest(request->db, request->arena, contest->id, &teams, &view.count, &own);
	if (rc) {
		*request->error = own;
		return rc;
	}
	view.teams = teams;
	struct page page = form_page_make(
		request, arena_printf(request->arena, "Teams of %s", contest->title), "contests");
	teams_page(&request->body, &page, &view);
	return 0;
}

int page_teams(struct request *request)
{
	struct team_contest contest;
	int rc = read_contest(request, &contest);
	return rc ? rc : show_teams(request, &contest);
}

/* ---- forms ---- */

static int create_team(struct request *request, const struct team_contest *contest)
{
	const struct actor actor = actor_of(request);
	int64_t id;
	int rc = team_limit_hit(request);
	return rc ? rc
			  : team_create(request->db, contest->name, request_form_or(request, "name", ""),
				  &actor, &id, request->error);
}

/* Without the white space that people often paste around a code. */
static const char *typed_team_code(struct request *request)
{
	char *code = arena_strdup(request->arena, request_form_or(request, "code", ""));
	code += strspn(code, " \t\r\n");
	code[strcspn(code, " \t\r\n")] = '\0';
	return code;
}

static int join_team(struct request *request, const struct team_contest *contest)
{
	const struct actor actor = actor_of(request);
	int64_t id;
	int rc = team_code_limit_hit(request);
	return rc ? rc
			  : team_join(request->db, contest->name, typed_team_code(request), &actor, &id,
				  request->error);
}

static int leave_team(struct request *request, const struct team_contest *contest)
{
	const struct actor actor = actor_of(request);
	return team_leave(request->db, contest->name, &actor, request->error);
}

static int change_members(struct request *request, team_change *change)
{
	const struct actor actor = actor_of(request);
	if (request->viewer.role != ROLE_ADMIN)
		return fail(request->error, ERROR_FORBIDDEN, "Only admins may change a team's members.");
	return change(request->db, request_form_or(request, "team", ""),
		request_form_or(request, "user", ""), request_form_or(request, "reason", ""), &actor,
		request->error);
}

static int add_member(struct request *request, const struct team_contest *contest)
{
	(void)contest;
	return change_members(request, team_put_member);
}

static int remove_member(struct request *request, const struct team_contest *contest)
{
	(void)contest;
	return change_members(request, team_remove_member);
}

static const struct {
	const char *name;
	int (*run)(struct request *request, const struct team_contest *contest);
	const char *outcome;
} ACTIONS[] = {
	{ "create", create_team, "You created the team. Give its code to the others." },
	{ "join", join_team, "You joined the team." },
	{ "leave", leave_team, "You left the team." },
	{ "add", add_member, "The user is a member now." },
	{ "remove", remove_member, "The user is no longer a member." },
};

int action_teams(struct request *request)
{
	const char *name = request_form_or(request, "action", "");
	struct team_contest contest;
	size_t i = 0;
	int rc = read_contest(request, &contest);
	if (rc)
		return rc;
	while (i < COUNT(ACTIONS) && strcmp(ACTIONS[i].name, name) != 0)
		i++;
	rc = i < COUNT(ACTIONS) ? ACTIONS[i].run(request, &contest)
							: fail(request->error, ERROR_INPUT,
								"This page has no such action; reload it and try again.");
	if (rc == ERROR_INPUT || rc == ERROR_CONFLICT) {
		request->status = rc == ERROR_CONFLICT ? 409 : 422;
		return show_teams(request, &contest);
	}
	if (rc)
		return rc;
	notice_leave(request, "%s", ACTIONS[i].outcome);
	return redirect(request, "/contest/%s/teams", contest.name);
}
