/* popcorn-cli's admin commands that make leaderboards from a folder of problems. The setting
 * `problems` names this folder, a checkout that the operator maintains. Podium fetches nothing from
 * other servers. */
#include "cgi/popcorn/admin.h"

#include "cgi/action/publishing.h"
#include "cgi/api/api.h"
#include "cgi/popcorn/popcorn.h"
#include "lib/base/format.h"
#include "lib/base/quote.h"
#include "lib/base/scope.h"
#include "lib/base/text.h"
#include "lib/files/path_rule.h"
#include "lib/leaderboard/problem_set.h"
#include "lib/task/stock.h"

#include <string.h>

enum { most_listed_bytes = 300 }; /* of folders in an error */

struct update {
	struct request *request;
	struct fileset files, stock;
	struct planner planner;
	bool forced;
	const char *visibility; /* of new leaderboards; NULL: public */
	json_t *created, *updated, *skipped, *errors;
	json_t *closed; /* those of `created` whose deadline has passed */
};

/* ---- the folder ---- */

static int read_folder(struct request *request, struct update *update)
{
	const char *folder = request->config->problems;
	*update = (struct update){ .request = request,
		.files = fileset_make(request->arena),
		.stock = stock_fileset(request->arena),
		.planner = { .actor = actor_of(request),
			.may_change_all = request->viewer.role == ROLE_ADMIN,
			.takes_ended = true } };
	if (!*folder)
		return fail(request->error, ERROR_INPUT,
			"This server has no folder of problems: its setting `problems` is empty. Upload the "
			"set as a zip at %s/admin/sets/new, or a single task at %s/admin/leaderboards/new.",
			request->config->public_url, request->config->public_url);
	int rc = api_text(request, "visibility", &update->visibility);
	if (!rc)
		rc = fileset_from_folder(&update->files, folder, request->error);
	if (rc)
		return rc;
	bool is_known = !update->visibility || strcmp(update->visibility, "public") == 0
		|| strcmp(update->visibility, "closed") == 0;
	return is_known ? 0
					: fail(request->error, ERROR_INPUT, "visibility must be 'public' or 'closed'");
}

/* ---- applying a plan ---- */

static void add_reason(json_t *list, const char *name, const char *what, const char *reason)
{
	json_array_append_new(list, json_pack("{s:s, s:s}", "name", name, what, reason));
}

static void add_faults(struct update *update, const char *name, const struct task_faults *faults)
{
	cleanup_buffer struct buffer text = { 0 };
	for (size_t i = 0; i < faults->count; i++)
		buffer_printf(&text, "%s%s", i ? " " : "", faults->sentences[i]);
	add_reason(
		update->errors, name, "error", faults->count ? buffer_string(&text) : "It cannot be used.");
}

static bool changes_task(const struct plan_item *item)
{
	for (size_t i = 0; i < item->change_count; i++)
		if (strcmp(item->changes[i].what, "task") == 0)
			return true;
	return false;
}

/* Publishes a new leaderboard as the request wants. One that has ended takes practice, if the
 * operator allows it. */
static int publish_new(struct update *update, const char *name, bool has_ended)
{
	struct request *request = update->request;
	struct leaderboard leaderboard;
	bool is_closed = update->visibility && strcmp(update->visibility, "closed") == 0,
		 takes_practice = has_ended && request->config->problems_practice;
	if (!is_closed && !takes_practice)
		return 0;
	int rc = leaderboard_by_name(request->db, request->arena, name, &leaderboard, request->error);
	if (rc)
		return rc;
	const struct publishing after = { .visibility = is_closed ? "closed" : NULL,
		.practice = leaderboard.practice || takes_practice,
		.frozen_at_ms = leaderboard.frozen_at_ms,
		.archived = false };
	return publishing_change(
		request->db, request->arena, &leaderboard, &after, &update->planner.actor, request->error);
}

