/* Creates, changes and deletes leaderboards and manages the versions of their tasks. */
#include "cgi/action/publishing.h"
#include "cgi/admin/leaderboard.h"
#include "cgi/admin/versions.h"
#include "cgi/api/admin.h"
#include "lib/base/format.h"
#include "lib/base/scope.h"
#include "lib/leaderboard/publication.h"

#include <string.h>

/* ---- a leaderboard as JSON ---- */

static json_t *texts_json(const char **names, size_t count)
{
	json_t *list = json_array();
	for (size_t i = 0; i < count; i++)
		json_array_append_new(list, json_string(names[i]));
	return list;
}

/* Lists the leaderboard's own quotas. The site's quotas apply to modes that are not in the list. */
static json_t *own_quotas(const struct quota quotas[static quota_modes])
{
	json_t *list = json_array();
	for (size_t i = 0; i < quota_modes; i++)
		if (quotas[i].most)
			json_array_append_new(list,
				json_pack("{s:s, s:I, s:I}", "mode", quota_mode(i), "limit",
					(json_int_t)quotas[i].most, "hours", (json_int_t)quotas[i].hours));
	return list;
}

static json_t *remarks_json(const struct check_remarks *remarks, bool are_errors)
{
	json_t *list = json_array();
	for (size_t i = 0; i < remarks->count; i++)
		if (remarks->list[i].is_error == are_errors)
			json_array_append_new(list, json_string(remarks->list[i].sentence));
	return list;
}

/* The devices that take no submissions until their check passes. */
static int read_closed_json(
	struct request *request, const struct leaderboard *leaderboard, json_t **json)
{
	struct check check;
	int rc = check_read(request->db, request->arena, leaderboard->id, leaderboard->version_number,
		&check, request->error);
	if (rc)
		return rc;
	*json = json_array();
	for (size_t i = 0; i < check.device_count; i++) {
		const struct check_device *device = &check.devices[i];
		if (device->is_closed)
			json_array_append_new(*json,
				json_pack("{s:s, s:s, s:o, s:o}", "gpu", device->gpu, "check",
					check_state_name(device->state), "errors", remarks_json(&device->remarks, true),
					"warnings", remarks_json(&device->remarks, false)));
	}
	return 0;
}

/* The publication that waits for its check, with the check's findings; null: nothing waits. */
static int read_publication_json(
	struct request *request, const struct leaderboard *leaderboard, json_t **json)
{
	struct check check;
	*json = json_null();
	if (!leaderboard->wanted_visibility)
		return 0;
	int rc = check_read(request->db, request->arena, leaderboard->id, leaderboard->wanted_version,
		&check, request->error);
	if (rc)
		return rc;
	json_t *without_worker = json_array();
	for (size_t i = 0; i < check.device_count; i++)
		if (!check.devices[i].is_closed && !check.devices[i].has_worker)
			json_array_append_new(without_worker, json_string(check.devices[i].gpu));
	*json = json_pack("{s:s, s:I, s:s, s:o, s:o, s:o}", "visibility",
		leaderboard->wanted_visibility, "task_version", (json_int_t)leaderboard->wanted_version,
		"check", check_state_name(check.state), "gpus_without_worker", without_worker, "errors",
		remarks_json(&check.remarks, true), "warnings", remarks_json(&check.remarks, false));
	return 0;
}

/* `cancelled`: number of queued jobs that the call cancelled. */
static int respond_leaderboard(struct request *request, const char *name, int64_t cancelled)
{
	struct leaderboard leaderboard;
	struct quota quotas[quota_modes];
	const char **gpus;
	size_t gpu_count;
	json_t *publication, *closed;
	int rc = leaderboard_by_name(request->db, request->arena, name, &leaderboard, request->error);
	if (!rc)
		rc = leaderboard_gpus(
			request->db, request->arena, leaderboard.id, &gpus, &gpu_count, request->error);
	if (!rc)
		rc = quotas_of_leaderboard(
			request->db, request->arena, leaderboard.id, quotas, request->error);
	if (!rc)
		rc = read_publication_json(request, &leaderboard, &publication);
	if (rc)
		return rc;
	rc = read_closed_json(request, &leaderboard, &closed);
	if (rc) {
		json_decref(publication);
		return rc;
	}
	return respond_json(request,
		json_pack(
			"{s:s, s:I, s:s, s:s, s:o, s:b, s:b, s:s, s:o, s:b, s:o, s:o, s:o, s:o, s:o, s:o, s:I, "
			"s:o}",
			"name", leaderboard.name, "task_version", (json_int_t)leaderboard.version_number,
			"language", leaderboard.language, "visibility", leaderboard.visibility, "deadline",
			json_moment(leaderboard.deadline_ms), "accepting", (int)leaderboard.accepting,
			"sources_public", (int)api_sources_are_public(&leaderboard), "sources",
			leaderboard.sources, "license", api_license(&leaderboard), "practice",
			(int)leaderboard.practice, "frozen_at", json_moment(leaderboard.frozen_at_ms),
			"archived_at", json_moment(leaderboard.archived_at_ms), "created_at",
			json_moment(leaderboard.created_at_ms), "gpus", texts_json(gpus, gpu_count),
			"closed_gpus", closed, "quotas", own_quotas(quotas), "cancelled_jobs",
			(json_int_t)cancelled, "publication", publication));
}

