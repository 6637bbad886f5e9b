/* Reads a problem set; problem_set_plan.c compares it with the leaderboards. */
#include "lib/leaderboard/problem_set.h"

#include "lib/base/buffer.h"
#include "lib/base/format.h"
#include "lib/base/quote.h"
#include "lib/base/scope.h"
#include "lib/base/text.h"
#include "lib/files/path_rule.h"
#include "lib/task/reader.h"

#include <string.h>
#include <strings.h>

/* ---- paths ---- */

static const char *base_name(const char *path)
{
	const char *slash = strrchr(path, '/');
	return slash ? slash + 1 : path;
}

/* "a/b/" of "a/b/c", "" of "c". */
static const char *folder_of(struct arena *arena, const char *path)
{
	return arena_strndup(arena, path, (size_t)(base_name(path) - path));
}

static bool is_below(const char *path, const char *folder)
{
	return strncmp(path, folder, strlen(folder)) == 0;
}

/* The folder without leading "./" and trailing slashes, which authors may write. */
static const char *plain_directory(struct arena *arena, const char *text)
{
	while (strncmp(text, "./", 2) == 0)
		text += 2;
	size_t length = strlen(text);
	while (length && text[length - 1] == '/')
		length--;
	return length == 1 && *text == '.' ? "" : arena_strndup(arena, text, length);
}

/* ---- finding the YAML ---- */

static bool is_yaml(const struct file *file)
{
	const char *name = base_name(file->path);
	return (text_ends_with(name, ".yaml") || text_ends_with(name, ".yml"))
		&& strcmp(name, "task.yml") != 0 && strcmp(name, "task.yaml") != 0;
}

/* Whether a line begins with `problems:`. A search in the text also finds a set whose YAML is
 * broken. */
static bool has_problems(const struct file *file)
{
	static const char key[] = "problems";
	for (const char *at = file->bytes; at; at = strchr(at, '\n')) {
		at += *at == '\n';
		if (strncmp(at, key, sizeof key - 1) == 0
			&& at[sizeof key - 1 + strspn(at + sizeof key - 1, " ")] == ':')
			return true;
	}
	return false;
}

static size_t yaml_paths(
	struct arena *arena, const struct fileset *upload, bool any, const char ***paths)
{
	size_t count = 0;
	*paths = arena_array(arena, const char *, upload->count + 1);
	for (size_t i = 0; i < upload->count; i++)
		if (is_yaml(&upload->files[i]) && (any || has_problems(&upload->files[i])))
			(*paths)[count++] = upload->files[i].path;
	return count;
}

size_t problem_set_paths(struct arena *arena, const struct fileset *upload, const char ***paths)
{
	size_t count = yaml_paths(arena, upload, false, paths);
	if (count)
		return count;
	/* A single YAML without problems was probably meant to be the set. */
	count = yaml_paths(arena, upload, true, paths);
	return count == 1 ? 1 : 0;
}

static const struct file *find_set_file(struct task_reader *reader, const char *path)
{
	const char **paths;
	size_t count = problem_set_paths(reader->arena, reader->upload, &paths);
	if (path) {
		const struct file *file = fileset_find(reader->upload, path);
		reader->name = "the upload";
		if (!file)
			task_fault(
				reader, NULL, NULL, "there is no file %s in it.", quote(reader->arena, path));
		return file;
	}
	if (count == 1)
		return fileset_find(reader->upload, paths[0]);
	reader->name = "the upload";
	if (!count)
		task_fault(reader, NULL, NULL,
			"there is no problem set in it; add a YAML file with the key problems, not named "
			"task.yml.");
	else
		task_fault(reader, NULL, NULL, "there are %zu problem sets in it (%s, %s%s); choose one.",
			count, quote(reader->arena, paths[0]), quote(reader->arena, paths[1]),
			count > 2 ? ", ..." : "");
	return NULL;
}

/* ---- the YAML ---- */

/* One entry of `problems` as written. */
struct entry {
	const char *directory, *name;
	int64_t deadline_ms;
	const char **gpus;
	size_t gpu_count;
};

struct head {
	const char *name, *description;
	int64_t deadline_ms;
	const struct yaml_node *problems;
};

static bool leads_out(const char *path)
{
	return path[0] == '/' || strcmp(path, "..") == 0 || strncmp(path, "../", 3) == 0
		|| strstr(path, "/../") || text_ends_with(path, "/..");
}

static const char *directory_fault(const char *text)
{
	if (leads_out(text))
		return "leads out of the folder of this file; name a folder below it";
	if (!*text)
		return "is empty; name the task's folder, relative to the folder of this file";
	cleanup_arena struct arena *arena = arena_new();
	const char *path = plain_directory(arena, text);
	return *path ? path_fault(path, strlen(path)) : NULL;
}

static const char *name_fault(const char *text)
{
	if (!text_is_leaderboard_name(text))
		return "is not a valid leaderboard name (1 to 64 letters, digits, dots, dashes and "
			   "underscores, beginning with a letter or digit)";
	return leaderboard_check_name(text, NULL)
		? "ends like a file name and would get the address of a file; choose another"
		: NULL;
}

