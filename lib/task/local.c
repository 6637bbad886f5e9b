#include "lib/task/local.h"

#include "lib/base/buffer.h"
#include "lib/base/quote.h"
#include "lib/base/scope.h"
#include "lib/base/yaml.h"
#include "lib/files/path_rule.h"
#include "lib/task/reader.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* ---- the sources above the folder ---- */

/* How many folders up a relative path leads at most: 2 for "../a/../../b". */
static size_t levels_above(const char *path)
{
	long depth = 0, least = 0;
	while (*path) {
		size_t length = strcspn(path, "/");
		if (length == 2 && strncmp(path, "..", 2) == 0)
			depth--;
		else if (length && !(length == 1 && *path == '.'))
			depth++;
		least = depth < least ? depth : least;
		path += length + (path[length] == '/');
	}
	return (size_t)-least;
}

struct sources {
	const char *texts[fileset_most_files];
	size_t count, levels; /* the most levels above the folder */
	const char *highest;  /* the source with the most levels */
};

/* Collects the texts below a node that could be paths of files above the folder. A text that is no
 * source does no harm: the file is read, and the task reader does not use it. */
static void collect_texts(const struct yaml_node *node, struct sources *sources)
{
	for (const struct yaml_node *child = node->first; child; child = child->next)
		collect_texts(child, sources);
	if (node->kind != YAML_TEXT || node->text[0] == '/' || strlen(node->text) > path_most_bytes)
		return;
	size_t levels = levels_above(node->text);
	if (!levels || sources->count == fileset_most_files)
		return;
	sources->texts[sources->count++] = node->text;
	if (levels > sources->levels) {
		sources->levels = levels;
		sources->highest = node->text;
	}
}

/* Collects the sources in the keys that can name files. */
static void collect_sources(const struct yaml_node *root, struct sources *sources)
{
	static const char *const KEYS[] = { "files", "templates", "podium" };
	for (size_t i = 0; i < COUNT(KEYS) && root->kind == YAML_MAP; i++) {
		const struct yaml_node *value = yaml_find(root, KEYS[i]);
		if (value)
			collect_texts(value, sources);
	}
}

/* ---- the tree ---- */

/* Cuts the last part off an absolute path. False at "/". */
static bool go_up(char *path)
{
	char *slash = strrchr(path, '/');
	if (!slash || !path[1])
		return false;
	slash[slash == path] = '\0';
	return true;
}

static bool is_git_tree(const char *folder)
{
	char path[PATH_MAX + 8];
	snprintf(path, sizeof path, "%s/.git", folder);
	return access(path, F_OK) == 0;
}

/* Finds the tree that the folder belongs to, as an absolute path without links: see task_from_path.
 */
static int find_tree(
	const char *folder, const char *root, char tree[static PATH_MAX], struct error *error)
{
	if (root) {
		if (!realpath(root, tree))
			return fail(error, ERROR_NOT_FOUND, "Cannot open %s: %s.", root, strerror(errno));
		size_t length = strcmp(tree, "/") == 0 ? 0 : strlen(tree);
		if (strncmp(folder, tree, length) != 0 || (folder[length] && folder[length] != '/'))
			return fail(error, ERROR_INPUT, "%s is not in %s.", folder, root);
		return 0;
	}
	memcpy(tree, folder, strlen(folder) + 1);
	do
		if (is_git_tree(tree))
			return 0;
	while (go_up(tree));
	memcpy(tree, folder, strlen(folder) + 1);
	go_up(tree);
	return 0;
}

/* ---- reading ---- */

/* Opens a file below the folder without following links. The path has no ".." part. */
static int open_below(const char *folder, const char *path)
{
	cleanup_fd int at = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	char part[path_most_bytes + 1];
	while (at >= 0) {
		size_t length = strcspn(path, "/");
		snprintf(part, sizeof part, "%.*s", (int)length, path);
		bool is_last = !path[length];
		int next = openat(
			at, part, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC | (is_last ? 0 : O_DIRECTORY));
		if (is_last || next < 0)
			return next;
		close(at);
		at = next;
		path += length + 1;
	}
	return -1;
}

static size_t total_bytes(const struct fileset *set)
{
	size_t total = 0;
	for (size_t i = 0; i < set->count; i++)
		total += set->files[i].length;
	return total;
}

