/* Webhooks: the lists of a leaderboard and of the whole site, and one webhook with its
 * deliveries. */
#include "cgi/admin/webhooks.h"

#include "cgi/admin/leaderboard.h"
#include "cgi/http/confirmation.h"
#include "cgi/http/cookie.h"
#include "cgi/http/notice.h"
#include "cgi/http/paging.h"
#include "cgi/http/rate_limit.h"
#include "cgi/page/pages.h"
#include "lib/base/format.h"
#include "lib/base/scope.h"
#include "lib/leaderboard/role.h"
#include "templates/webhooks.h"

#include <stdlib.h>
#include <string.h>

/* This cookie carries a new secret to the webhook's page. */
static const char NEW_SECRET[] = "podium-new-webhook";

/* The events that the form for a new webhook ticks at first: the rare ones. */
enum { HEARS_AT_FIRST = HEARS_RECORD | HEARS_OPENED | HEARS_ENDED };

/* Fewer than webhook_deliveries returns, so that the settings below the list stay near. */
enum { deliveries_per_page = 10 };

static const struct rate_limit CHANGES_OF_USER = { "change webhooks", 120, 3600 };

/* ---- lists ---- */

static int64_t read_form_events(struct request *request)
{
	const char **names;
	int64_t events = 0;
	size_t count = request_form_values(request, "event", &names);
	for (size_t i = 0; i < count; i++)
		events |= webhook_event_named(names[i]);
	return events;
}

static int show_webhooks(struct request *request, struct webhooks_view *view)
{
	const struct leaderboard *leaderboard = view->leaderboard;
	struct webhook *webhooks;
	struct error own = { 0 };
	int rc = webhook_list(request->db, request->arena,
		leaderboard ? leaderboard->id : SQL_NULL_INTEGER, &webhooks, &view->count, &own);
	if (rc) {
		*request->error = own;
		return rc;
	}
	view->webhooks = webhooks;
	struct page page = form_page_make(request,
		leaderboard ? arena_printf(request->arena, "Webhooks of %s", leaderboard->name)
					: "Webhooks of the whole site",
		"admin");
	webhooks_page(&request->body, &page, view);
	return 0;
}

static int show_webhook_form_again(
	struct request *request, const struct webhook_order *order, int rc)
{
	if (error_is_ours(rc) || rc == ERROR_NOT_FOUND)
		return rc;
	request->status = rc == ERROR_LIMIT ? 429 : 422;
	struct webhooks_view view = {
		.leaderboard = order->leaderboard,
		.name = order->name,
		.address = order->address,
		.form = order->form,
		.events = order->events,
		.name_error = form_error(request, "name"),
		.address_error = form_error(request, "address"),
		.form_error = form_error(request, "form"),
		.event_error = form_error(request, "event"),
	};
	return show_webhooks(request, &view);
}

static int note_webhook_field(
	struct request *request, const struct webhook_order *order, enum webhook_field field)
{
	return form_note(request, webhook_check(request->arena, order, field, request->error));
}

static void show_secret_once(struct request *request, int64_t id, const char *secret)
{
	response_cookie(request,
		arena_printf(request->arena,
			"%s=%s; Path=/admin/hooks/%lld; HttpOnly; SameSite=Strict; Max-Age=60", NEW_SECRET,
			secret, (long long)id));
}

static int create_webhook(struct request *request, const struct leaderboard *leaderboard)
{
	struct actor actor = actor_of(request);
	webhook_secret secret;
	int64_t id;
	struct webhook_order order = {
		.leaderboard = leaderboard,
		.name = request_form_or(request, "name", ""),
		.address = request_form_or(request, "address", ""),
		.form = request_form_or(request, "form", ""),
		.events = read_form_events(request),
		.allowed = request->config->webhook_allowed,
	};
	int rc = rate_limit_hit(request, &CHANGES_OF_USER, request->viewer.name);
	for (int field = 0; field < webhook_field_count && !rc; field++)
		rc = note_webhook_field(request, &order, (enum webhook_field)field);
	if (!rc)
		rc = form_noted(request);
	if (!rc)
		rc = webhook_create(
			request->db, request->arena, &order, &actor, secret, &id, request->error);
	if (rc)
		return show_webhook_form_again(request, &order, rc);
	show_secret_once(request, id, secret);
	notice_leave(request, "The webhook %s was created.", order.name);
	return redirect(request, "/admin/hooks/%lld", (long long)id);
}

int page_leaderboard_hooks(struct request *request)
{
	struct leaderboard leaderboard;
	struct webhooks_view view = { .leaderboard = &leaderboard,
		.name = "",
		.address = "",
		.form = "json",
		.events = HEARS_AT_FIRST };
	int rc = leaderboard_of_admin(request, &leaderboard);
	return rc ? rc : show_webhooks(request, &view);
}

int action_leaderboard_hooks(struct request *request)
{
	struct leaderboard leaderboard;
	int rc = leaderboard_of_admin(request, &leaderboard);
	return rc ? rc : create_webhook(request, &leaderboard);
}

