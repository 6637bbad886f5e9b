/* The form of a contest, its contestants, and the declaration of its final standings. */
#include "cgi/admin/contest.h"

#include "cgi/http/confirmation.h"
#include "cgi/http/notice.h"
#include "cgi/page/contest.h"
#include "cgi/page/pages.h"
#include "lib/base/format.h"
#include "lib/base/quote.h"
#include "lib/base/scope.h"
#include "lib/leaderboard/check.h"
#include "templates/admin_contest.h"

#include <string.h>

static const struct contest_settings AT_FIRST = { .name = "",
	.title = "",
	.rules = "",
	.registration = "open",
	.code = "",
	.scoring = "ranks",
	.points = "",
	.starts_at_ms = TIME_NULL,
	.ends_at_ms = TIME_NULL };

/* ---- showing the form ---- */

enum { entrants_per_page = 25 };

static const char *stored_field(const struct contest_form *form, const char *key)
{
	const struct contest_settings *s = form->stored;
	struct arena *arena = form->request->arena;
	format_text starts, ends;
	format_datetime_local(starts, s->starts_at_ms);
	format_datetime_local(ends, s->ends_at_ms);
	const struct {
		const char *key, *value;
	} fields[] = { { "name", s->name }, { "title", s->title }, { "rules", s->rules },
		{ "registration", s->registration }, { "code", s->code }, { "scoring", s->scoring },
		{ "points", s->points }, { "starts", arena_strdup(arena, starts) },
		{ "ends", arena_strdup(arena, ends) },
		{ "freeze_minutes", arena_printf(arena, "%lld", (long long)s->freeze_minutes) },
		{ "team_members", arena_printf(arena, "%lld", (long long)s->team_members) },
		{ "problems", contest_problem_words(arena, s) } };
	for (size_t i = 0; i < COUNT(fields); i++)
		if (strcmp(fields[i].key, key) == 0)
			return fields[i].value;
	return "";
}

/* The value of a field of the form; NULL: none was sent. The form has one field for each problem,
 * all with the same name. */
static const char *typed_field(struct request *request, const char *key)
{
	const char **values, *words = NULL;
	if (strcmp(key, "problems") != 0)
		return request_form(request, key);
	size_t count = request_form_values(request, key, &values);
	for (size_t i = 0; i < count; i++)
		words = words ? arena_printf(request->arena, "%s %s", words, values[i]) : values[i];
	return words;
}

const char *contest_field(const struct contest_form *form, const char *key)
{
	const char *typed = typed_field(form->request, key);
	if (!typed && !form->contest) /* the page of a problem set fills the form */
		typed = request_query(form->request, key);
	return typed ? typed : stored_field(form, key);
}

const char *contest_field_error(const struct contest_form *form, const char *key)
{
	return form_error(form->request, key);
}

static const struct contest_checked PUBLISHED = { .chip = "done", .word = "published", .note = "" };
static const struct contest_checked STATES[] = {
	[CHECK_WAITS] = { .chip = "queued", .note = "The check waits to start, or for a worker." },
	[CHECK_RUNS] = { .chip = "running", .note = "The check is running." },
	[CHECK_FAILED] = { .chip = "failed", .note = "It stays hidden until its check passes." },
	[CHECK_WARNS] = { .chip = "waiting",
		.note = "It stays hidden until somebody accepts the "
				"warnings." },
	[CHECK_PASSED] = { .chip = "passed", .note = "It becomes visible at the start." },
};

static int read_check(struct request *request, const struct contest_problem *problem,
	struct contest_checked *checked, struct error *error)
{
	struct check check;
	bool is_wanted = problem->wanted_version != SQL_NULL_INTEGER;
	*checked = PUBLISHED;
	if (strcmp(problem->visibility, "hidden") == 0) {
		int rc = check_read(request->db, request->arena, problem->leaderboard_id,
			is_wanted ? problem->wanted_version : problem->version, &check, error);
		if (rc)
			return rc;
		*checked = STATES[check.state];
		checked->word = check_state_name(check.state);
		if (!is_wanted)
			checked->note = "It stays hidden until somebody publishes it.";
	}
	checked->name = problem->name;
	return 0;
}