static const char *gpu_fault(const char *text)
{
	return gpu_is_name(text) ? NULL
							 : "is not a valid GPU model (1 to 48 letters, digits, dots, dashes "
							   "and underscores, for example H200 or CPU)";
}

/* Reads `2026-11-21 06:10` or `2026-11-21`. YAML reads some of these as dates and some as text. */
static void read_deadline(struct task_reader *reader, const struct yaml_node *value,
	const struct task_key *key, void *base)
{
	int64_t *deadline_ms = (int64_t *)(void *)((char *)base + key->offset);
	bool is_text = value->kind == YAML_TEXT || value->kind == YAML_DATE;
	*deadline_ms = TIME_NULL;
	if (value->kind == YAML_NULL || (is_text && !*value->text))
		return;
	if (!is_text || parse_utc(value->text, deadline_ms))
		task_fault(reader, value, key->name,
			"%s is not a date and time; write it as 2026-11-21 06:10 or 2026-11-21, in UTC, or "
			"leave it empty for none.",
			*value->text ? quote(reader->arena, value->text) : yaml_kind_name(value->kind));
}

static void read_problems(struct task_reader *reader, const struct yaml_node *value,
	const struct task_key *key, void *base)
{
	struct head *head = base;
	if (value->kind != YAML_LIST)
		task_fault(reader, value, key->name,
			"expected a list of problems (lines that begin with \"- \"), not %s.",
			yaml_kind_name(value->kind));
	else if (!value->count)
		task_fault(reader, value, key->name, "the list is empty; name at least one problem.");
	else if (value->count > problem_set_most_problems)
		task_fault(reader, value, key->name, "there are %zu problems; at most %d are allowed.",
			value->count, problem_set_most_problems);
	else
		head->problems = value;
}

static const struct task_key HEAD_KEYS[] = {
	{ .name = "name", .read = task_read_text, .offset = offsetof(struct head, name) },
	{ .name = "deadline", .read = read_deadline, .offset = offsetof(struct head, deadline_ms) },
	{ .name = "description", .read = task_read_text, .offset = offsetof(struct head, description) },
	{ .name = "problems", .read = read_problems, .required = true },
};

static const struct task_key ENTRY_KEYS[] = {
	{ .name = "directory",
		.read = task_read_text,
		.offset = offsetof(struct entry, directory),
		.rule = directory_fault,
		.required = true },
	{ .name = "name",
		.read = task_read_text,
		.offset = offsetof(struct entry, name),
		.rule = name_fault,
		.required = true },
	{ .name = "deadline", .read = read_deadline, .offset = offsetof(struct entry, deadline_ms) },
	{ .name = "gpus",
		.read = task_read_texts,
		.offset = offsetof(struct entry, gpus),
		.count_offset = offsetof(struct entry, gpu_count),
		.rule = gpu_fault },
};

/* Names of leaderboards ignore case. */
static void check_repetition(struct task_reader *reader, const struct yaml_node *at,
	const struct problem_set *set, const char *name)
{
	for (size_t i = 0; i < set->problem_count; i++)
		if (strcasecmp(set->problems[i].name, name) == 0) {
			task_fault(reader, at, "name", "%s is listed twice, the first time in line %d.",
				quote(reader->arena, name), set->problems[i].line);
			return;
		}
}

static void read_entries(
	struct task_reader *reader, const struct head *head, struct problem_set *set)
{
	const char *folder = folder_of(reader->arena, set->path);
	set->problems = arena_array(reader->arena, struct problem, head->problems->count);
	size_t number = 0;
	for (const struct yaml_node *node = head->problems->first; node; node = node->next) {
		struct entry entry = { .deadline_ms = head->deadline_ms };
		reader->prefix = "problems.";
		task_read_map(reader, node, arena_printf(reader->arena, "entry %zu of problems", ++number),
			ENTRY_KEYS, COUNT(ENTRY_KEYS), &entry);
		if (entry.name)
			check_repetition(reader, node, set, entry.name);
		reader->prefix = "";
		if (!entry.name || !entry.directory)
			continue;
		const char *inner = plain_directory(reader->arena, entry.directory);
		const char *path = arena_printf(reader->arena, "%s%s", folder, inner);
		set->problems[set->problem_count++] = (struct problem){
			.directory = plain_directory(reader->arena, path),
			.name = entry.name,
			.deadline_ms = entry.deadline_ms,
			.gpus = entry.gpus,
			.gpu_count = entry.gpu_count,
			.line = node->line,
		};
	}
}

static void read_yaml(struct task_reader *reader, const struct file *file, struct problem_set *set)
{
	struct yaml_node *root;
	struct error error;
	struct head head = { .deadline_ms = TIME_NULL };
	if (yaml_parse(reader->arena, file->path, file->bytes, file->length, &root, &error)) {
		reader->faults->sentences[reader->faults->count++] =
			arena_strdup(reader->arena, error.text);
		return;
	}
	task_read_map(reader, root, "the problem set", HEAD_KEYS, COUNT(HEAD_KEYS), &head);
	set->name = head.name ? head.name : "";
	set->description = head.description ? head.description : "";
	if (head.problems)
		read_entries(reader, &head, set);
}