int api_admin_leaderboard(struct request *request)
{
	struct leaderboard leaderboard;
	int rc = leaderboard_of_admin(request, &leaderboard);
	return rc ? rc : respond_leaderboard(request, leaderboard.name, 0);
}

/* ---- creating ---- */

/* If the task has faults, fails with a message that lists them. Otherwise returns `rc`. */
static int refuse_task(struct request *request, const struct leaderboard_input *input, int rc)
{
	cleanup_buffer struct buffer sentences = { 0 };
	if (rc != ERROR_INPUT || !input->faults.count)
		return rc;
	buffer_text(&sentences, request->error->text);
	for (size_t i = 0; i < input->faults.count; i++)
		buffer_printf(&sentences, " %s", input->faults.sentences[i]);
	return fail_field(request->error, "zip", "%s", buffer_string(&sentences));
}

static int read_visibility(struct request *request, bool *hidden)
{
	const char *visibility;
	int rc = api_text_or_nothing(request, "visibility", &visibility);
	*hidden = strcmp(visibility, "hidden") == 0;
	if (rc || *hidden || !*visibility || strcmp(visibility, "public") == 0)
		return rc;
	return fail_field(
		request->error, "visibility", "A new leaderboard is public or hidden; choose one of them.");
}

/* Reads `sources`, or the older `sources_public`, and `license`. `leaderboard`: whose settings stay
 * if the members are missing, or NULL. */
static int read_sources(struct request *request, const struct leaderboard *leaderboard,
	struct leaderboard_settings *settings)
{
	bool has_old = request->json ? json_object_get(request->json, "sources_public") != NULL
								 : request_form(request, "sources_public") != NULL;
	bool is_public;
	int rc = api_text(request, "sources", &settings->sources);
	if (!rc)
		rc = api_boolean(request, "sources_public", true, &is_public);
	if (!rc && has_old && settings->sources)
		rc = fail_field(request->error, "sources_public",
			"The request has both sources and sources_public. Send only sources.");
	if (!rc)
		rc = api_text(request, "license", &settings->license);
	if (rc)
		return rc;
	if (!settings->sources)
		settings->sources = has_old ? is_public ? "deadline" : "never"
			: leaderboard           ? leaderboard->sources
									: SOURCE_POLICY_USUAL;
	if (!settings->license)
		settings->license = leaderboard && !api_has(request, "license") ? leaderboard->license : "";
	return 0;
}

static int read_new_leaderboard(struct request *request, struct leaderboard_input *input)
{
	struct leaderboard_settings *settings = &input->settings;
	int rc = api_text_or_nothing(request, "name", &settings->name);
	if (!rc)
		rc = api_gpus(request, &settings->gpus, &settings->gpu_count);
	if (!rc)
		rc = api_moment(request, "deadline", TIME_NULL, &settings->deadline_ms);
	if (!rc)
		rc = api_boolean(request, "accepting", true, &settings->accepting);
	if (!rc)
		rc = read_sources(request, NULL, settings);
	if (!rc)
		rc = read_visibility(request, &settings->hidden);
	return rc ? rc : leaderboard_read_zip(request, "zip", true, input);
}

int api_admin_leaderboard_create(struct request *request)
{
	struct leaderboard_input input = { 0 };
	struct actor actor = actor_of(request);
	int rc = read_new_leaderboard(request, &input);
	if (!rc)
		rc = leaderboard_create(request->db, request->arena, &input.settings, input.task,
			&input.upload, &input.stock, &actor, NULL, request->error);
	if (!rc)
		rc = respond_leaderboard(request, input.settings.name, 0);
	if (rc)
		return refuse_task(request, &input, rc);
	request->status = 201;
	request->location =
		arena_printf(request->arena, "/api/v1/leaderboards/%s", input.settings.name);
	return 0;
}

/* ---- changing ---- */