static int read_checks(struct request *request, struct contest_form *form, struct error *error)
{
	struct contest_problem *problems;
	size_t count;
	int rc = contest_problems(request->db, request->arena, form->contest->id, request->viewer.id,
		&problems, &count, error);
	if (rc)
		return rc;
	form->checked = arena_array(request->arena, struct contest_checked, count);
	for (size_t i = 0; i < count && !rc; i++)
		rc = read_check(request, &problems[i], &form->checked[i], error);
	form->checked_count = count;
	return rc;
}

/* Reads what a new contest does not have yet. */
static int read_stored(struct request *request, struct contest_form *form, struct error *error)
{
	int64_t id = form->contest->id;
	int rc = contest_entrants(
		request->db, request->arena, id, &form->entrants, &form->entrant_count, error);
	if (!rc)
		rc = contest_jury(request->db, request->arena, id, &form->jury, &form->juror_count, error);
	if (!rc && form->contest->final_at_ms == TIME_NULL)
		rc = read_checks(request, form, error);
	return rc;
}

bool contest_has_problem_fields(const struct contest_form *form)
{
	return form->offer_count || form->problem_count || contest_field_error(form, "problems");
}

size_t contest_empty_fields(const struct contest_form *form)
{
	return !form->offer_count ? 0 : form->problem_count ? 3 : 6;
}

static void read_problems(
	struct request *request, struct contest_form *form, const struct contest_settings *stored)
{
	struct contest_settings typed = *stored;
	contest_set(request->arena, &typed, "problems", contest_field(form, "problems"));
	form->problems = typed.problems;
	form->problem_count = typed.problem_count;
}

static int show_form(struct request *request, struct contest_form *form)
{
	struct error own = { 0 };
	struct contest_settings stored = AT_FIRST;
	int rc = contest_offers(request->db, request->arena, form->contest ? form->contest->id : 0,
		request->viewer.role == ROLE_ADMIN, request->viewer.id, &form->offers, &form->offer_count,
		&own);
	if (!rc && form->contest)
		rc = contest_settings_of(request->db, request->arena, form->contest, &stored, &own);
	if (!rc && form->contest)
		rc = read_stored(request, form, &own);
	if (!rc)
		rc = paging_make(&form->paging, (int64_t)form->entrant_count, entrants_per_page,
			query_number(request, "page", 1), &own);
	if (rc) {
		*request->error = own;
		return rc;
	}
	form->request = request;
	form->stored = &stored;
	form->user = request_form_or(request, "user", "");
	form->juror = request_form_or(request, "juror", "");
	read_problems(request, form, &stored);
	struct page page = form_page_make(request,
		form->contest ? arena_printf(request->arena, "Settings of %s", form->contest->title)
					  : "New contest",
		"admin");
	admin_contest_page(&request->body, &page, form);
	return 0;
}

int page_contest_new(struct request *request)
{
	struct contest_form form = { 0 };
	return show_form(request, &form);
}

int page_contest_manage(struct request *request)
{
	struct contest contest;
	struct contest_form form = { .contest = &contest };
	int rc = contest_of_manager(request, &contest);
	return rc ? rc : show_form(request, &form);
}

/* ---- storing it ---- */

/* Keeps all errors of the form. */
static int read_form(struct request *request, struct contest_settings *settings)
{
	for (size_t i = 0; contest_keys[i]; i++) {
		const char *value = typed_field(request, contest_keys[i]);
		if (value)
			contest_set(request->arena, settings, contest_keys[i], value);
	}
	int rc = 0;
	for (size_t i = 0; contest_checks[i] && !rc; i++)
		rc = form_note(request, contest_checks[i](settings, request->error));
	return rc ? rc : form_noted(request);
}