/* ---- the folders ---- */

static void refuse_directory(struct arena *arena, struct problem *problem,
	const struct problem_set *set, const char *sentence)
{
	problem->faults.sentences[problem->faults.count++] = arena_printf(
		arena, "%s line %d, problems.directory: %s", set->path, problem->line, sentence);
}

/* Finds another folder of that name, which the author probably meant. */
static const char *folder_elsewhere(
	struct arena *arena, const struct fileset *upload, const char *directory)
{
	const char *name = base_name(directory);
	size_t length = strlen(name);
	for (size_t i = 0; i < upload->count; i++)
		for (const char *part = upload->files[i].path, *slash; (slash = strchr(part, '/'));
			 part = slash + 1)
			if ((size_t)(slash - part) == length && strncmp(part, name, length) == 0)
				return arena_strndup(
					arena, upload->files[i].path, (size_t)(slash - upload->files[i].path));
	return NULL;
}

static bool has_folder(const struct fileset *upload, const char *folder)
{
	for (size_t i = 0; i < upload->count; i++)
		if (is_below(upload->files[i].path, folder))
			return true;
	return false;
}

/* A task's view of the upload: the files below `root`, with paths relative to it, without the
 * task.yml of other tasks. The bytes are not copied. */
static struct fileset view_below(
	struct arena *arena, const struct fileset *upload, const char *root, const char *folder)
{
	struct fileset view = fileset_make(arena);
	const char *own = arena_printf(arena, "%stask.yml", folder);
	view.files = arena_array(arena, struct file, upload->count + 1);
	view.capacity = upload->count + 1;
	for (size_t i = 0; i < upload->count; i++) {
		struct file file = upload->files[i];
		bool foreign = strcmp(base_name(file.path), "task.yml") == 0 && strcmp(file.path, own) != 0;
		if (foreign || !is_below(file.path, root))
			continue;
		file.path += strlen(root);
		view.files[view.count++] = file;
	}
	return view;
}

static void check_below(struct arena *arena, const struct fileset *upload,
	const struct fileset *stock, struct problem *problem, const char *root, const char *folder)
{
	struct task *task;
	problem->upload = view_below(arena, upload, root, folder);
	problem->task =
		task_check(arena, &problem->upload, stock, &task, &problem->faults) ? NULL : task;
}

/* Puts the folder before the faults' sentences, because each sentence begins with the name of a
 * file in that folder. */
static void name_folder(struct arena *arena, struct problem *problem, const char *folder)
{
	for (size_t i = 0; i < problem->faults.count; i++)
		problem->faults.sentences[i] =
			arena_printf(arena, "%s%s", folder, problem->faults.sentences[i]);
}

/* Chooses the lowest folder that contains all files of the task as its upload. A task is then the
 * same whether its folder was uploaded alone, with its parent, or deep in a tree. */
static void read_folder(struct arena *arena, const struct fileset *upload,
	const struct fileset *stock, struct problem *problem, const char *folder)
{
	check_below(arena, upload, stock, problem, folder, folder);
	if (!fileset_find(upload, arena_printf(arena, "%stask.yml", folder))) {
		name_folder(arena, problem, folder);
		return;
	}
	for (const char *root = folder; !problem->task && *root;) {
		root = folder_of(arena, arena_strndup(arena, root, strlen(root) - 1));
		check_below(arena, upload, stock, problem, root, folder);
	}
}

static void read_problem(struct arena *arena, const struct fileset *upload,
	const struct fileset *stock, const struct problem_set *set, struct problem *problem)
{
	const char *folder = *problem->directory ? arena_printf(arena, "%s/", problem->directory) : "";
	if (has_folder(upload, folder)) {
		read_folder(arena, upload, stock, problem, folder);
		return;
	}
	const char *shown = quote(arena, problem->directory),
			   *other = folder_elsewhere(arena, upload, problem->directory);
	refuse_directory(arena, problem, set,
		other ? arena_printf(
			arena, "there is no folder %s in the upload; there is %s.", shown, quote(arena, other))
			  : arena_printf(arena, "there is no folder %s in the upload.", shown));
}

int problem_set_read(struct arena *arena, const struct fileset *upload, const struct fileset *stock,
	const char *path, struct problem_set **set, struct task_faults *faults)
{
	*faults = (struct task_faults){ 0 };
	*set = arena_array(arena, struct problem_set, 1);
	struct task_reader reader = { .arena = arena,
		.upload = upload,
		.stock = stock,
		.name = "",
		.folder = "",
		.prefix = "",
		.faults = faults };
	const struct file *file = find_set_file(&reader, path);
	if (!file)
		return ERROR_INPUT;
	reader.name = (*set)->path = file->path;
	read_yaml(&reader, file, *set);
	if (faults->count)
		return ERROR_INPUT;
	for (size_t i = 0; i < (*set)->problem_count; i++)
		read_problem(arena, upload, stock, *set, &(*set)->problems[i]);
	return 0;
}
