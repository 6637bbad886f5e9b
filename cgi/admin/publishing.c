/* The visibility of a leaderboard, practice after its deadline, its freeze and its archive. */
#include "cgi/admin/publishing.h"

#include "cgi/admin/leaderboard.h"
#include "cgi/http/confirmation.h"
#include "cgi/http/notice.h"
#include "cgi/http/paging.h"
#include "cgi/page/pages.h"
#include "lib/base/format.h"
#include "lib/base/scope.h"
#include "lib/judging/internal_error.h"
#include "lib/leaderboard/freeze.h"
#include "lib/leaderboard/publication.h"
#include "templates/publishing.h"

#include <stdlib.h>
#include <string.h>

enum { members_per_page = 25 };

/* Sets *until_ms to the start of the contest until which the leaderboard stays hidden, or
 * TIME_NULL. */
static int read_wait(struct request *request, const struct leaderboard *leaderboard,
	int64_t *until_ms, struct error *error)
{
	struct publication publication;
	*until_ms = TIME_NULL;
	if (!leaderboard->wanted_visibility)
		return 0;
	int rc = publication_read(request->db, request->arena, leaderboard->id, &publication, error);
	if (!rc)
		*until_ms = publication.waits_until_ms;
	return rc == ERROR_NOT_FOUND ? 0 : rc; /* published meanwhile */
}

static int show_publishing(struct request *request, struct publishing_form *form)
{
	const struct leaderboard *leaderboard = form->leaderboard;
	struct members members;
	struct error own = { 0 };
	form->visibility_error = form_error(request, "visibility");
	form->frozen_error = form_error(request, "frozen");
	int rc = read_wait(request, leaderboard, &form->waits_until_ms, &own);
	if (!rc)
		rc = publishing_members(request->db, request->arena, leaderboard->id, &members, &own);
	if (rc) {
		*request->error = own;
		return rc;
	}
	rc = paging_make(&form->paging, (int64_t)members.count, members_per_page,
		query_number(request, "page", 1), &own);
	if (rc) {
		*request->error = own;
		return rc;
	}
	form->members = members.members, form->member_count = members.count;
	form->removed = members.removed, form->removed_count = members.removed_count;
	struct page page = form_page_make(
		request, arena_printf(request->arena, "Visibility of %s", leaderboard->name), "admin");
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
		.leaderboard = &leaderboard,
		.visibility = leaderboard.wanted_visibility && strcmp(leaderboard.visibility, "hidden") == 0
			? leaderboard.wanted_visibility
			: leaderboard.visibility,
		.frozen = frozen,
		.practice = leaderboard.practice,
		.archived = leaderboard.archived_at_ms != TIME_NULL,
	};
	return show_publishing(request, &form);
}

/* ---- the form ---- */

static void say_visibility(struct request *request, struct confirmation *question,
	const struct leaderboard *before, const char *after)
{
	if (strcmp(after, "hidden") == 0)
		confirmation_says(request, question,
			"Only its creator and admins see it then. Authors do not see their own submissions "
			"on it, and members do not see it.");
	else if (strcmp(after, "closed") == 0 && strcmp(before->visibility, "public") == 0)
		confirmation_says(request, question,
			"Only its members see it then. Users who have submitted become members. Everyone "
			"else gets “not found”.");
}

/* Adds to the question what the change of the freeze does now. Adding or lifting a freeze that lies
 * in the future has no effect on the public yet, so it adds nothing. */
static void say_freeze(struct request *request, struct confirmation *question,
	const struct leaderboard *before, int64_t after_ms)
{
	format_text since;
	bool stands = freeze_stands(before->frozen_at_ms, now_ms());
	format_utc(since, after_ms != TIME_NULL ? after_ms : before->frozen_at_ms);
	if (after_ms != TIME_NULL && after_ms <= now_ms() + 1000)
		confirmation_says(request, question,
			"The public ranking stays as it was at %s. Later results are not ranked, and only "
			"their authors see them, until you lift the freeze.",
			since);
	else if (stands)
		confirmation_says(request, question,
			"All results since %s are ranked and public immediately. You cannot undo this.", since);
}

/* Makes the question about a change, with a sentence for each consequence for the public. A change
 * without such a sentence needs no confirmation. Users confirm only with a button, because every
 * change can be undone. */
