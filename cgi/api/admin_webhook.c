/* Webhooks. A viewer who may not change a webhook's leaderboard gets "not found" for the
 * webhook. */
#include "cgi/admin/leaderboard.h"
#include "cgi/admin/webhooks.h"
#include "cgi/api/admin.h"
#include "lib/webhook/webhook.h"

#include <string.h>

static json_t *event_names(int64_t events)
{
	json_t *names = json_array();
	for (size_t i = 0; i < webhook_event_kind_count; i++)
		if (events & webhook_event_kinds[i].bit)
			json_array_append_new(names, json_string(webhook_event_kinds[i].name));
	return names;
}

static json_t *webhook_json(struct request *request, const struct webhook *one)
{
	return json_pack("{s:I, s:o, s:s, s:s, s:s, s:o, s:s, s:o, s:I, s:o, s:I, s:o, s:o, s:o}", "id",
		(json_int_t)one->id, "leaderboard", json_text(one->leaderboard), "name", one->name,
		"address", webhook_shown_address(request->arena, one->address), "form", one->form, "events",
		event_names(one->events), "state", one->state, "reason", json_text(one->reason), "failures",
		(json_int_t)one->failures, "retry_at", json_moment(one->retry_at_ms), "waiting",
		(json_int_t)one->waiting, "created_by", json_text(one->creator), "created_at",
		json_moment(one->created_at_ms), "old_secret_until", json_moment(one->old_secret_until_ms));
}

/* Finds the leaderboard of this name, if the viewer may change it. "" stands for the whole site,
 * which only admins may choose; *id is then SQL_NULL_INTEGER. */
static int find_webhook_leaderboard(
	struct request *request, const char *name, struct leaderboard *leaderboard, int64_t *id)
{
	*id = SQL_NULL_INTEGER;
	if (!*name)
		return request->viewer.role == ROLE_ADMIN
			? 0
			: fail_field(request->error, "leaderboard",
				"Name a leaderboard of yours; the webhooks of the whole site are for admins.");
	int rc = leaderboard_of_admin_named(request, name, leaderboard);
	if (!rc)
		*id = leaderboard->id;
	return rc;
}

int api_admin_webhooks(struct request *request)
{
	const char *name = request_query(request, "leaderboard");
	struct leaderboard leaderboard;
	struct webhook *rows;
	size_t count;
	int64_t id;
	int rc = find_webhook_leaderboard(request, name ? name : "", &leaderboard, &id);
	if (!rc)
		rc = webhook_list(request->db, request->arena, id, &rows, &count, request->error);
	if (rc)
		return rc;
	json_t *items = json_array();
	for (size_t i = 0; i < count; i++)
		json_array_append_new(items, webhook_json(request, &rows[i]));
	return respond_list(request, items, NULL);
}

static int read_json_events(struct request *request, int64_t *events)
{
	const char **names;
	size_t count;
	int rc = api_texts(request, "events", &names, &count);
	*events = 0;
	for (size_t i = 0; i < count && !rc; i++) {
		int64_t bit = webhook_event_named(names[i]);
		*events |= bit;
		if (!bit)
			rc = fail_field(request->error, "events",
				"An event is record, ranked, job, opened, ended, contest_started, contest_ended or "
				"standings_final.");
	}
	return rc;
}

/* Reads the webhook with its new secret, which no later answer contains. */
static int read_with_secret(struct request *request, int64_t id, const char *secret, json_t **json)
{
	struct webhook one;
	int rc = webhook_find(request->db, request->arena, id, &one, request->error);
	if (rc)
		return rc;
	*json = webhook_json(request, &one);
	json_object_set_new(*json, "secret", json_string(secret));
	return 0;
}

int api_admin_webhook_make(struct request *request)
{
	struct actor actor = actor_of(request);
	struct webhook_order order = { .allowed = request->config->webhook_allowed };
	struct leaderboard leaderboard;
	webhook_secret secret;
	const char *name;
	int64_t id;
	int rc = api_text_or_nothing(request, "leaderboard", &name);
	if (!rc)
		rc = find_webhook_leaderboard(request, name, &leaderboard, &id);
	if (!rc)
		rc = api_text_or_nothing(request, "name", &order.name);
	if (!rc)
		rc = api_text_or_nothing(request, "address", &order.address);
	if (!rc)
		rc = api_text_or_nothing(request, "form", &order.form);
	if (!rc)
		rc = read_json_events(request, &order.events);
	if (rc)
		return rc;
	order.leaderboard = id == SQL_NULL_INTEGER ? NULL : &leaderboard;
	rc = webhook_create(request->db, request->arena, &order, &actor, secret, &id, request->error);
	json_t *json;
	if (!rc)
		rc = read_with_secret(request, id, secret, &json);
	return rc ? rc : respond_created(request, json, "/api/v1/admin/webhooks/%lld", (long long)id);
}

