/* Contests: reading them, registering for one, and what their hosts do. */
#include "cgi/page/contest.h"
#include "cgi/api/admin.h"
#include "cgi/api/api.h"
#include "cgi/api/calls.h"
#include "cgi/page/team.h"
#include "lib/account/team.h"
#include "lib/base/format.h"

#include <string.h>

/* ---- reading ---- */

static json_t *problems_json(const struct contest_problem *problems, size_t count, bool shows)
{
	json_t *names = json_array();
	for (size_t i = 0; i < count && shows; i++)
		if (problems[i].is_seen)
			json_array_append_new(names, json_string(problems[i].name));
	return names;
}

static json_t *contest_json(const struct contest *contest)
{
	return json_pack("{s:s, s:s, s:s, s:o, s:o, s:o, s:o, s:s, s:s, s:s, s:I, s:I, s:I, s:b, s:I}",
		"name", contest->name, "title", contest->title, "state", contest_state(contest, now_ms()),
		"starts_at", json_moment(contest->starts_at_ms), "ends_at",
		json_moment(contest->ends_at_ms), "freezes_at", json_moment(contest_freezes_at_ms(contest)),
		"final_at", json_moment(contest->final_at_ms), "registration", contest->registration,
		"scoring", contest->scoring, "points", contest->points, "freeze_minutes",
		(json_int_t)contest->freeze_minutes, "contestants", (json_int_t)contest->entrants,
		"problem_count", (json_int_t)contest->problems, "registered", (int)contest->is_entrant,
		"team_members", (json_int_t)contest->team_members);
}

/* Before the start, only those who see a problem anyway get its name. */
static int respond_contest(struct request *request, const char *name, bool for_host, bool is_new)
{
	struct contest contest;
	struct contest_problem *problems;
	size_t count;
	int rc = contest_by_name(
		request->db, request->arena, name, request->viewer.id, &contest, request->error);
	if (!rc)
		rc = contest_problems(request->db, request->arena, contest.id, request->viewer.id,
			&problems, &count, request->error);
	if (rc)
		return rc;
	json_t *json = contest_json(&contest);
	json_object_set_new(json, "rules", json_string(contest.rules));
	json_object_set_new(json, "problems",
		problems_json(problems, count, for_host || contest.starts_at_ms <= now_ms()));
	if (for_host)
		json_object_set_new(json, "code", json_string(contest.code));
	return is_new ? respond_created(request, json, "/api/v1/admin/contests/%s", contest.name)
				  : respond_json(request, json);
}

int api_contests(struct request *request)
{
	struct contest *contests;
	size_t count;
	int rc = contests_read(
		request->db, request->arena, request->viewer.id, &contests, &count, request->error);
	if (rc)
		return rc;
	json_t *items = json_array();
	for (size_t i = 0; i < count; i++)
		json_array_append_new(items, contest_json(&contests[i]));
	return respond_list(request, items, NULL);
}

int api_contest(struct request *request)
{
	return respond_contest(request, request->path_parameters[0], false, false);
}

/* The cursor is the number of rows before the page: the standings are computed whole, and a
 * contestant's row may move between two pages. */
int api_contest_standings(struct request *request)
{
	struct contest contest;
	struct standings standings;
	struct api_list list;
	int rc = api_list_read(request, &list);
	if (!rc)
		rc = standings_of_request(request, &contest, &standings);
	if (rc)
		return rc;
	size_t count = standings.row_count,
		   first = list.after[0] < 0                  ? 0
		: (size_t)list.after[0] < standings.row_count ? (size_t)list.after[0]
													  : count;
	size_t end = count - first > (size_t)list.limit ? first + (size_t)list.limit : count;
	request->may_be_cached = true;
	return respond_page(request, standings_json(&contest, &standings, first, end, now_ms()),
		end < count ? api_cursor(request, (int64_t)end, 0) : NULL);
}

/* ---- registration ---- */

int api_contest_register(struct request *request)
{
	struct contest contest;
	const char *code;
	int rc = api_text_or_nothing(request, "code", &code);
	if (!rc && strlen(code) > contest_most_code_bytes)
		rc = fail_field(
			request->error, "code", "A code has at most %d characters.", contest_most_code_bytes);
	if (!rc)
		rc = contest_of_request(request, &contest);
	if (!rc)
		rc = contest_enter(request, &contest, code);
	return rc ? rc : respond_contest(request, contest.name, false, false);
}

int api_contest_leave(struct request *request)
{
	struct contest contest;
	const struct actor actor = actor_of(request);
	int rc = contest_of_request(request, &contest);
	if (!rc)
		rc = contest_leave(request->db, request->arena, &contest, &actor, request->error);
	return rc ? rc : respond_nothing(request);
}