int page_site_hooks(struct request *request)
{
	struct webhooks_view view = {
		.name = "", .address = "", .form = "json", .events = HEARS_AT_FIRST
	};
	return show_webhooks(request, &view);
}

int action_site_hooks(struct request *request)
{
	return create_webhook(request, NULL);
}

/* ---- one webhook ---- */

int webhook_of_viewer(struct request *request, int64_t id, struct webhook *webhook)
{
	enum leaderboard_right right = RIGHT_NONE;
	int rc = webhook_find(request->db, request->arena, id, webhook, request->error);
	if (!rc && webhook->leaderboard_id != SQL_NULL_INTEGER)
		rc = leaderboard_right(request->db, request->arena, request->viewer.id,
			webhook->leaderboard_id, &right, request->error);
	return rc || right >= RIGHT_CHANGE || request->viewer.role == ROLE_ADMIN
		? rc
		: fail(request->error, ERROR_NOT_FOUND, "There is no webhook with this number.");
}

static const char *address_of_list(struct request *request, const struct webhook *webhook)
{
	return webhook->leaderboard
		? arena_printf(request->arena, "/admin/leaderboard/%s/hooks", webhook->leaderboard)
		: "/admin/hooks";
}

static int take_new_webhook_secret(struct request *request, struct webhook_view *view)
{
	const char *secret = request_cookie(request, NEW_SECRET);
	bool is_its = false;
	if (!secret)
		return 0;
	response_cookie(request,
		arena_printf(request->arena,
			"%s=; Path=/admin/hooks/%lld; HttpOnly; SameSite=Strict; Max-Age=0", NEW_SECRET,
			(long long)view->webhook->id));
	int rc = webhook_has_secret(
		request->db, request->arena, view->webhook->id, secret, &is_its, request->error);
	view->secret = is_its ? secret : NULL;
	return rc;
}

static int read_deliveries(struct request *request, struct webhook_view *view)
{
	struct webhook_delivery *deliveries;
	const struct webhook *webhook = view->webhook;
	int rc = webhook_deliveries(request->db, request->arena, webhook->id,
		query_number(request, "before", INT64_MAX), &deliveries, &view->count, request->error);
	if (rc)
		return rc;
	view->deliveries = deliveries;
	if (view->count > deliveries_per_page) {
		view->count = deliveries_per_page;
		view->older = deliveries[view->count - 1].event_id;
	}
	/* While an attempt is being made, next_at_ms still lies in the past: podium-hooks changes it
	 * after the attempt. */
	view->is_waiting = view->count && strcmp(webhook->state, "active") == 0
		&& strcmp(deliveries[0].state, "waiting") == 0 && deliveries[0].next_at_ms <= now_ms();
	return 0;
}

static int show_webhook(struct request *request, struct webhook_view *view)
{
	view->kept_days = request->config->retain_deliveries_days;
	const struct webhook *webhook = view->webhook;
	int rc = read_deliveries(request, view);
	if (rc)
		return rc;
	view->address = webhook_shown_address(request->arena, webhook->address);
	struct page page =
		form_page_make(request, arena_printf(request->arena, "Webhook %s", webhook->name), "admin");
	if (view->is_waiting) {
		page.refresh_s = 2;
		page.live_url =
			arena_printf(request->arena, "/admin/hooks/%lld/status", (long long)webhook->id);
	}
	webhook_page(&request->body, &page, view);
	return 0;
}

int page_hook(struct request *request)
{
	struct webhook webhook;
	struct webhook_view view = { .webhook = &webhook };
	int rc = webhook_of_viewer(request, path_number(request, 0), &webhook);
	if (!rc)
		rc = take_new_webhook_secret(request, &view);
	view.name = webhook.name;
	view.events = webhook.events;
	return rc ? rc : show_webhook(request, &view);
}

/* Answers with the changing part of the page as JSON, for live.js. */
int page_hook_status(struct request *request)
{
	struct webhook webhook;
	struct webhook_view view = { .webhook = &webhook };
	int rc = webhook_of_viewer(request, path_number(request, 0), &webhook);
	if (!rc)
		rc = read_deliveries(request, &view);
	if (rc)
		return rc;
	return respond_json(request,
		json_pack("{s:s, s:s, s:I, s:I}", "state", view.is_waiting ? "running" : "done", "webhook",
			webhook.state, "waiting", (json_int_t)webhook.waiting, "failures",
			(json_int_t)webhook.failures));
}

/* ---- actions ---- */

static int redirect_to_webhook(
	struct request *request, const struct webhook *webhook, const char *sentence)
{
	notice_leave(request, "%s", sentence);
	return redirect(request, "/admin/hooks/%lld", (long long)webhook->id);
}

static int test_webhook(
	struct request *request, const struct webhook *webhook, const struct actor *actor)
{
	int rc = webhook_test(request->db, request->arena, webhook, actor, request->error);
	return rc ? rc
			  : redirect_to_webhook(request, webhook,
				  "Podium sends a test. The list of deliveries shows the outcome.");
}

