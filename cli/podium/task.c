/* `podium task NAME`: downloads a leaderboard's task and its templates into a folder, for
 * `podium check --task`. */
#include "cli/podium/commands.h"

#include "cli/podium/api.h"
#include "cli/podium/podium.h"
#include "cli/podium/task_folder.h"
#include "cli/podium/words.h"
#include "lib/base/format.h"
#include "lib/base/member.h"
#include "lib/base/quote.h"
#include "lib/base/scope.h"
#include "lib/base/text.h"
#include "lib/files/fileset.h"
#include "lib/files/path_rule.h"

#include <stdio.h>
#include <string.h>

/* One file to fetch. */
struct fetch {
	const char *path;    /* in the folder */
	const char *address; /* relative to /api/v1 */
	const char *digest;  /* expected SHA-256; "": unknown */
};

struct plan {
	struct session *session;
	const char *leaderboard, *folder;
	struct fetch *fetches;
	size_t count;
	size_t outcomes[TASK_FILE_KEPT + 1];
};

/* ---- what to fetch ---- */

static const char *escape_path(struct arena *arena, const char *path)
{
	const char *escaped = "";
	for (const char *part = path; *part;) {
		size_t length = strcspn(part, "/");
		escaped = arena_printf(arena, "%s%s%s", escaped, *escaped ? "/" : "",
			http_escape(arena, arena_strndup(arena, part, length)));
		part += length + (part[length] == '/');
	}
	return escaped;
}

static void plan_files(struct plan *plan, const json_t *task)
{
	struct arena *arena = plan->session->arena;
	const char *leaderboard = http_escape(arena, plan->leaderboard);
	size_t i;
	json_t *file;
	json_array_foreach(json_object_get(task, "files"), i, file)
	{
		const char *path = member_text(file, "path");
		if (strcmp(member_text(file, "role"), "template") == 0)
			continue;
		plan->fetches[plan->count++] = (struct fetch){ .path = path,
			.digest = member_text(file, "sha256"),
			.address = arena_printf(
				arena, "/leaderboards/%s/files/%s", leaderboard, escape_path(arena, path)) };
	}
}

/* Whether the plan already fetches the path: a template may also be a task file, or serve two
 * languages. */
static bool is_planned(const struct plan *plan, const char *path)
{
	for (size_t i = 0; i < plan->count; i++)
		if (strcmp(plan->fetches[i].path, path) == 0)
			return true;
	return false;
}

/* Plans the templates of the language that --language names, or without that option all templates.
 */
static int plan_templates(struct plan *plan, const json_t *task, struct error *error)
{
	struct arena *arena = plan->session->arena;
	const char *wish = call_value(plan->session->call, "language");
	bool found = !wish;
	size_t i;
	json_t *template;
	json_array_foreach(json_object_get(task, "templates"), i, template)
	{
		const char *language = member_text(template, "language");
		if (wish && strcmp(wish, language) != 0)
			continue;
		found = true;
		if (is_planned(plan, member_text(template, "file_name")))
			continue;
		plan->fetches[plan->count++] = (struct fetch){ .path = member_text(template, "file_name"),
			.digest = "",
			.address = arena_printf(arena, "/leaderboards/%s/templates/%s",
				http_escape(arena, plan->leaderboard), http_escape(arena, language)) };
	}
	if (!found)
		return fail(error, ERROR_NOT_FOUND, "%s has no template for %s.", plan->leaderboard,
			quote(arena, wish));
	return 0;
}

/* Checks all paths before fetching: after one bad path, the server's other paths are not trusted.
 */
static int check_paths(const struct plan *plan, struct error *error)
{
	const char **paths = arena_array(plan->session->arena, const char *, plan->count + 1);
	for (size_t i = 0; i < plan->count; i++) {
		const char *fault = task_folder_path_fault(paths[i] = plan->fetches[i].path);
		if (fault)
			return fail(error, ERROR_INPUT,
				"The server names a file %s, whose path %s. Nothing was written.",
				quote(plan->session->arena, paths[i]), fault);
	}
	return paths_check(plan->session->arena, paths, plan->count, error);
}