static int apply_item(struct update *update, const struct plan_item *item)
{
	struct request *request = update->request;
	const char *name = item->problem->name;
	struct error error = { 0 };
	int rc = problem_plan_apply(
		request->db, request->arena, item, &update->stock, &update->planner, &error);
	if (error_is_ours(rc)) {
		*request->error = error;
		return rc;
	}
	if (rc)
		add_reason(update->errors, name, "error", error.text);
	if (rc || item->action != PLAN_CREATE)
		return rc ? 0 : json_array_append_new(update->updated, json_string(name));
	int64_t deadline_ms = item->settings.deadline_ms;
	bool has_ended = deadline_ms != TIME_NULL && deadline_ms <= now_ms();
	json_array_append_new(update->created, json_string(name));
	if (has_ended)
		json_array_append_new(update->closed, json_string(name));
	return publish_new(update, name, has_ended);
}

static int take_item(struct update *update, const struct plan_item *item)
{
	const char *name = item->problem->name;
	if (item->action == PLAN_KEEP)
		add_reason(update->skipped, name, "reason", "no changes");
	else if (item->action == PLAN_REFUSE)
		add_faults(update, name, &item->reasons);
	else if (item->action == PLAN_CHANGE && changes_task(item) && !update->forced)
		add_reason(update->skipped, name, "reason", "significant task changes require --force");
	else
		return apply_item(update, item);
	return 0;
}

/* Applies the set's plan one leaderboard at a time: a failure does not stop the others. */
static int take_set(struct update *update, const char *path)
{
	struct request *request = update->request;
	struct problem_set *set;
	struct task_faults faults = { 0 };
	struct problem_plan plan;
	if (problem_set_read(request->arena, &update->files, &update->stock, path, &set, &faults)) {
		add_faults(update, path, &faults);
		return 0;
	}
	int rc = problem_set_plan(
		request->db, request->arena, set, &update->stock, &update->planner, &plan, request->error);
	for (size_t i = 0; !rc && i < plan.item_count; i++)
		rc = take_item(update, &plan.items[i]);
	return rc;
}

static void begin_lists(struct update *update)
{
	update->created = json_array();
	update->updated = json_array();
	update->skipped = json_array();
	update->errors = json_array();
	update->closed = json_array();
}

static json_t *lists_json(struct update *update)
{
	return json_pack("{s:o, s:o, s:o, s:o, s:o}", "created", update->created, "closed",
		update->closed, "updated", update->updated, "skipped", update->skipped, "errors",
		update->errors);
}

/* ---- all sets, or one set ---- */

/* Whether the file at `path` is the wanted set: "nvidia" stands for nvidia.yaml in any folder, NULL
 * for any file. */
static bool is_wanted(const char *path, const char *set)
{
	const char *slash = strrchr(path, '/'), *name = slash ? slash + 1 : path;
	size_t length = set ? strlen(set) : 0;
	return !set
		|| (strncmp(name, set, length) == 0
			&& (strcmp(name + length, ".yaml") == 0 || strcmp(name + length, ".yml") == 0));
}

int popcorn_admin_update_problems(struct request *request)
{
	struct update update;
	const char *set, **paths;
	int rc = api_text(request, "problem_set", &set);
	if (!rc)
		rc = read_folder(request, &update);
	if (!rc)
		rc = api_boolean(request, "force", false, &update.forced);
	if (rc)
		return rc;
	size_t count = problem_set_paths(request->arena, &update.files, &paths), taken = 0;
	begin_lists(&update);
	for (size_t i = 0; i < count && !rc; i++)
		if (is_wanted(paths[i], set)) {
			rc = take_set(&update, paths[i]);
			taken++;
		}
	json_t *answer = lists_json(&update);
	if (!rc && taken)
		return popcorn_ok(request, answer);
	json_decref(answer);
	return rc ? rc
			  : fail(request->error, ERROR_NOT_FOUND, "The folder of problems has no set%s%s.",
				  set ? " named " : "", set ? quote(request->arena, set) : "");
}

/* ---- one task as a test leaderboard ---- */

static bool is_plain_path(const char *path)
{
	static const char plain[] =
		"abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._-/";
	return *path && !path_fault(path, strlen(path)) && !path[strspn(path, plain)];
}

/* Returns the length of the folder's path if the file is a task.yml whose folder is or ends with
 * `directory`; otherwise 0. NULL stands for any folder. */