static struct confirmation publishing_question(
	struct request *request, const struct leaderboard *before, const struct publishing *after)
{
	struct confirmation question = {
		.title = arena_printf(request->arena, "Change %s for everybody?", before->name),
		.section = "admin",
		.button = "Change it",
		.back = arena_printf(request->arena, "/admin/leaderboard/%s/publishing", before->name),
	};
	if (after->visibility && strcmp(before->visibility, after->visibility) != 0)
		say_visibility(request, &question, before, after->visibility);
	if (before->frozen_at_ms != after->frozen_at_ms)
		say_freeze(request, &question, before, after->frozen_at_ms);
	if (after->archived && before->archived_at_ms == TIME_NULL)
		confirmation_says(request, &question,
			"It takes no submissions any more and moves from the front page to the archive. Queued "
			"and running jobs finish, and results stay.");
	return question;
}

static int save_setting(
	struct request *request, const struct leaderboard *leaderboard, struct publishing *after)
{
	struct actor actor = actor_of(request);
	struct confirmation question = publishing_question(request, leaderboard, after);
	if (question.count && !confirmation_given(request, &question))
		return confirmation_ask(request, &question);
	return publishing_change(
		request->db, request->arena, leaderboard, after, &actor, request->error);
}

static int save_settings(
	struct request *request, const struct leaderboard *leaderboard, struct publishing *after)
{
	const char *frozen = request_form_or(request, "frozen", "");
	format_text unchanged;
	format_datetime_local(unchanged, leaderboard->frozen_at_ms);
	after->visibility = request_form_or(request, "visibility", "");
	after->practice = request_form_flag(request, "practice");
	after->archived = request_form_flag(request, "archived");
	form_note(request, publishing_check_visibility(after->visibility, request->error));
	if (!*frozen)
		after->frozen_at_ms = TIME_NULL;
	else if (strcmp(frozen, unchanged) != 0 && parse_utc(frozen, &after->frozen_at_ms))
		form_note(request,
			fail_field(request->error, "frozen",
				"Type a date and time as 2026-11-21 06:10, in UTC, or leave the field empty."));
	return request->fault_count ? form_noted(request) : save_setting(request, leaderboard, after);
}

static int freeze_now(
	struct request *request, const struct leaderboard *leaderboard, struct publishing *after)
{
	after->frozen_at_ms = now_ms();
	return save_setting(request, leaderboard, after);
}

static int lift_freeze(
	struct request *request, const struct leaderboard *leaderboard, struct publishing *after)
{
	after->frozen_at_ms = TIME_NULL;
	return save_setting(request, leaderboard, after);
}

static int publish_leaderboard(
	struct request *request, const struct leaderboard *leaderboard, struct publishing *after)
{
	after->visibility = "public";
	return save_setting(request, leaderboard, after);
}

static int accept_warnings(
	struct request *request, const struct leaderboard *leaderboard, struct publishing *after)
{
	(void)after;
	struct actor actor = actor_of(request);
	return publication_accept(request->db, request->arena, leaderboard,
		strtoll(request_form_or(request, "dry_run", "0"), NULL, 10), &actor, request->error);
}

static int open_device(
	struct request *request, const struct leaderboard *leaderboard, struct publishing *after)
{
	(void)after;
	struct actor actor = actor_of(request);
	return publication_accept_device(request->db, request->arena, leaderboard,
		request_form_or(request, "gpu", ""),
		strtoll(request_form_or(request, "dry_run", "0"), NULL, 10), &actor, request->error);
}

static int note_internal_errors_seen(
	struct request *request, const struct leaderboard *leaderboard, struct publishing *after)
{
	(void)after;
	return internal_errors_seen(request->db, leaderboard->id, request->error);
}

static int remove_member(
	struct request *request, const struct leaderboard *leaderboard, struct publishing *after)
{
	(void)after;
	struct actor actor = actor_of(request);
	const char *name = request_form_or(request, "member", "");
	struct confirmation question = {
		.title = arena_printf(request->arena, "Remove %s from %s?", name, leaderboard->name),
		.section = "admin",
		.what = "the member’s name",
		.typed = name,
		.button = "Remove the member",
		.back = arena_printf(request->arena, "/admin/leaderboard/%s/publishing", leaderboard->name),
	};
	confirmation_says(request, &question,
		"While the leaderboard is closed, %s sees neither it nor the submissions there. "
		"Submissions and ranks stay. No invite code admits %s again until you readmit the user on "
		"this page.",
		name, name);
	if (!confirmation_given(request, &question))
		return confirmation_ask(request, &question);
	return publishing_remove_member(
		request->db, request->arena, leaderboard, name, &actor, request->error);
}