/* Reads the member `quotas`. The site's quotas apply to modes that are not in the list. */
static int read_json_quotas(struct request *request, struct quota quotas[static quota_modes])
{
	json_t *list = json_object_get(request->json, "quotas"), *one;
	size_t at;
	for (size_t i = 0; i < quota_modes; i++)
		quotas[i] = (struct quota){ 0, quota_usual_hours };
	json_array_foreach(list, at, one)
	{
		const char *mode = NULL;
		json_int_t limit = 0, hours = quota_usual_hours;
		size_t i = 0;
		int wrong =
			json_unpack(one, "{s:s, s:I, s?I!}", "mode", &mode, "limit", &limit, "hours", &hours);
		while (!wrong && i < quota_modes && strcmp(quota_mode(i), mode) != 0)
			i++;
		if (wrong || i == quota_modes || limit < 1 || limit > quota_most || hours < 1
			|| hours > quota_most_hours)
			return fail_field(request->error, "quotas",
				"A quota is {\"mode\": \"ranked\", \"limit\": 1 to %d, \"hours\": 1 to %d}.",
				quota_most, quota_most_hours);
		quotas[i] = (struct quota){ limit, hours };
	}
	return json_is_array(list)
		? 0
		: fail_field(request->error, "quotas", "The member quotas must be an array.");
}

/* Reads the settings. Settings whose member is missing stay unchanged. */
static int read_settings(
	struct request *request, const struct leaderboard *leaderboard, struct leaderboard_input *input)
{
	struct leaderboard_settings *settings = &input->settings;
	int rc = api_moment(request, "deadline", leaderboard->deadline_ms, &settings->deadline_ms);
	if (!rc)
		rc = api_boolean(request, "accepting", leaderboard->accepting, &settings->accepting);
	if (!rc)
		rc = read_sources(request, leaderboard, settings);
	if (!rc)
		rc = api_has(request, "gpus")
			? api_texts(request, "gpus", &settings->gpus, &settings->gpu_count)
			: leaderboard_gpus(request->db, request->arena, leaderboard->id, &settings->gpus,
				&settings->gpu_count, request->error);
	if (rc || !api_has(request, "quotas"))
		return rc;
	settings->quotas = input->quotas;
	return read_json_quotas(request, input->quotas);
}

static int read_publishing(
	struct request *request, const struct leaderboard *leaderboard, struct publishing *after)
{
	int rc = api_text(request, "visibility", &after->visibility);
	if (!rc)
		rc = api_boolean(request, "practice", leaderboard->practice, &after->practice);
	if (!rc)
		rc = api_moment(request, "frozen_at", leaderboard->frozen_at_ms, &after->frozen_at_ms);
	return rc ? rc
			  : api_boolean(
				  request, "archived", leaderboard->archived_at_ms != TIME_NULL, &after->archived);
}

struct change {
	struct request *request;
	const struct leaderboard *leaderboard;
	const struct leaderboard_input *input;
	const struct publishing *after;
	bool accepts_warnings;
	int64_t cancelled;
};

/* Accepts the warnings of each closed device whose check has ended with warnings. Fails if no
 * device has, although one is closed, and if nothing else was accepted. */
static int accept_device_warnings(struct database *db, struct request *request,
	const struct leaderboard *leaderboard, bool has_accepted, struct error *error)
{
	struct actor actor = actor_of(request);
	const struct check_device *refused = NULL;
	struct check check;
	int rc =
		check_read(db, request->arena, leaderboard->id, leaderboard->version_number, &check, error);
	for (size_t i = 0; i < check.device_count && !rc; i++) {
		const struct check_device *device = &check.devices[i];
		if (device->is_closed && device->state == CHECK_WARNS) {
			has_accepted = true;
			rc = publication_accept_device(
				db, request->arena, leaderboard, device->gpu, device->dry_run_id, &actor, error);
		} else if (device->is_closed) {
			refused = device;
		}
	}
	return rc || has_accepted || !refused
		? rc
		: publication_accept_device(
			db, request->arena, leaderboard, refused->gpu, refused->dry_run_id, &actor, error);
}

/* Accepts the warnings of the checks that have ended with warnings. */
static int accept_warnings(struct database *db, const struct change *change, struct error *error)
{
	struct request *request = change->request;
	struct actor actor = actor_of(request);
	struct leaderboard now;
	struct check check;
	int rc = leaderboard_by_name(db, request->arena, change->leaderboard->name, &now, error);
	if (!rc && now.wanted_visibility) {
		rc = check_read(db, request->arena, now.id, now.wanted_version, &check, error);
		if (!rc)
			rc = publication_accept(db, request->arena, &now, check.dry_run_id, &actor, error);
	}
	return rc ? rc : accept_device_warnings(db, request, &now, now.wanted_visibility, error);
}