static int find_webhook_of_path(struct request *request, struct webhook *one)
{
	int64_t id;
	int rc = api_path_id(request, 0, "webhook", &id);
	return rc ? rc : webhook_of_viewer(request, id, one);
}

static int respond_webhook(struct request *request, int64_t id)
{
	struct webhook one;
	int rc = webhook_find(request->db, request->arena, id, &one, request->error);
	return rc ? rc : respond_json(request, webhook_json(request, &one));
}

int api_admin_webhook(struct request *request)
{
	struct webhook one;
	int rc = find_webhook_of_path(request, &one);
	return rc ? rc : respond_json(request, webhook_json(request, &one));
}

/* Pauses or resumes the webhook if the member `state` differs from its state. */
static int change_state(
	struct request *request, const struct webhook *one, const struct actor *actor)
{
	const char *state;
	int rc = api_text(request, "state", &state);
	if (rc || !state || strcmp(state, one->state) == 0)
		return rc;
	if (strcmp(state, "paused") == 0)
		return webhook_pause(request->db, request->arena, one, actor, request->error);
	if (strcmp(state, "active") == 0)
		return webhook_resume(request->db, request->arena, one, actor, request->error);
	return fail_field(request->error, "state", "The member state must be active or paused.");
}

static int change_settings(
	struct request *request, const struct webhook *one, const struct actor *actor)
{
	const char *name;
	int64_t events = one->events;
	int rc = api_text(request, "name", &name);
	if (!rc && api_has(request, "events"))
		rc = read_json_events(request, &events);
	if (rc || (!name && !api_has(request, "events")))
		return rc;
	return webhook_change(
		request->db, request->arena, one, name ? name : one->name, events, actor, request->error);
}

int api_admin_webhook_change(struct request *request)
{
	struct actor actor = actor_of(request);
	struct webhook one;
	int rc = find_webhook_of_path(request, &one);
	if (!rc)
		rc = change_settings(request, &one, &actor);
	if (!rc)
		rc = change_state(request, &one, &actor);
	return rc ? rc : respond_webhook(request, one.id);
}

int api_admin_webhook_delete(struct request *request)
{
	struct actor actor = actor_of(request);
	struct webhook one;
	int rc = find_webhook_of_path(request, &one);
	if (!rc)
		rc = api_confirm(request, "the webhook's name", one.name);
	if (!rc)
		rc = webhook_delete(request->db, request->arena, &one, &actor, request->error);
	return rc ? rc : respond_nothing(request);
}

int api_admin_webhook_test(struct request *request)
{
	struct actor actor = actor_of(request);
	struct webhook one;
	int rc = find_webhook_of_path(request, &one);
	if (!rc)
		rc = webhook_test(request->db, request->arena, &one, &actor, request->error);
	return rc ? rc : respond_nothing(request);
}

int api_admin_webhook_rotate(struct request *request)
{
	struct actor actor = actor_of(request);
	struct webhook one;
	webhook_secret secret;
	int64_t hours;
	json_t *json;
	int rc = find_webhook_of_path(request, &one);
	if (!rc)
		rc = api_integer(request, "hours", webhook_old_secret_usual_hours, &hours);
	if (!rc)
		rc = webhook_rotate(
			request->db, request->arena, &one, hours, &actor, secret, request->error);
	if (!rc)
		rc = read_with_secret(request, one.id, secret, &json);
	return rc ? rc : respond_json(request, json);
}

int api_admin_deliveries(struct request *request)
{
	struct webhook_delivery *rows;
	struct webhook one;
	size_t count;
	struct api_list list;
	int rc = find_webhook_of_path(request, &one);
	if (!rc)
		rc = api_list_read(request, &list);
	if (!rc)
		rc = webhook_deliveries(request->db, request->arena, one.id,
			list.is_first ? INT64_MAX : list.after[0], &rows, &count, request->error);
	if (rc)
		return rc;
	json_t *items = json_array();
	size_t shown = (int64_t)count > list.limit ? (size_t)list.limit : count;
	for (size_t i = 0; i < shown; i++) {
		const struct webhook_delivery *row = &rows[i];
		bool waits = strcmp(row->state, "waiting") == 0;
		json_array_append_new(items,
			json_pack("{s:I, s:s, s:o, s:s, s:I, s:o, s:s, s:o, s:o}", "event_id",
				(json_int_t)row->event_id, "event", row->event, "at", json_moment(row->at_ms),
				"state", row->state, "attempts", (json_int_t)row->attempts, "status",
				json_count(row->status), "sentence", row->sentence, "tried_at",
				json_moment(row->tried_at_ms), "next_at",
				json_moment(waits ? row->next_at_ms : TIME_NULL)));
	}
	bool has_more = shown < count || count == webhook_deliveries_shown;
	return respond_list(
		request, items, has_more ? api_cursor(request, rows[shown - 1].event_id, 0) : NULL);
}