static int make_plan(struct plan *plan, json_t **task, struct error *error)
{
	struct session *session = plan->session;
	int rc = api_get(session,
		arena_printf(session->arena, "/leaderboards/%s/task",
			http_escape(session->arena, plan->leaderboard)),
		task, error);
	if (rc)
		return rc;
	size_t most = json_array_size(json_object_get(*task, "files"))
		+ json_array_size(json_object_get(*task, "templates"));
	if (most > fileset_most_files)
		return fail(error, ERROR_LIMIT,
			"The server names %zu files, but a task has at most %d. Nothing was written.", most,
			(int)fileset_most_files);
	plan->fetches = arena_array(session->arena, struct fetch, most + 1);
	plan_files(plan, *task);
	rc = plan_templates(plan, *task, error);
	return rc ? rc : check_paths(plan, error);
}

/* ---- fetching ---- */

static int check_text(
	const struct fetch *fetch, const struct http_answer *answer, struct error *error)
{
	task_digest digest;
	task_digest_of(digest, answer->body, answer->length);
	if (answer->length > fileset_most_file_bytes)
		return fail(error, ERROR_LIMIT, "%s has %zu bytes, more than a task's file may have.",
			fetch->path, answer->length);
	if (*fetch->digest && strcmp(fetch->digest, digest) != 0)
		return fail(error, ERROR_SYSTEM,
			"%s differs from the server's description. It may have been replaced meanwhile. Try "
			"again.",
			fetch->path);
	return 0;
}

static int fetch_one(
	struct plan *plan, struct task_folder *task, const struct fetch *fetch, struct error *error)
{
	static const char *const WORDS[] = { [TASK_FILE_NEW] = "new",
		[TASK_FILE_SAME] = NULL,
		[TASK_FILE_UPDATED] = "updated",
		[TASK_FILE_KEPT] = "kept, because you changed it" };
	struct http_answer answer = { .status = 304 };
	enum task_file_outcome outcome = TASK_FILE_SAME;
	int rc = 0;
	progress_say(&plan->session->progress, "%s", fetch->path);
	if (!*fetch->digest || !task_folder_has(task, fetch->path, fetch->digest)) {
		rc = api_text(plan->session, fetch->address, &answer, error);
		rc = rc ? rc : check_text(fetch, &answer, error);
		rc = rc ? rc
				: task_folder_put(task, fetch->path, answer.body, answer.length, &outcome, error);
	}
	plan->outcomes[outcome] += rc == 0;
	if (rc || !WORDS[outcome])
		return rc;
	progress_end(&plan->session->progress);
	cleanup_buffer struct buffer line = { 0 };
	text_append_printable(&line, fetch->path);
	printf("%s/%s: %s\n", plan->folder, buffer_string(&line), WORDS[outcome]);
	return 0;
}

static int fetch_all(struct plan *plan, struct error *error)
{
	cleanup_task_folder struct task_folder task = { .fd = -1 };
	int rc = task_folder_open(plan->session->arena, plan->folder, plan->session->address.url,
		plan->leaderboard, &task, error);
	if (rc)
		return rc;
	for (size_t i = 0; i < plan->count && !rc; i++)
		rc = fetch_one(plan, &task, &plan->fetches[i], error);
	struct error other = { 0 };
	return task_folder_save(&task, rc ? &other : error) ? error->code : rc;
}

static void print_plan(const struct plan *plan, const json_t *task)
{
	struct arena *arena = plan->session->arena;
	printf("%s, version %lld: %s in %s, %zu unchanged.\n", plan->leaderboard,
		member_whole(task, "version", 0), plural(arena, (int64_t)plan->count, "file"), plan->folder,
		plan->outcomes[TASK_FILE_SAME]);
	if (plan->outcomes[TASK_FILE_KEPT])
		printf("%s kept with your changes. To get the server's, move yours away.\n",
			plural(arena, (int64_t)plan->outcomes[TASK_FILE_KEPT], "file"));
}

int task_command(const struct call *call)
{
	cleanup_session struct session session = { 0 };
	struct error error = { 0 };
	cleanup_json json_t *task = NULL;
	struct plan plan = {
		.session = &session, .leaderboard = call->arguments[0], .folder = call_value(call, "to")
	};
	plan.folder = plan.folder ? plan.folder : plan.leaderboard;
	int rc = text_is_leaderboard_name(plan.leaderboard)
		? 0
		: fail(&error, ERROR_INPUT,
			"%s is not the name of a leaderboard. podium list shows all leaderboards.",
			quote(call->arena, plan.leaderboard));
	if (rc)
		return podium_complain(&error, podium_misused);
	rc = session_open(&session, call, &error);
	rc = rc ? rc : make_plan(&plan, &task, &error);
	rc = rc ? rc : fetch_all(&plan, &error);
	if (!rc)
		print_plan(&plan, task);
	return session_end(&session, rc, &error);
}
