/* The teams of a contest: made and joined by participants, changed by admins. */
#include "cgi/page/team.h"

#include "cgi/http/notice.h"
#include "cgi/http/rate_limit.h"
#include "cgi/page/pages.h"
#include "lib/base/scope.h"
#include "templates/team.h"

#include <stdlib.h>
#include <string.h>

/* Each team takes a user name for good once it has submitted. */
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

static bool may_manage(const struct request *request, const struct team_contest *contest)
{
	const struct viewer *viewer = &request->viewer;
	return viewer->role == ROLE_ADMIN
		|| (viewer->role == ROLE_CREATOR && viewer->id == contest->creator_id);
}

static int read_contest(struct request *request, struct team_contest *contest)
{
	return team_contest_by_name(
		request->db, request->arena, request->path_parameters[0], contest, request->error);
}

static int show_teams(struct request *request)
{
	struct team_contest contest;
	struct team *teams;
	struct error own = { 0 };
	struct team_view view = { .contest = &contest,
		.is_admin = request->viewer.role == ROLE_ADMIN,
		.name = request_form_or(request, "name", ""),
		.code = request_form_or(request, "code", ""),
		.most = request_form(request, "most"),
		.team = request_form_or(request, "team", ""),
		.user = request_form_or(request, "user", ""),
		.reason = request_form_or(request, "reason", ""),
		.name_error = form_error(request, "name"),
		.code_error = form_error(request, "code"),
		.most_error = form_error(request, "most"),
		.user_error = form_error(request, "user"),
		.reason_error = form_error(request, "reason") };
	int rc = team_contest_by_name(
		request->db, request->arena, request->path_parameters[0], &contest, &own);
	if (!rc)
		rc = teams_of_contest(request->db, request->arena, contest.id, &teams, &view.count, &own);
	if (rc) {
		*request->error = own;
		return rc;
	}
	view.teams = teams;
	view.may_manage = may_manage(request, &contest);
	view.own = viewer_team_in(&request->viewer, contest.id);
	struct page page = form_page_make(
		request, arena_printf(request->arena, "Teams of %s", contest.title), "leaderboards");
	teams_page(&request->body, &page, &view);
	return 0;
}

int page_teams(struct request *request)
{
	return show_teams(request);
}

/* ---- forms ---- */

static int create_team(struct request *request, const struct team_contest *contest)
{
	const struct actor actor = actor_of(request);
	const char *name = request_form_or(request, "name", "");
	int64_t id;
	int rc = team_limit_hit(request);
	if (!rc)
		rc = team_create(request->db, contest->name, name, &actor, &id, request->error);
	if (!rc)
		notice_leave(request, "You made the team %s. Give its code to the others.", name);
	return rc;
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
	(void)contest;
	int rc = team_code_limit_hit(request);
	if (!rc)
		rc = team_join(request->db, typed_team_code(request), &actor, &id, request->error);
	if (!rc)
		notice_leave(request, "You are a member of the team now.");
	return rc;
}

static int leave_team(struct request *request, const struct team_contest *contest)
{
	const struct actor actor = actor_of(request);
	int rc = team_leave(request->db, contest->name, &actor, request->error);
	if (!rc)
		notice_leave(request, "You left the team.");
	return rc;
}

static int limit_teams(struct request *request, const struct team_contest *contest)
{
	const struct actor actor = actor_of(request);
	const char *text = request_form_or(request, "most", "");
	char *end;
	long long most = strtoll(text, &end, 10);
	if (!may_manage(request, contest))
		return fail(request->error, ERROR_FORBIDDEN,
			"Only the contest's creator and admins may change its teams.");
	return team_limit(
		request->db, contest->name, *text && !*end ? most : -1, &actor, request->error);
}

static int change_members(struct request *request,
	int (*change)(struct database *, const char *, const char *, const char *, const struct actor *,
		struct error *))
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
} ACTIONS[] = { { "create", create_team }, { "join", join_team }, { "leave", leave_team },
	{ "limit", limit_teams }, { "add", add_member }, { "remove", remove_member } };

int action_teams(struct request *request)
{
	const char *name = request_form_or(request, "action", "");
	struct team_contest contest;
	int rc = read_contest(request, &contest);
	if (rc)
		return rc;
	rc = fail(request->error, ERROR_FORBIDDEN, "This form does nothing. Use one of the page's.");
	for (size_t i = 0; i < COUNT(ACTIONS); i++)
		if (strcmp(ACTIONS[i].name, name) == 0) {
			*request->error = (struct error){ 0 };
			rc = ACTIONS[i].run(request, &contest);
		}
	if (!rc)
		return redirect(request, "/contest/%s/teams", contest.name);
	if (rc != ERROR_INPUT && rc != ERROR_CONFLICT)
		return rc;
	request->status = rc == ERROR_CONFLICT ? 409 : 422;
	return show_teams(request);
}
