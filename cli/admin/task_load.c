/* `task publish` and `task load`. `task load` creates or updates a leaderboard for each task, named
 * after the task's folder or file; set_load.c handles problem sets.
 *
 * The web panel has precedence: `task load` replaces no task that was uploaded there. It recreates
 * a leaderboard that was deleted there only if an argument names the task itself. */
#include "cli/admin/admin.h"
#include "cli/admin/set_load.h"
#include "lib/base/scope.h"
#include "lib/base/text.h"
#include "lib/gpu/device.h"
#include "lib/leaderboard/problem_set.h"
#include "lib/leaderboard/publication.h"
#include "lib/task/local.h"
#include "lib/task/stock.h"
#include "lib/task/version.h"

#include <dirent.h>
#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

struct source {
	const char *name; /* the leaderboard's name */
	bool named;       /* an argument named the task; false: it was found in a folder of tasks */
	bool dry_run, is_unchecked;
	const char *root; /* the tree that contains the task's files (task_from_path), or NULL */
	struct fileset upload, stock;
	struct task *task;
};

struct found {
	int64_t id;
};
static const struct column FOUND_COLUMNS[] = { INTEGER(struct found, id) };
static const struct statement DELETED_IN_PANEL = SELECT(struct found, FOUND_COLUMNS,
	"SELECT id FROM audit_log WHERE action = 'leaderboard.delete' AND subject = ? "
	"AND actor_id IS NOT NULL LIMIT 1");
static const struct statement UPLOADED_IN_PANEL = SELECT(struct found, FOUND_COLUMNS,
	"SELECT id FROM task_versions WHERE id = ? AND created_by IS NOT NULL");

/* Sets *answer to whether the query found a row; `rc` is what the query returned. */
static int was_found(int rc, bool *answer)
{
	*answer = rc == 0;
	return rc == ERROR_NOT_FOUND ? 0 : rc;
}

/* ---- reading a task ---- */

static int read_source(
	struct arena *arena, const char *path, struct source *source, struct error *error)
{
	source->upload = fileset_make(arena);
	source->stock = stock_fileset(arena);
	int rc = task_from_path(&source->upload, path, source->root, error);
	return rc ? rc : task_parse(arena, &source->upload, &source->stock, &source->task, error);
}

/* ---- the leaderboard ---- */

/* Chooses the GPU models that the task names, else those of the workers that can run the task's
 * language. */
static int choose_gpus(struct database *db, struct arena *arena, const struct task *task,
	struct leaderboard_settings *settings, struct error *error)
{
	if (task->gpu_count) {
		settings->gpus = task->gpus;
		settings->gpu_count = task->gpu_count;
		return 0;
	}
	struct offered_gpu *offered;
	size_t count;
	int rc = gpus_offered(db, arena, &offered, &count, error);
	if (rc)
		return rc;
	settings->gpus = arena_array(arena, const char *, count);
	for (size_t i = 0; i < count; i++)
		if (gpu_runs_language(offered[i].model, task->language))
			settings->gpus[settings->gpu_count++] = offered[i].model;
	return 0;
}

static int create_leaderboard(
	struct database *db, struct arena *arena, const struct source *source, struct error *error)
{
	bool deleted = false;
	struct found found;
	int rc = source->named
		? 0
		: was_found(
			database_row(db, arena, &DELETED_IN_PANEL, &found, error, "s", source->name), &deleted);
	if (rc)
		return rc;
	if (deleted) {
		admin_say(
			"%s: stays deleted, because an admin deleted it. To create it again, name its folder.",
			source->name);
		return 0;
	}
	struct leaderboard_settings settings = { .name = source->name,
		.deadline_ms = TIME_NULL,
		.accepting = true,
		.unchecked = source->is_unchecked };
	rc = choose_gpus(db, arena, source->task, &settings, error);
	if (!rc && source->dry_run)
		rc = leaderboard_check_settings(arena, &settings, source->task->language, true, error);
	else if (!rc)
		rc = leaderboard_create(db, arena, &settings, source->task, &source->upload, &source->stock,
			&admin_actor, NULL, error);
	if (!rc)
		admin_say("%s: %s%s%s", source->name, source->dry_run ? "would be created" : "created",
			settings.gpu_count ? "." : "; no worker offers a device that can run it yet.",
			source->is_unchecked || source->dry_run ? ""
													: " It stays hidden until its check passes.");
	return rc;
}

