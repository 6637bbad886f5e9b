/* Later deadlines for single users of a leaderboard, and disqualifications. */
#include "cgi/admin/exceptions.h"

#include "cgi/admin/leaderboard.h"
#include "cgi/http/confirmation.h"
#include "cgi/http/notice.h"
#include "cgi/page/pages.h"
#include "lib/base/format.h"
#include "lib/judging/review.h"
#include "templates/exceptions.h"

#include <string.h>

static int show_exceptions(struct request *request, const struct leaderboard *leaderboard)
{
	struct exception *exceptions;
	struct error own = { 0 };
	struct exceptions_view view = { .leaderboard = leaderboard,
		.action = request_form_or(request, "action", ""),
		.user = request_form_or(request, "user", ""),
		.deadline = request_form_or(request, "deadline", ""),
		.reason = request_form_or(request, "reason", ""),
		.user_error = form_error(request, "user"),
		.deadline_error = form_error(request, "deadline"),
		.reason_error = form_error(request, "reason") };
	int rc = exceptions_list(
		request->db, request->arena, leaderboard->id, &exceptions, &view.count, &own);
	if (rc) {
		*request->error = own;
		return rc;
	}
	view.exceptions = exceptions;
	struct page page = form_page_make(
		request, arena_printf(request->arena, "Exceptions on %s", leaderboard->name), "admin");
	exceptions_page(&request->body, &page, &view);
	return 0;
}

int page_exceptions(struct request *request)
{
	struct leaderboard leaderboard;
	int rc = leaderboard_of_admin(request, &leaderboard);
	return rc ? rc : show_exceptions(request, &leaderboard);
}

/* ---- the forms ---- */

static int extend(struct request *request, const struct exception_order *order)
{
	int64_t deadline_ms;
	if (parse_utc(request_form_or(request, "deadline", ""), &deadline_ms))
		return fail_field(
			request->error, "deadline", "Type a date and time as 2026-11-21 06:10, in UTC.");
	return exception_extend(request->db, order, deadline_ms, request->error);
}

static int take_extension(struct request *request, const struct exception_order *order)
{
	return exception_extend(request->db, order, TIME_NULL, request->error);
}

static int disqualify(struct request *request, const struct exception_order *order)
{
	const char *reason;
	struct confirmation question = {
		.title = arena_printf(
			request->arena, "Disqualify %s on %s?", order->user, order->leaderboard->name),
		.section = "admin",
		.button = "Disqualify the user",
		.back = arena_printf(
			request->arena, "/admin/leaderboard/%s/exceptions", order->leaderboard->name),
	};
	int rc = review_check_reason(
		request->arena, request_form_or(request, "reason", ""), &reason, request->error);
	if (rc)
		return rc;
	confirmation_says(request, &question,
		"Nothing of %s is ranked on this leaderboard any more. The submissions stay, and new ones "
		"still run.",
		order->user);
	confirmation_says(request, &question, "%s reads: “%s”", order->user, reason);
	confirmation_says(request, &question, "You can lift this.");
	return confirmation_given(request, &question)
		? exception_disqualify(request->db, order, reason, request->error)
		: confirmation_ask(request, &question);
}

static int requalify(struct request *request, const struct exception_order *order)
{
	return exception_disqualify(request->db, order, NULL, request->error);
}

static const struct exception_action {
	const char *name;
	int (*run)(struct request *request, const struct exception_order *order);
	const char *outcome; /* continues the user's name */
} ACTIONS[] = {
	{ "extend", extend, "has a later deadline now." },
	{ "unextend", take_extension, "has the leaderboard’s deadline now." },
	{ "disqualify", disqualify, "is disqualified on this leaderboard." },
	{ "requalify", requalify, "is no longer disqualified on this leaderboard." },
};

static int run_exception(struct request *request, const struct leaderboard *leaderboard)
{
	const struct actor by = actor_of(request);
	const struct exception_order order = { leaderboard, request_form_or(request, "user", ""), &by };
	const char *name = request_form_or(request, "action", "");
	for (size_t i = 0; i < sizeof ACTIONS / sizeof *ACTIONS; i++)
		if (strcmp(ACTIONS[i].name, name) == 0) {
			int rc = ACTIONS[i].run(request, &order);
			if (!rc && !request->body.length)
				notice_leave(request, "%s %s", order.user, ACTIONS[i].outcome);
			return rc;
		}
	return fail_field(
		request->error, "user", "This page has no such action; reload it and try again.");
}

int action_exceptions(struct request *request)
{
	struct leaderboard leaderboard;
	int rc = leaderboard_of_admin(request, &leaderboard);
	if (rc)
		return rc;
	rc = run_exception(request, &leaderboard);
	if (!rc && request->body.length) /* a confirmation page */
		return 0;
	if (!rc)
		return redirect(request, "/admin/leaderboard/%s/exceptions", leaderboard.name);
	if (rc != ERROR_INPUT)
		return rc;
	request->status = 422;
	return show_exceptions(request, &leaderboard);
}
