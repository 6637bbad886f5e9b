/* Co-creators and the jury of a leaderboard, and the ranking that the jury sees. */
#include "cgi/admin/roles.h"

#include "cgi/admin/leaderboard.h"
#include "cgi/http/confirmation.h"
#include "cgi/http/notice.h"
#include "cgi/http/rate_limit.h"
#include "cgi/page/pages.h"
#include "lib/base/format.h"
#include "lib/base/scope.h"
#include "lib/leaderboard/freeze.h"
#include "templates/roles.h"

#include <string.h>

struct creator_row {
	const char *name;
};
static const struct column CREATOR_COLUMNS[] = { TEXT(struct creator_row, name) };
static const struct statement CREATOR =
	SELECT(struct creator_row, CREATOR_COLUMNS, "SELECT name FROM users WHERE id = ?");

enum { ANSWER_ROLES, ANSWER_CREATOR };
static const struct statement *const PARTS[] = {
	[ANSWER_ROLES] = &leaderboard_roles_reading,
	[ANSWER_CREATOR] = &CREATOR,
};
static const struct bundle PAGE = BUNDLE(PARTS);

static int read_roles(struct request *request, struct roles_view *view, struct error *error)
{
	struct database_answer answers[COUNT(PARTS)];
	int rc = database_answers(request->db, request->arena, &PAGE, answers, error, "ii",
		view->leaderboard->id, view->leaderboard->creator_id);
	if (rc)
		return rc;
	const struct creator_row *creator = answers[ANSWER_CREATOR].rows;
	view->roles = answers[ANSWER_ROLES].rows, view->count = answers[ANSWER_ROLES].count;
	view->creator = answers[ANSWER_CREATOR].count ? creator->name : NULL;
	return 0;
}

static int show_roles(struct request *request, const struct leaderboard *leaderboard)
{
	enum leaderboard_right right;
	struct error own = { 0 };
	struct roles_view view = { .leaderboard = leaderboard,
		.user = request_form_or(request, "user", ""),
		.role = request_form_or(request, "role", "jury"),
		.user_error = form_error(request, "user"),
		.role_error = form_error(request, "role") };
	int rc = read_roles(request, &view, &own);
	if (!rc)
		rc = leaderboard_right(
			request->db, request->arena, request->viewer.id, leaderboard->id, &right, &own);
	if (rc) {
		*request->error = own;
		return rc;
	}
	view.may_give = right >= RIGHT_OWN;
	struct page page = form_page_make(
		request, arena_printf(request->arena, "Roles on %s", leaderboard->name), "admin");
	roles_page(&request->body, &page, &view);
	return 0;
}

int page_roles(struct request *request)
{
	struct leaderboard leaderboard;
	int rc = leaderboard_of_admin(request, &leaderboard);
	return rc ? rc : show_roles(request, &leaderboard);
}

static int ask_to_take(struct request *request, const struct role_change *change)
{
	struct confirmation question = {
		.title = arena_printf(
			request->arena, "Take the role of %s on %s away?", change->user, change->leaderboard),
		.section = "admin",
		.button = "Take the role away",
		.back = arena_printf(request->arena, "/admin/leaderboard/%s/roles", change->leaderboard),
	};
	confirmation_says(request, &question,
		"%s then sees and does here what every user may. You can give the role again.",
		change->user);
	return confirmation_ask(request, &question);
}

static int run_action(struct request *request, const struct leaderboard *leaderboard)
{
	const struct actor by = actor_of(request);
	const struct confirmation any = { 0 };
	const char *action = request_form_or(request, "action", "");
	bool gives = strcmp(action, "give") == 0;
	const struct role_change change = { leaderboard->id, leaderboard->name,
		request_form_or(request, "user", ""), gives ? request_form_or(request, "role", "") : NULL,
		&by };
	if (!gives && strcmp(action, "take") != 0)
		return fail_field(
			request->error, "role", "This page has no such action; reload it and try again.");
	int rc = gives || confirmation_given(request, &any)
		? leaderboard_role_change(request->db, &change, request->error)
		: ask_to_take(request, &change);
	if (rc || request->body.length) /* a confirmation page */
		return rc;
	if (gives)
		notice_leave(request, "%s has the role %s now.", change.user, change.role);
	else
		notice_leave(request, "%s has no role now.", change.user);
	return 0;
}

int action_roles(struct request *request)
{
	struct leaderboard leaderboard;
	int rc = leaderboard_of_owner(request, &leaderboard);
	if (rc)
		return rc;
	rc = run_action(request, &leaderboard);
	if (!rc)
		return request->body.length
			? 0
			: redirect(request, "/admin/leaderboard/%s/roles", leaderboard.name);
	if (rc != ERROR_INPUT)
		return rc;
	request->status = 422;
	return show_roles(request, &leaderboard);
}

static const struct rate_limit UNFROZEN = { "unfrozen ranking", 30, 60 };

int unfrozen_of_reader(struct request *request, const struct leaderboard *leaderboard,
	struct unfrozen_rank **ranks, size_t *count)
{
	int rc = rate_limit_hit(request, &UNFROZEN, request->viewer.name);
	return rc ? rc
			  : unfrozen_ranks(
				  request->db, request->arena, leaderboard->id, ranks, count, request->error);
}

int page_unfrozen(struct request *request)
{
	struct leaderboard leaderboard;
	struct unfrozen_rank *ranks;
	struct unfrozen_view view = { .leaderboard = &leaderboard };
	int rc = leaderboard_of_reader(request, &leaderboard);
	if (rc)
		return rc;
	view.is_frozen = freeze_stands(leaderboard.frozen_at_ms, now_ms());
	if (view.is_frozen)
		rc = unfrozen_of_reader(request, &leaderboard, &ranks, &view.count);
	if (rc)
		return rc;
	view.ranks = view.count ? ranks : NULL;
	struct page page = page_make(request,
		arena_printf(request->arena, "Ranking of %s without the freeze", leaderboard.name),
		"admin");
	unfrozen_page(&request->body, &page, &view);
	return 0;
}