static bool is_admin(const struct request *request)
{
	return request->viewer.role == ROLE_ADMIN;
}

/* Shows the form again with its errors. */
static int answer_form(struct request *request, int rc, struct contest_form *form)
{
	if (rc != ERROR_INPUT && rc != ERROR_CONFLICT)
		return rc;
	request->status = rc == ERROR_CONFLICT ? 409 : 422;
	if (rc == ERROR_CONFLICT)
		fail_field(
			request->error, "title", "%s", arena_strdup(request->arena, request->error->text));
	return show_form(request, form);
}

int action_contest_new(struct request *request)
{
	struct actor actor = actor_of(request);
	struct contest_settings settings = AT_FIRST;
	struct contest_form form = { 0 };
	settings.name = request_form_or(request, "name", "");
	int rc = read_form(request, &settings);
	if (!rc)
		rc = contest_create(
			request->db, request->arena, &settings, is_admin(request), &actor, request->error);
	if (rc)
		return answer_form(request, rc, &form);
	notice_leave(request, "The contest was created.");
	return redirect(request, "/contest/%s", settings.name);
}

static int save_contest(struct request *request, const struct contest *contest)
{
	struct actor actor = actor_of(request);
	struct contest_settings settings;
	int rc = contest_settings_of(request->db, request->arena, contest, &settings, request->error);
	if (!rc)
		rc = read_form(request, &settings);
	return rc ? rc
			  : contest_change(request->db, request->arena, contest, &settings, is_admin(request),
				  &actor, request->error);
}

static int put_entrant(struct request *request, const struct contest *contest, bool is_entrant)
{
	struct actor actor = actor_of(request);
	return contest_put_entrant(request->db, request->arena, contest,
		request_form_or(request, "user", ""), is_entrant, &actor, request->error);
}

static int add_entrant(struct request *request, const struct contest *contest)
{
	return put_entrant(request, contest, true);
}

/* Asks once the contest has started, because the results leave the scoreboard, too. */
static int remove_entrant(struct request *request, const struct contest *contest)
{
	struct arena *arena = request->arena;
	const char *user = request_form_or(request, "user", "");
	struct confirmation question = {
		.title = arena_printf(arena, "Remove %s from %s?", quote(arena, user), contest->title),
		.section = "admin",
		.button = "Remove the contestant",
		.back = arena_printf(arena, "/admin/contest/%s", contest->name),
	};
	confirmation_says(request, &question,
		"The scoreboard loses this row, and the ranks of the others move up. You can register the "
		"contestant again.");
	return contest->starts_at_ms > now_ms() || confirmation_given(request, &question)
		? put_entrant(request, contest, false)
		: confirmation_ask(request, &question);
}

static int change_jury(struct request *request, const struct contest *contest, bool gives)
{
	struct actor actor = actor_of(request);
	int rc = contest_change_jury(request->db, request->arena, contest,
		request_form_or(request, "juror", ""), gives, &actor, request->error);
	return rc == ERROR_INPUT && strcmp(request->error->field, "user") == 0 ? fail_field(
			   request->error, "juror", "%s", arena_strdup(request->arena, request->error->text))
																		   : rc;
}

static int add_juror(struct request *request, const struct contest *contest)
{
	return change_jury(request, contest, true);
}

static int remove_juror(struct request *request, const struct contest *contest)
{
	struct arena *arena = request->arena;
	struct confirmation question = {
		.title = arena_printf(arena, "Remove %s from the jury of %s?",
			quote(arena, request_form_or(request, "juror", "")), contest->title),
		.section = "admin",
		.button = "Remove the juror",
		.back = arena_printf(arena, "/admin/contest/%s", contest->name),
	};
	confirmation_says(request, &question,
		"The user then sees and does on all its problems what every user may. You can give the "
		"role again.");
	return confirmation_given(request, &question) ? change_jury(request, contest, false)
												  : confirmation_ask(request, &question);
}