static size_t task_folder_length(const char *file, const char *directory)
{
	size_t length = strlen(file), wanted = directory ? strlen(directory) : 0;
	if (length <= strlen("/task.yml") || !text_ends_with(file, "/task.yml"))
		return 0;
	length -= strlen("/task.yml");
	if (!directory)
		return length;
	bool ends = length >= wanted && strncmp(file + length - wanted, directory, wanted) == 0;
	return ends && (length == wanted || file[length - wanted - 1] == '/') ? length : 0;
}

/* Finds the only task folder that is or ends with `directory`. If the folder of problems itself or
 * its `problems` has it, as in the reference repositories, other folders do not count. Otherwise
 * fails and lists the folders that fit, or all. */
static int find_directory(const struct update *update, const char *directory, const char **found)
{
	static const char *const places[] = { "", "problems/" };
	const struct fileset *files = &update->files;
	struct arena *arena = update->request->arena;
	cleanup_buffer struct buffer fitting = { 0 }, all = { 0 };
	size_t count = 0;
	*found = NULL;
	for (size_t i = 0; i < COUNT(places) && !*found; i++) {
		const char *path = arena_printf(arena, "%s%s", places[i], directory);
		if (fileset_find(files, arena_printf(arena, "%s/task.yml", path)))
			*found = path;
	}
	for (size_t i = 0; i < files->count && !*found; i++) {
		const char *file = files->files[i].path;
		size_t length = task_folder_length(file, directory), any = task_folder_length(file, NULL);
		if (length)
			buffer_printf(&fitting, "%s%.*s", count++ ? ", " : "", (int)length, file);
		if (any && all.length < most_listed_bytes)
			buffer_printf(&all, "%s%.*s", all.length ? ", " : "", (int)any, file);
	}
	if (count == 1)
		*found = arena_strdup(arena, buffer_string(&fitting));
	if (*found)
		return 0;
	return fail(update->request->error, ERROR_INPUT,
		"Invalid problem directory: the folder of problems has %s %s. Name one of: %s",
		count ? "several tasks named" : "no task", quote(arena, directory),
		count            ? buffer_string(&fitting)
			: all.length ? buffer_string(&all)
						 : "(it has no task)");
}

/* Adds the file of a set to the files. The set has one problem, which makes the leaderboard
 * NAME-dev with a deadline in one year. */
static int add_set(
	struct update *update, const char *directory, const char *name, const char **path)
{
	struct request *request = update->request;
	format_text deadline;
	format_utc(deadline, now_ms() + INT64_C(365) * 86400 * 1000);
	*path = ".podium-dev.yaml";
	const char *text = arena_printf(request->arena,
		"name: dev\nproblems:\n  - {directory: \"%s\", name: \"%s\", deadline: \"%.16s\"}\n",
		directory, name, deadline);
	return fileset_add(&update->files, *path, text, strlen(text), request->error);
}

/* Responds with the leaderboard's name, or with the first error. */
static int respond_leaderboard_name(struct update *update, const char *name)
{
	struct request *request = update->request;
	const char *error =
		json_string_value(json_object_get(json_array_get(update->errors, 0), "error"));
	int rc = error ? fail(request->error, ERROR_INPUT, "%s", error) : 0;
	json_decref(lists_json(update));
	return rc ? rc : popcorn_ok(request, json_pack("{s:s}", "leaderboard", name));
}

int popcorn_admin_leaderboard_create(struct request *request)
{
	struct update update;
	const char *directory, *path;
	int rc = api_text(request, "directory", &directory);
	if (!rc && !directory)
		return fail(request->error, ERROR_INPUT, "Missing required field: directory");
	if (!rc)
		rc = read_folder(request, &update);
	if (rc)
		return rc;
	if (!is_plain_path(directory))
		return fail(request->error, ERROR_INPUT,
			"Invalid problem directory: the folder of problems has no task %s.",
			quote(request->arena, directory));
	rc = find_directory(&update, directory, &directory);
	if (rc)
		return rc;
	const char *slash = strrchr(directory, '/'),
			   *name = arena_printf(request->arena, "%s-dev", slash ? slash + 1 : directory);
	rc = add_set(&update, directory, name, &path);
	begin_lists(&update);
	update.forced = true;
	if (!rc)
		rc = take_set(&update, path);
	if (!rc)
		return respond_leaderboard_name(&update, name);
	json_decref(lists_json(&update));
	return rc;
}
