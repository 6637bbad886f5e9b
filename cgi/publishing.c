/* Who sees a leaderboard, what happens after its deadline, freezing its ranking, archiving it. */
#include "cgi/publishing.h"

#include "cgi/admin_leaderboard.h"
#include "cgi/pages.h"
#include "lib/format.h"
#include "lib/scope.h"
#include "templates/publishing.h"

#include <string.h>

static int show(struct request *request, struct publishing_form *form)
{
	const struct leaderboard *leaderboard = form->leaderboard;
	struct member *members = NULL;
	form->visibility_error = form_error(request, "visibility");
	form->frozen_error = form_error(request, "frozen");
	int rc = publishing_members(request->db, request->arena, leaderboard->id, &members, &form->member_count, request->error);
	if (rc)
		return rc;
	form->members = members;
	struct page page = page_make(request, arena_printf(request->arena, "Publish %s", leaderboard->name), "admin");
	if (request_query(request, "done"))
		page.notice = "It was saved.";
	publishing_page(&request->body, &page, form);
	return 0;
}

int page_publishing(struct request *request)
{
	struct leaderboard leaderboard;
	format_text frozen;
	int rc = leaderboard_of_admin(request, &leaderboard);
	if (rc)
		return rc;
	format_datetime_local(frozen, leaderboard.frozen_at_ms);
	struct publishing_form form = {
		.leaderboard = &leaderboard, .visibility = leaderboard.visibility, .frozen = frozen,
		.practice = leaderboard.practice, .archived = leaderboard.archived_at_ms != TIME_NULL,
	};
	return show(request, &form);
}

/* ---- the form ---- */

static int save(struct request *request, const struct leaderboard *leaderboard, struct publishing *after)
{
	struct actor actor = actor_of(request);
	return publishing_change(request->db, request->arena, leaderboard, after, &actor, request->error);
}

static int save_all(struct request *request, const struct leaderboard *leaderboard, struct publishing *after)
{
	const char *frozen = request_form_or(request, "frozen", "");
	format_text unchanged;
	format_datetime_local(unchanged, leaderboard->frozen_at_ms);
	after->visibility = request_form_or(request, "visibility", "");
	after->practice = request_form_flag(request, "practice");
	after->archived = request_form_flag(request, "archived");
	if (!*frozen)
		after->frozen_at_ms = TIME_NULL;
	else if (strcmp(frozen, unchanged) != 0 && parse_utc(frozen, &after->frozen_at_ms))
		return fail_field(request->error, "frozen", "This is no date and time; write it as 2026-11-21 06:10, in UTC, or leave the "
			"field empty.");
	return save(request, leaderboard, after);
}

static int freeze_now(struct request *request, const struct leaderboard *leaderboard, struct publishing *after)
{
	after->frozen_at_ms = now_ms();
	return save(request, leaderboard, after);
}

static int lift(struct request *request, const struct leaderboard *leaderboard, struct publishing *after)
{
	after->frozen_at_ms = TIME_NULL;
	return save(request, leaderboard, after);
}

static int publish(struct request *request, const struct leaderboard *leaderboard, struct publishing *after)
{
	after->visibility = "public";
	return save(request, leaderboard, after);
}

static int remove_member(struct request *request, const struct leaderboard *leaderboard, struct publishing *after)
{
	(void)after;
	struct actor actor = actor_of(request);
	return publishing_remove_member(request->db, request->arena, leaderboard, request_form_or(request, "member", ""), &actor,
		request->error);
}

/* Each begins with what holds and changes a part of it. */
static const struct {
	const char *name;
	int (*run)(struct request *request, const struct leaderboard *leaderboard, struct publishing *after);
} ACTIONS[] = {
	{ "save", save_all }, { "freeze", freeze_now }, { "lift", lift }, { "publish", publish }, { "remove", remove_member },
};

static int run_action(struct request *request, const struct leaderboard *leaderboard)
{
	const char *action = request_form_or(request, "action", "save");
	struct publishing after = { leaderboard->visibility, leaderboard->practice, leaderboard->frozen_at_ms,
		leaderboard->archived_at_ms != TIME_NULL };
	for (size_t i = 0; i < COUNT(ACTIONS); i++)
		if (strcmp(ACTIONS[i].name, action) == 0)
			return ACTIONS[i].run(request, leaderboard, &after);
	return fail_field(request->error, "visibility", "This page has no such action; reload it and try again.");
}

int action_publishing(struct request *request)
{
	struct leaderboard leaderboard;
	int rc = leaderboard_of_admin(request, &leaderboard);
	if (!rc)
		rc = run_action(request, &leaderboard);
	if (rc != ERROR_INPUT)
		return rc ? rc : redirect(request, "/admin/leaderboard/%s/publishing?done=1", leaderboard.name);
	request->status = 422;
	struct publishing_form form = {
		.leaderboard = &leaderboard, .visibility = request_form_or(request, "visibility", ""),
		.frozen = request_form_or(request, "frozen", ""), .practice = request_form_flag(request, "practice"),
		.archived = request_form_flag(request, "archived"),
	};
	return show(request, &form);
}