static int compare_source(struct database *db, struct arena *arena, const struct source *source,
	const struct leaderboard *before, struct task_comparison *comparison, struct error *error)
{
	struct task_draft draft;
	int rc = task_draft_make(arena, source->task, &source->upload, &source->stock, &draft, error);
	return rc ? rc
			  : task_draft_compare(db, arena, &draft, before->task_version_id, comparison, error);
}

static void say_difference(struct arena *arena, const struct source *source,
	const struct leaderboard *before, const struct task_comparison *comparison, const char *devices)
{
	long long number = (long long)before->version_number;
	bool runs = comparison->difference == TASK_RUNS_DIFFERENTLY,
		 waits = runs && !source->is_unchecked && strcmp(before->visibility, "hidden") != 0;
	if (waits)
		devices =
			arena_printf(arena, " Version %lld is used until the check passes.%s", number, devices);
	if (comparison->difference == TASK_IS_THE_SAME)
		admin_say("%s: unchanged.%s", source->name, devices);
	else
		admin_say("%s: the folder changed (%s); %s version %lld.%s", source->name,
			task_comparison_words(arena, comparison),
			source->dry_run ? runs ? "would become" : "would stay"
				: waits     ? "next"
				: runs      ? "now"
							: "still",
			number + runs, devices);
}

/* Keeps a leaderboard's settings, but chooses GPUs if it has none. *devices is then a sentence
 * about that for the report, else "". */
static int choose_settings(struct database *db, struct arena *arena, const struct source *source,
	const struct leaderboard *before, struct leaderboard_settings *settings, const char **devices,
	struct error *error)
{
	*settings = (struct leaderboard_settings){ .deadline_ms = before->deadline_ms,
		.accepting = before->accepting,
		.sources = before->sources,
		.license = before->license,
		.unchecked = source->is_unchecked };
	*devices = "";
	int rc = leaderboard_gpus(db, arena, before->id, &settings->gpus, &settings->gpu_count, error);
	if (rc || settings->gpu_count)
		return rc;
	rc = choose_gpus(db, arena, source->task, settings, error);
	if (settings->gpu_count)
		*devices = source->dry_run ? " It would get devices."
			: source->is_unchecked || strcmp(before->visibility, "hidden") == 0
			? " It now has devices."
			: " It now has devices, which take submissions once their checks pass.";
	return rc;
}

static int update_leaderboard(struct database *db, struct arena *arena, const struct source *source,
	const struct leaderboard *before, struct error *error)
{
	struct leaderboard_settings settings;
	struct task_comparison comparison;
	struct found found;
	const char *devices;
	bool uploaded;
	int rc = was_found(
		database_row(db, arena, &UPLOADED_IN_PANEL, &found, error, "i", before->task_version_id),
		&uploaded);
	if (!rc)
		rc = choose_settings(db, arena, source, before, &settings, &devices, error);
	if (!rc)
		rc = compare_source(db, arena, source, before, &comparison, error);
	if (!rc && !source->dry_run)
		rc = leaderboard_update(db, arena, before, &settings, uploaded ? NULL : source->task,
			&source->upload, &source->stock, &admin_actor, NULL, error);
	if (rc)
		return rc;
	if (uploaded)
		admin_say("%s: keeps the task that was uploaded in the browser.%s", source->name, devices);
	else
		say_difference(arena, source, before, &comparison, devices);
	return 0;
}

struct options {
	bool dry_run, is_unchecked;
	const char *set, *root;
};

static int load_task(struct database *db, const char *path, const char *name, bool named,
	const struct options *options, struct error *error)
{
	cleanup_arena struct arena *arena = arena_new();
	struct source source = { .name = name,
		.named = named,
		.dry_run = options->dry_run,
		.is_unchecked = options->is_unchecked,
		.root = options->root };
	struct leaderboard leaderboard;
	int rc = read_source(arena, path, &source, error);
	if (!rc) {
		rc = leaderboard_by_name(db, arena, name, &leaderboard, error);
		rc = rc == ERROR_NOT_FOUND ? create_leaderboard(db, arena, &source, error)
			: rc                   ? rc
								   : update_leaderboard(db, arena, &source, &leaderboard, error);
	}
	return rc ? fail_context(error, "%s", path) : 0;
}