static int readmit_member(
	struct request *request, const struct leaderboard *leaderboard, struct publishing *after)
{
	(void)after;
	struct actor actor = actor_of(request);
	return publishing_readmit(request->db, request->arena, leaderboard,
		request_form_or(request, "member", ""), &actor, request->error);
}

/* The actions of the form. Each gets the stored settings in `after`; an action that changes
 * settings changes `after` and stores it. */
static const struct publishing_action {
	const char *name;
	int (*run)(
		struct request *request, const struct leaderboard *leaderboard, struct publishing *after);
	const char *outcome;
} ACTIONS[] = {
	{ "save", save_settings, "The settings were saved." },
	{ "freeze", freeze_now, "The ranking is frozen." },
	{ "lift", lift_freeze, "The freeze was lifted." },
	{ "publish", publish_leaderboard, "The leaderboard is public." },
	{ "accept", accept_warnings, "The warnings were accepted." },
	{ "open", open_device, "The device takes submissions now." },
	{ "seen", note_internal_errors_seen, "The internal errors are marked as seen." },
	{ "remove", remove_member, "The member was removed." },
	{ "readmit", readmit_member, "The user is a member again." },
};

static int run_publishing_action(struct request *request, const struct leaderboard *leaderboard,
	const struct publishing_action **action)
{
	const char *name = request_form_or(request, "action", "save");
	struct publishing after = {
		.practice = leaderboard->practice,
		.frozen_at_ms = leaderboard->frozen_at_ms,
		.archived = leaderboard->archived_at_ms != TIME_NULL,
	};
	for (size_t i = 0; i < COUNT(ACTIONS); i++)
		if (strcmp(ACTIONS[i].name, name) == 0) {
			*action = &ACTIONS[i];
			return ACTIONS[i].run(request, leaderboard, &after);
		}
	return fail_field(
		request->error, "visibility", "This page has no such action; reload it and try again.");
}

/* Leads to the check if the leaderboard waits for it. */
static int show_outcome(struct request *request, const struct leaderboard *before,
	const struct publishing_action *action)
{
	struct leaderboard now;
	int rc = leaderboard_by_name(request->db, request->arena, before->name, &now, request->error);
	if (rc)
		return rc;
	const char *next = request_form(request, "next");
	if (now.wanted_visibility && !before->wanted_visibility) {
		int64_t waits_until_ms;
		rc = read_wait(request, &now, &waits_until_ms, request->error);
		if (rc)
			return rc;
		if (waits_until_ms == TIME_NULL)
			notice_leave(request, "Podium checks the task and publishes %s when the check passes.",
				now.name);
		else
			notice_leave(request,
				"Podium checks the task and publishes %s when its contest starts, if the check has "
				"passed.",
				now.name);
		return redirect(request, "/admin/leaderboard/%s/dryrun", now.name);
	}
	notice_leave(request, "%s", action->outcome);
	return next ? redirect(request, "%s", own_path(next))
				: redirect(request, "/admin/leaderboard/%s/publishing", now.name);
}

int action_publishing(struct request *request)
{
	struct leaderboard leaderboard;
	const struct publishing_action *action = NULL;
	int rc = leaderboard_of_admin(request, &leaderboard);
	if (!rc)
		rc = run_publishing_action(request, &leaderboard, &action);
	if (!rc && request->body.length) /* a confirmation page */
		return 0;
	if (!rc)
		return show_outcome(request, &leaderboard, action);
	if (rc != ERROR_INPUT && rc != ERROR_CONFLICT)
		return rc;
	request->status = rc == ERROR_CONFLICT ? 409 : 422;
	if (rc == ERROR_CONFLICT && request->error->code)
		fail_field(
			request->error, "visibility", "%s", arena_strdup(request->arena, request->error->text));
	struct publishing_form form = {
		.leaderboard = &leaderboard,
		.visibility = request_form_or(request, "visibility", leaderboard.visibility),
		.frozen = request_form_or(request, "frozen", ""),
		.practice = request_form_flag(request, "practice"),
		.archived = request_form_flag(request, "archived"),
	};
	return show_publishing(request, &form);
}