/* Adds a file from above the task's folder. A missing file is no error here, because the task
 * reader reports it. */
static int add_above(struct fileset *set, const char *base, const char *path, struct error *error)
{
	const char *shown = quote(set->arena, path), *fault = path_fault(path, strlen(path));
	if (fileset_find(set, path))
		return 0;
	if (fault)
		return fail(error, ERROR_INPUT, "The path %s %s.", shown, fault);
	cleanup_fd int descriptor = open_below(base, path);
	struct stat about;
	if (descriptor < 0 && (errno == ELOOP || errno == ENOTDIR))
		return fail(error, ERROR_INPUT,
			"%s is a link or is reached through one; replace the link with what it points to.",
			shown);
	if (descriptor < 0 || fstat(descriptor, &about) < 0 || !S_ISREG(about.st_mode))
		return 0;
	cleanup_buffer struct buffer bytes = { 0 };
	char piece[16384];
	for (ssize_t got; (got = read(descriptor, piece, sizeof piece)) != 0;) {
		if (got < 0)
			return fail(error, ERROR_SYSTEM, "Cannot read %s: %s.", shown, strerror(errno));
		buffer_append(&bytes, piece, (size_t)got);
		if (bytes.length > fileset_most_file_bytes)
			return fail(error, ERROR_LIMIT, "The file %s is larger than 4 MiB.", shown);
	}
	if (set->count == fileset_most_files
		|| total_bytes(set) + bytes.length > fileset_most_total_bytes)
		return fail(error, ERROR_LIMIT,
			"The task has more than 512 files or 16 MiB (counted up to %s).", shown);
	return fileset_add(set, path, buffer_string(&bytes), bytes.length, error);
}

/* Puts `prefix` before all paths: the path from the set's new top folder to the task's folder. */
static int move_down(struct fileset *set, const char *prefix, struct error *error)
{
	for (size_t i = 0; i < set->count; i++) {
		const char *path = arena_printf(set->arena, "%s/%s", prefix, set->files[i].path);
		const char *fault = path_fault(path, strlen(path));
		if (fault)
			return fail(error, ERROR_INPUT, "The path %s %s.", quote(set->arena, path), fault);
		set->files[i].path = path;
	}
	return 0;
}

static int add_sources(struct fileset *set, const char *folder, const char *root,
	const struct sources *sources, struct error *error)
{
	char tree[PATH_MAX], base[PATH_MAX];
	int rc = find_tree(folder, root, tree, error);
	if (rc)
		return rc;
	snprintf(base, sizeof base, "%s", folder);
	for (size_t i = 0; i < sources->levels; i++)
		if (strcmp(base, tree) == 0 || !go_up(base))
			return fail(error, ERROR_INPUT,
				"The source %s of task.yml leads out of %s. If it belongs to the task, name a "
				"folder that contains both with --root.",
				quote(set->arena, sources->highest), tree);
	const char *prefix = folder + strlen(base) + (base[1] != '\0');
	rc = move_down(set, prefix, error);
	const char *from = arena_printf(set->arena, "%s/", prefix);
	for (size_t i = 0; i < sources->count && !rc; i++) {
		const char *path = task_resolve_path(set->arena, from, sources->texts[i]);
		if (path && *path)
			rc = add_above(set, base, path, error);
	}
	return rc;
}

int task_from_path(struct fileset *set, const char *path, const char *root, struct error *error)
{
	int rc = fileset_from_path(set, path, error);
	const struct file *definition = rc ? NULL : fileset_find(set, "task.yml");
	char folder[PATH_MAX];
	struct stat about;
	if (!definition || stat(path, &about) || !S_ISDIR(about.st_mode))
		return rc;
	struct yaml_node *node;
	struct sources sources = { 0 };
	struct error ignored; /* the task reader will report the same fault */
	if (!yaml_parse(set->arena, "task.yml", definition->bytes, definition->length, &node, &ignored))
		collect_sources(node, &sources);
	if (!sources.count)
		return 0;
	if (!realpath(path, folder))
		return fail(error, ERROR_SYSTEM, "Cannot open %s: %s.", path, strerror(errno));
	return add_sources(set, folder, root, &sources, error);
}