static int declare_final(struct request *request, const struct contest *contest)
{
	struct actor actor = actor_of(request);
	struct confirmation question = {
		.title = arena_printf(request->arena, "Declare the standings of %s final?", contest->title),
		.section = "admin",
		.button = "Declare them final",
		.back = arena_printf(request->arena, "/admin/contest/%s", contest->name),
	};
	confirmation_says(request, &question,
		"The freeze is lifted for everybody, on the scoreboard and on the problems’ rankings.");
	confirmation_says(request, &question,
		"Certificates can be downloaded. The contest does not change any more.");
	confirmation_says(request, &question,
		"If you want to reveal the places one by one, do that first: afterwards everybody knows "
		"them.");
	if (!confirmation_given(request, &question))
		return confirmation_ask(request, &question);
	int rc = database_lift_limit(request->db, request->error);
	return rc ? rc : contest_finish(request->db, request->arena, contest, &actor, request->error);
}

static int delete_contest(struct request *request, const struct contest *contest)
{
	struct actor actor = actor_of(request);
	struct confirmation question = {
		.title = arena_printf(request->arena, "Delete the contest %s?", contest->title),
		.section = "admin",
		.what = "the contest’s name",
		.typed = contest->name,
		.button = "Delete the contest",
		.back = arena_printf(request->arena, "/admin/contest/%s", contest->name),
	};
	confirmation_says(request, &question, "This deletes the contest’s page, %s and the scoreboard.",
		plural(request->arena, contest->entrants, "registration"));
	if (contest->final_at_ms != TIME_NULL)
		confirmation_says(request, &question,
			"Its final standings are lost, and nobody can download a certificate any more.");
	confirmation_says(request, &question,
		"Its problems stay as ordinary leaderboards, with all submissions, results and questions. "
		"Hidden problems stay hidden until somebody publishes them; visible ones stay visible.");
	confirmation_says(request, &question,
		"The problems lose the freeze. A deadline that has passed stays. Otherwise they have none, "
		"and everybody who sees them may submit.");
	if (contest->team_members)
		confirmation_says(request, &question,
			"Teams that have submitted stay, with their members. The others are deleted.");
	if (!confirmation_given(request, &question))
		return confirmation_ask(request, &question);
	int rc = database_lift_limit(request->db, request->error);
	if (!rc)
		rc = contest_delete(request->db, request->arena, contest, &actor, request->error);
	return rc ? rc : redirect(request, "/contests");
}

static const struct contest_action {
	const char *name;
	int (*run)(struct request *request, const struct contest *contest);
	const char *outcome;
} ACTIONS[] = {
	{ "save", save_contest, "The contest was saved." },
	{ "add", add_entrant, "The contestant is registered." },
	{ "remove", remove_entrant, "The contestant is no longer registered." },
	{ "judge", add_juror, "The user is in the jury of all problems." },
	{ "dismiss", remove_juror, "The user is no longer in the jury." },
	{ "final", declare_final, "The standings are final." },
	{ "delete", delete_contest, "The contest was deleted. Its problems stay as leaderboards." },
};

int action_contest_manage(struct request *request)
{
	const char *name = request_form_or(request, "action", "save");
	struct contest contest;
	struct contest_form form = { .contest = &contest };
	size_t i = 0;
	int rc = contest_of_manager(request, &contest);
	if (rc)
		return rc;
	while (i < COUNT(ACTIONS) && strcmp(ACTIONS[i].name, name) != 0)
		i++;
	rc = i < COUNT(ACTIONS) ? ACTIONS[i].run(request, &contest)
							: fail_field(request->error, "title",
								"This page has no such action; reload it and try again.");
	if (!rc && request->body.length) /* a confirmation page */
		return 0;
	if (rc)
		return answer_form(request, rc, &form);
	notice_leave(request, "%s", ACTIONS[i].outcome);
	return request->location ? 0 : redirect(request, "/admin/contest/%s", contest.name);
}