/* ---- hosts ---- */

/* Puts the members of the body into the settings, and leaves the others. */
static int read_settings(struct request *request, struct contest_settings *settings)
{
	static const char *const texts[] = { "title", "rules", "registration", "code", "scoring",
		"points", NULL };
	int rc = 0;
	for (size_t i = 0; texts[i] && !rc; i++) {
		const char *value;
		rc = api_text(request, texts[i], &value);
		if (!rc && value)
			contest_set(request->arena, settings, texts[i], value);
	}
	if (!rc)
		rc = api_moment(request, "starts_at", settings->starts_at_ms, &settings->starts_at_ms);
	if (!rc)
		rc = api_moment(request, "ends_at", settings->ends_at_ms, &settings->ends_at_ms);
	if (!rc)
		rc = api_integer(
			request, "freeze_minutes", settings->freeze_minutes, &settings->freeze_minutes);
	if (!rc)
		rc = api_integer(request, "team_members", settings->team_members, &settings->team_members);
	return rc || !api_has(request, "problems")
		? rc
		: api_texts(request, "problems", &settings->problems, &settings->problem_count);
}

/* The fields of the form are starts and ends. */
static int name_members(struct request *request, int rc)
{
	struct error *error = request->error;
	if (rc == ERROR_INPUT && strcmp(error->field, "starts") == 0)
		return fail_field(error, "starts_at", "%s", arena_strdup(request->arena, error->text));
	if (rc == ERROR_INPUT && strcmp(error->field, "ends") == 0)
		return fail_field(error, "ends_at", "%s", arena_strdup(request->arena, error->text));
	return rc;
}

int api_admin_contest_create(struct request *request)
{
	struct actor actor = actor_of(request);
	struct contest_settings settings = { .title = "",
		.rules = "",
		.registration = "open",
		.code = "",
		.scoring = "ranks",
		.points = "",
		.starts_at_ms = TIME_NULL,
		.ends_at_ms = TIME_NULL };
	int rc = api_text_or_nothing(request, "name", &settings.name);
	if (!rc)
		rc = read_settings(request, &settings);
	if (!rc)
		rc = contest_create(request->db, request->arena, &settings,
			request->viewer.role == ROLE_ADMIN, &actor, request->error);
	return rc ? name_members(request, rc) : respond_contest(request, settings.name, true, true);
}

int api_admin_contest(struct request *request)
{
	struct contest contest;
	int rc = contest_of_manager(request, &contest);
	return rc ? rc : respond_contest(request, contest.name, true, false);
}

int api_admin_contest_change(struct request *request)
{
	struct actor actor = actor_of(request);
	struct contest contest;
	struct contest_settings settings;
	int rc = contest_of_manager(request, &contest);
	if (!rc)
		rc = contest_settings_of(request->db, request->arena, &contest, &settings, request->error);
	if (!rc)
		rc = read_settings(request, &settings);
	if (!rc)
		rc = contest_change(request->db, request->arena, &contest, &settings,
			request->viewer.role == ROLE_ADMIN, &actor, request->error);
	return rc ? name_members(request, rc) : respond_contest(request, contest.name, true, false);
}

static int put_entrant(struct request *request, bool is_entrant)
{
	struct actor actor = actor_of(request);
	struct contest contest;
	int rc = contest_of_manager(request, &contest);
	if (!rc)
		rc = contest_put_entrant(request->db, request->arena, &contest, request->path_parameters[1],
			is_entrant, &actor, request->error);
	return rc ? rc : respond_nothing(request);
}

int api_admin_contestant_add(struct request *request)
{
	return put_entrant(request, true);
}

int api_admin_contestant_remove(struct request *request)
{
	return put_entrant(request, false);
}

/* ---- the jury ---- */

int api_admin_contest_jury(struct request *request)
{
	struct contest contest;
	struct contest_juror *jury = NULL;
	size_t count = 0;
	int rc = contest_of_manager(request, &contest);
	if (!rc)
		rc = contest_jury(request->db, request->arena, contest.id, &jury, &count, request->error);
	if (rc)
		return rc;
	json_t *items = json_array();
	for (size_t i = 0; i < count; i++)
		json_array_append_new(items,
			json_pack(
				"{s:s, s:I}", "user", jury[i].name, "problem_count", (json_int_t)jury[i].problems));
	return respond_list(request, items, NULL);
}