static int pause_webhook(
	struct request *request, const struct webhook *webhook, const struct actor *actor)
{
	struct confirmation question = {
		.title = arena_printf(request->arena, "Pause the webhook %s?", webhook->name),
		.section = "admin",
		.button = "Pause it",
		.back = arena_printf(request->arena, "/admin/hooks/%lld", (long long)webhook->id),
	};
	confirmation_says(
		request, &question, "It never receives the events that happen until you resume it.");
	if (webhook->waiting)
		confirmation_says(request, &question, "%s wait until then, for a day at most.",
			plural(request->arena, webhook->waiting, "event"));
	if (!confirmation_given(request, &question))
		return confirmation_ask(request, &question);
	int rc = webhook_pause(request->db, request->arena, webhook, actor, request->error);
	return rc ? rc : redirect_to_webhook(request, webhook, "The webhook is paused.");
}

static int resume_webhook(
	struct request *request, const struct webhook *webhook, const struct actor *actor)
{
	int rc = webhook_resume(request->db, request->arena, webhook, actor, request->error);
	return rc ? rc : redirect_to_webhook(request, webhook, "The webhook is active.");
}

static int change_webhook(
	struct request *request, const struct webhook *webhook, const struct actor *actor)
{
	const struct webhook_order order = { .name = request_form_or(request, "name", ""),
		.events = read_form_events(request) };
	int rc = note_webhook_field(request, &order, WEBHOOK_NAME);
	if (!rc)
		rc = note_webhook_field(request, &order, WEBHOOK_EVENT);
	if (!rc)
		rc = form_noted(request);
	if (!rc)
		rc = webhook_change(
			request->db, request->arena, webhook, order.name, order.events, actor, request->error);
	return rc ? rc : redirect_to_webhook(request, webhook, "The webhook was saved.");
}

static int rotate_webhook(
	struct request *request, const struct webhook *webhook, const struct actor *actor)
{
	webhook_secret secret;
	const char *text = request_form_or(request, "hours", "");
	size_t digits = strspn(text, "0123456789");
	int64_t hours = digits && digits <= 4 && !text[digits] ? strtoll(text, NULL, 10) : -1;
	int rc =
		webhook_rotate(request->db, request->arena, webhook, hours, actor, secret, request->error);
	if (rc)
		return rc;
	show_secret_once(request, webhook->id, secret);
	return redirect_to_webhook(request, webhook, "The webhook has a new secret.");
}

static int delete_webhook(
	struct request *request, const struct webhook *webhook, const struct actor *actor)
{
	struct confirmation question = {
		.title = arena_printf(request->arena, "Delete the webhook %s?", webhook->name),
		.section = "admin",
		.what = "the webhook’s name",
		.typed = webhook->name,
		.button = "Delete the webhook",
		.back = arena_printf(request->arena, "/admin/hooks/%lld", (long long)webhook->id),
	};
	confirmation_says(request, &question,
		"Podium stops sending to %s, and deletes the secret and the list of deliveries.",
		webhook_shown_address(request->arena, webhook->address));
	if (!confirmation_given(request, &question))
		return confirmation_ask(request, &question);
	int rc = webhook_delete(request->db, request->arena, webhook, actor, request->error);
	if (rc)
		return rc;
	notice_leave(request, "The webhook %s was deleted.", webhook->name);
	return redirect(request, "%s", address_of_list(request, webhook));
}

static const struct {
	const char *name;
	int (*run)(struct request *request, const struct webhook *webhook, const struct actor *actor);
} ACTIONS[] = { { "test", test_webhook }, { "pause", pause_webhook }, { "resume", resume_webhook },
	{ "change", change_webhook }, { "rotate", rotate_webhook }, { "delete", delete_webhook } };

static int run_webhook_action(struct request *request, const struct webhook *webhook)
{
	struct actor actor = actor_of(request);
	const char *action = request_form_or(request, "action", "");
	for (size_t i = 0; i < COUNT(ACTIONS); i++)
		if (strcmp(ACTIONS[i].name, action) == 0)
			return ACTIONS[i].run(request, webhook, &actor);
	return fail_field(request->error, "", "This page has no such action; reload it and try again.");
}

int action_hook(struct request *request)
{
	struct webhook webhook;
	int rc = webhook_of_viewer(request, path_number(request, 0), &webhook);
	if (!rc)
		rc = rate_limit_hit(request, &CHANGES_OF_USER, request->viewer.name);
	if (!rc)
		rc = run_webhook_action(request, &webhook);
	if (rc != ERROR_INPUT && rc != ERROR_CONFLICT)
		return rc;
	request->status = rc == ERROR_CONFLICT ? 409 : 422;
	struct webhook_view view = {
		.webhook = &webhook,
		.name = request_form_or(request, "name", webhook.name),
		.events = request_form(request, "name") ? read_form_events(request) : webhook.events,
		.name_error = form_error(request, "name"),
		.event_error = form_error(request, "event"),
	};
	return show_webhook(request, &view);
}