/* ---- finding folders ---- */

static bool is_task(const char *path)
{
	static const char *const DEFINITIONS[] = {
		"task.yml",
		"reference_code.py",
		"reference_code.cu",
		"reference_code.cuh",
		"reference_code.cpp",
		"reference.py",
		"reference.cu",
		"reference.cuh",
		"reference.cpp",
	};
	for (size_t i = 0; i < COUNT(DEFINITIONS); i++) {
		char definition[PATH_MAX];
		snprintf(definition, sizeof definition, "%s/%s", path, DEFINITIONS[i]);
		if (access(definition, F_OK) == 0)
			return true;
	}
	return false;
}

/* Returns the number of rejected folders, each reported on stderr. */
static int load_inside(struct database *db, const char *path, const struct options *options)
{
	struct dirent **entries;
	int count = scandir(path, &entries, NULL, alphasort), refused = 0, tasks = 0;
	struct error error = { 0 };
	if (count < 0) {
		fail(&error, ERROR_INPUT, "Cannot read the folder %s: %s.", path, strerror(errno));
		return admin_complain(&error);
	}
	for (int i = 0; i < count; i++) {
		cleanup_free struct dirent *entry = entries[i];
		char inner[PATH_MAX];
		snprintf(inner, sizeof inner, "%s/%s", path, entry->d_name);
		if (entry->d_name[0] == '.' || !is_task(inner))
			continue;
		tasks++;
		if (load_task(db, inner, entry->d_name, false, options, &error))
			refused += admin_complain(&error);
	}
	free(entries);
	if (!tasks) {
		fail(&error, ERROR_INPUT,
			"%s: there is no task here. A task's folder contains task.yml or reference.py.", path);
		refused += admin_complain(&error);
	}
	return refused;
}

/* Whether a file is one task and not a problem set. An unreadable file counts as a task. */
static bool is_task_file(const char *path)
{
	cleanup_arena struct arena *arena = arena_new();
	struct fileset upload = fileset_make(arena), stock = stock_fileset(arena);
	struct task *task;
	struct task_faults faults;
	const char **sets;
	struct error error;
	if (text_ends_with(path, ".yml") || text_ends_with(path, ".yaml"))
		return false;
	if (fileset_from_path(&upload, path, &error))
		return true; /* loading the task reports what is wrong */
	return !task_check(arena, &upload, &stock, &task, &faults)
		|| !problem_set_paths(arena, &upload, &sets);
}

/* Returns the name of the leaderboard for a task in one file: the name of the file without its
 * ending, or of the folder around a reference.py. */
static const char *name_of_file(struct arena *arena, const char *path)
{
	const char *name = strrchr(path, '/') + 1;
	if (strncmp(name, "reference.", 10) == 0 || strncmp(name, "reference_code.", 15) == 0) {
		const char *folder = arena_strndup(arena, path, (size_t)(name - path) - 1);
		const char *slash = strrchr(folder, '/');
		return slash ? slash + 1 : folder;
	}
	const char *dot = strrchr(name, '.');
	return dot ? arena_strndup(arena, name, (size_t)(dot - name)) : name;
}

static int load_path(struct database *db, const char *given, const struct options *options)
{
	struct error error = { 0 };
	cleanup_free char *path = realpath(given, NULL);
	if (!path) {
		fail(&error, ERROR_INPUT, "Cannot read %s: %s.", given, strerror(errno));
		return admin_complain(&error);
	}
	bool is_file = is_set_path(path);
	if (options->set || (is_file && !is_task_file(path)))
		return load_set(db, path, options->set, options->dry_run, options->is_unchecked);
	if (!is_file && !is_task(path))
		return load_inside(db, path, options);
	cleanup_arena struct arena *arena = arena_new();
	const char *name = is_file ? name_of_file(arena, path) : strrchr(path, '/') + 1;
	return load_task(db, path, name, true, options, &error) ? admin_complain(&error) : 0;
}