static int change_jury(struct request *request, bool gives)
{
	struct actor actor = actor_of(request);
	struct contest contest;
	int rc = contest_of_manager(request, &contest);
	if (!rc)
		rc = contest_change_jury(request->db, request->arena, &contest, request->path_parameters[1],
			gives, &actor, request->error);
	return rc ? rc : respond_nothing(request);
}

int api_admin_contest_juror_add(struct request *request)
{
	return change_jury(request, true);
}

int api_admin_contest_juror_remove(struct request *request)
{
	return change_jury(request, false);
}

/* ---- the end of a contest ---- */

int api_admin_contest_final(struct request *request)
{
	struct actor actor = actor_of(request);
	struct contest contest;
	int rc = contest_of_manager(request, &contest);
	if (!rc)
		rc = api_confirm(request, "the contest's name", contest.name);
	if (!rc)
		rc = database_lift_limit(request->db, request->error);
	if (!rc)
		rc = contest_finish(request->db, request->arena, &contest, &actor, request->error);
	return rc ? rc : respond_contest(request, contest.name, true, false);
}

int api_admin_contest_delete(struct request *request)
{
	struct actor actor = actor_of(request);
	struct contest contest;
	int rc = contest_of_manager(request, &contest);
	if (!rc)
		rc = api_confirm(request, "the contest's name", contest.name);
	if (!rc)
		rc = database_lift_limit(request->db, request->error);
	if (!rc)
		rc = contest_delete(request->db, request->arena, &contest, &actor, request->error);
	return rc ? rc : respond_nothing(request);
}

/* ---- teams ---- */

/* The code is only for members. */
static json_t *team_json(const struct request *request, const struct team *team)
{
	bool is_own = false;
	json_t *names = json_array();
	for (size_t i = 0; i < team->member_count; i++) {
		is_own |= request->viewer.id == team->members[i].user_id;
		json_array_append_new(names, json_string(team->members[i].name));
	}
	return json_pack("{s:s, s:s, s:o, s:o, s:o}", "name", team->name, "contest", team->contest,
		"locked_at", json_moment(team->locked_at_ms), "members", names, "code",
		json_text(is_own ? team->code : NULL));
}

int api_teams(struct request *request)
{
	struct team_contest contest;
	struct team *teams;
	size_t count;
	int rc = team_contest_by_name(
		request->db, request->arena, request->path_parameters[0], &contest, request->error);
	if (!rc)
		rc = teams_of_contest(
			request->db, request->arena, contest.id, &teams, &count, request->error);
	if (rc)
		return rc;
	json_t *items = json_array();
	for (size_t i = 0; i < count; i++)
		json_array_append_new(items, team_json(request, &teams[i]));
	return respond_list(request, items, NULL);
}

static int respond_team(struct request *request, int64_t id, bool is_new)
{
	struct team team;
	int rc = team_by_id(request->db, request->arena, id, &team, request->error);
	if (rc)
		return rc;
	json_t *json = team_json(request, &team);
	return is_new ? respond_created(request, json, "/api/v1/users/%s", team.name)
				  : respond_json(request, json);
}

int api_team_create(struct request *request)
{
	const struct actor actor = actor_of(request);
	const char *name;
	int64_t id;
	int rc = api_text_or_nothing(request, "name", &name);
	if (!rc)
		rc = team_limit_hit(request);
	if (!rc)
		rc = team_create(
			request->db, request->path_parameters[0], name, &actor, &id, request->error);
	return rc ? rc : respond_team(request, id, true);
}

int api_team_join(struct request *request)
{
	const struct actor actor = actor_of(request);
	const char *code;
	int64_t id;
	int rc = api_text_or_nothing(request, "code", &code);
	if (!rc)
		rc = team_code_limit_hit(request);
	if (!rc)
		rc = team_join(request->db, request->path_parameters[0], code, &actor, &id, request->error);
	return rc ? rc : respond_team(request, id, false);
}

int api_team_leave(struct request *request)
{
	const struct actor actor = actor_of(request);
	int rc = team_leave(request->db, request->path_parameters[0], &actor, request->error);
	return rc ? rc : respond_nothing(request);
}

/* Changes a team's member as an admin. */
static int change_member(struct request *request, team_change *change)
{
	const struct actor actor = actor_of(request);
	const char *reason;
	int rc = api_text_or_nothing(request, "reason", &reason);
	if (!rc)
		rc = change(request->db, request->path_parameters[0], request->path_parameters[1], reason,
			&actor, request->error);
	return rc ? rc : respond_nothing(request);
}

int api_admin_team_add(struct request *request)
{
	return change_member(request, team_put_member);
}

int api_admin_team_remove(struct request *request)
{
	return change_member(request, team_remove_member);
}