/* Runs in a transaction, so that Podium stores all changes or none. */
static int leaderboard_change_body(struct database *db, void *context, struct error *error)
{
	struct change *change = context;
	struct request *request = change->request;
	struct actor actor = actor_of(request);
	int rc = leaderboard_update(db, request->arena, change->leaderboard, &change->input->settings,
		NULL, NULL, NULL, &actor, &change->cancelled, error);
	if (!rc)
		rc = publishing_change(
			db, request->arena, change->leaderboard, change->after, &actor, error);
	return rc || !change->accepts_warnings ? rc : accept_warnings(db, change, error);
}

int api_admin_leaderboard_change(struct request *request)
{
	struct leaderboard leaderboard;
	struct leaderboard_input input = { 0 };
	struct publishing after;
	struct change change = {
		.request = request, .leaderboard = &leaderboard, .input = &input, .after = &after
	};
	int rc = leaderboard_of_admin(request, &leaderboard);
	if (!rc)
		rc = read_settings(request, &leaderboard, &input);
	if (!rc)
		rc = read_publishing(request, &leaderboard, &after);
	if (!rc)
		rc = api_boolean(request, "accept_warnings", false, &change.accepts_warnings);
	if (!rc)
		rc = database_transaction(request->db, leaderboard_change_body, &change, request->error);
	return rc ? rc : respond_leaderboard(request, leaderboard.name, change.cancelled);
}

int api_admin_leaderboard_archive(struct request *request)
{
	struct leaderboard leaderboard;
	struct actor actor = actor_of(request);
	int rc = leaderboard_of_admin(request, &leaderboard);
	if (rc)
		return rc;
	struct publishing after = {
		.practice = leaderboard.practice, .frozen_at_ms = leaderboard.frozen_at_ms, .archived = true
	};
	rc = publishing_change(
		request->db, request->arena, &leaderboard, &after, &actor, request->error);
	return rc ? rc : respond_leaderboard(request, leaderboard.name, 0);
}

int api_admin_leaderboard_delete(struct request *request)
{
	struct leaderboard leaderboard;
	struct actor actor = actor_of(request);
	int rc = leaderboard_of_owner(request, &leaderboard);
	if (!rc)
		rc = api_confirm(request, "the leaderboard's name", leaderboard.name);
	if (!rc)
		rc = database_lift_limit(request->db, request->error);
	if (!rc)
		rc = leaderboard_delete(request->db, &leaderboard, &actor, request->error);
	return rc ? rc : respond_nothing(request);
}

/* ---- the task ---- */

static json_t *version_json(const struct version_row *version)
{
	return json_pack("{s:I, s:s, s:I, s:o, s:o, s:I, s:I, s:I}", "version",
		(json_int_t)version->number, "state",
		version->is_current  ? "current"
			: version->draft ? "draft"
							 : "replaced",
		"revision", (json_int_t)version->revision, "created_by", json_text(version->creator),
		"created_at", json_moment(version->created_at_ms), "files", (json_int_t)version->files,
		"submissions", (json_int_t)version->submissions, "ranked_users",
		(json_int_t)version->ranked);
}

int api_admin_versions(struct request *request)
{
	struct leaderboard leaderboard;
	struct version_row *versions;
	size_t count;
	json_t *items = json_array();
	int rc = versions_read(request, &leaderboard, &versions, &count);
	for (size_t i = 0; i < count && !rc; i++)
		json_array_append_new(items, version_json(&versions[i]));
	if (!rc)
		return respond_list(request, items, NULL);
	json_decref(items);
	return rc;
}

int api_admin_switch(struct request *request)
{
	struct leaderboard leaderboard;
	struct actor actor = actor_of(request);
	int64_t number;
	int rc = leaderboard_of_admin(request, &leaderboard);
	if (!rc)
		rc = api_path_id(request, 1, "version", &number);
	if (!rc)
		rc = leaderboard_switch(
			request->db, request->arena, &leaderboard, number, &actor, request->error);
	return rc ? rc : respond_leaderboard(request, leaderboard.name, 0);
}

/* Uploads a task. If it runs differently from the current version, it becomes a new version. New
 * submissions use the new version unless it is a draft. */
int api_admin_task(struct request *request)
{
	struct leaderboard leaderboard;
	struct leaderboard_input input = { 0 };
	struct actor actor = actor_of(request);
	int64_t cancelled = 0;
	int rc = leaderboard_of_admin(request, &leaderboard);
	if (!rc)
		rc = read_settings(request, &leaderboard, &input);
	if (!rc)
		rc = api_boolean(request, "draft", false, &input.settings.keeps_version);
	if (!rc)
		rc = leaderboard_read_zip(request, "zip", true, &input);
	if (!rc)
		rc = leaderboard_update(request->db, request->arena, &leaderboard, &input.settings,
			input.task, &input.upload, &input.stock, &actor, &cancelled, request->error);
	return rc ? refuse_task(request, &input, rc)
			  : respond_leaderboard(request, leaderboard.name, cancelled);
}