/* Parses the leading options. Returns the number of arguments used, or -1. */
static int read_options(int argc, char **argv, struct options *options)
{
	int i = 1;
	for (; i < argc && strncmp(argv[i], "--", 2) == 0; i++)
		if (strcmp(argv[i], "--dry-run") == 0)
			options->dry_run = true;
		else if (strcmp(argv[i], "--unchecked") == 0)
			options->is_unchecked = true;
		else if (strcmp(argv[i], "--set") == 0 && i + 1 < argc)
			options->set = argv[++i];
		else if (strcmp(argv[i], "--root") == 0 && i + 1 < argc)
			options->root = argv[++i];
		else
			return -1;
	return i;
}

/* Says so if the checks before publishing must wait, because there is no admin account yet. */
static int say_what_checks_wait_for(struct database *db, struct error *error)
{
	bool lack_admin;
	int rc = publications_lack_admin(db, &lack_admin, error);
	if (!rc && lack_admin)
		admin_say("Checks wait for the first admin account; create one with: "
				  "podium-admin user add NAME --role admin");
	return rc;
}

int task_load_command(int argc, char **argv)
{
	struct options options = { 0 };
	int first = read_options(argc, argv, &options);
	if (first < 0 || first >= argc)
		return admin_usage("task load");
	cleanup_database struct database *db = admin_connect();
	if (!db)
		return admin_failed;
	struct error error = { 0 };
	int refused = 0;
	for (int i = first; i < argc; i++)
		refused += load_path(db, argv[i], &options);
	if (!options.dry_run && say_what_checks_wait_for(db, &error))
		return admin_complain(&error);
	return refused ? admin_failed : admin_done;
}

/* ---- task publish ---- */

/* Says which devices take no submissions, and why. */
static int say_closed_devices(struct database *db, struct arena *arena,
	const struct leaderboard *leaderboard, struct error *error)
{
	struct check check;
	int rc = check_read(db, arena, leaderboard->id, leaderboard->version_number, &check, error);
	for (size_t i = 0; i < check.device_count && !rc; i++) {
		const struct check_device *device = &check.devices[i];
		if (device->is_closed)
			admin_say("%s: %s takes no submissions until its check passes (%s).", leaderboard->name,
				device->gpu, check_state_name(device->state));
		for (size_t j = 0; device->is_closed && j < device->remarks.count; j++)
			admin_say("%s: %s", device->remarks.list[j].is_error ? "  Error" : "  Warning",
				device->remarks.list[j].sentence);
	}
	return rc;
}

static int publish_task(
	struct database *db, const char *name, int64_t version, bool is_unchecked, struct error *error)
{
	cleanup_arena struct arena *arena = arena_new();
	struct leaderboard leaderboard;
	bool is_published;
	int rc = leaderboard_by_name(db, arena, name, &leaderboard, error);
	if (!rc)
		rc = leaderboard_publish(db, arena, &leaderboard,
			version ? version : leaderboard.version_number, is_unchecked, &admin_actor,
			&is_published, error);
	if (!rc)
		admin_say("%s: %s", leaderboard.name,
			is_published ? "published." : "is published once its check passes.");
	if (!rc) /* another version may be in use now */
		rc = leaderboard_by_name(db, arena, name, &leaderboard, error);
	return rc ? rc : say_closed_devices(db, arena, &leaderboard, error);
}

int task_publish_command(int argc, char **argv)
{
	struct options options = { 0 };
	struct error error = { 0 };
	int first = read_options(argc, argv, &options), words = argc - first;
	int64_t version = words == 2 ? admin_number(argv[first + 1]) : 0;
	if (first < 0 || words < 1 || words > 2 || version < 0 || options.dry_run || options.set
		|| options.root)
		return admin_usage("task publish");
	cleanup_database struct database *db = admin_connect();
	if (!db)
		return admin_failed;
	int rc = publish_task(db, argv[first], version, options.is_unchecked, &error);
	if (!rc)
		rc = say_what_checks_wait_for(db, &error);
	return rc ? admin_complain(&error) : admin_done;
}
