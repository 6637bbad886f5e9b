#include "lib/files/path_rule.h"

#include "lib/base/quote.h"
#include "lib/base/scope.h"
#include "lib/base/text.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>

/* ---- rules ----
 *
 * A part is the text between two slashes. */

static bool has_part(const char *path, const char *part)
{
	size_t length = strlen(part);
	for (const char *at = path;; at = strchr(at, '/') + 1) {
		if (strncmp(at, part, length) == 0 && (at[length] == '/' || !at[length]))
			return true;
		if (!strchr(at, '/'))
			return false;
	}
}

static size_t count_parts(const char *path)
{
	size_t parts = 1;
	for (const char *slash = strchr(path, '/'); slash; slash = strchr(slash + 1, '/'))
		parts++;
	return parts;
}

static bool is_empty(const char *path)
{
	return !*path;
}
static bool is_absolute(const char *path)
{
	return path[0] == '/';
}
static bool has_drive(const char *path)
{
	return path[0] && path[1] == ':';
}
static bool has_backslash(const char *path)
{
	return strchr(path, '\\');
}
static bool has_parent(const char *path)
{
	return has_part(path, "..");
}
static bool has_dot(const char *path)
{
	return has_part(path, ".");
}
static bool has_empty_part(const char *path)
{
	return has_part(path, "");
}
static bool is_long(const char *path)
{
	return strlen(path) > path_most_bytes;
}
static bool is_deep(const char *path)
{
	return count_parts(path) > path_most_depth;
}

static const struct {
	bool (*broken)(const char *path);
	const char *fault;
} PATH_RULES[] = {
	{ is_empty, "is empty" },
	{ text_has_control, "contains a control character" },
	{ has_backslash, "contains a backslash; folders are separated by \"/\"" },
	{ is_absolute, "is absolute; only paths below the task's folder are allowed" },
	{ has_drive, "begins with a drive letter; only paths below the task's folder are allowed" },
	{ has_parent, "contains \"..\", which would lead out of the task's folder" },
	{ has_dot, "contains the part \".\"; write it without" },
	{ has_empty_part, "contains an empty part (two slashes in a row, or one at the end)" },
	{ is_long, "is longer than 200 bytes" },
	{ is_deep, "lies more than 8 folders deep" },
};

const char *path_fault(const char *path, size_t length)
{
	if (memchr(path, '\0', length))
		return "contains a NUL byte";
	if (!text_is_utf8(path, length))
		return "is not UTF-8";
	for (size_t i = 0; i < COUNT(PATH_RULES); i++)
		if (PATH_RULES[i].broken(path))
			return PATH_RULES[i].fault;
	return NULL;
}

bool path_is_debris(const char *path)
{
	static const char *const names[] = { "__MACOSX", ".DS_Store", "__pycache__", ".git" };
	for (size_t i = 0; i < COUNT(names); i++)
		if (has_part(path, names[i]))
			return true;
	return false;
}

/* Ranks a byte for sorting paths: ASCII case does not count, and '/' comes before other bytes.
 * Colliding paths, or a file and a folder of the same name, then become neighbors. */
static int sort_rank(unsigned char c)
{
	if (c == '/')
		return 1;
	return c ? (c >= 'A' && c <= 'Z' ? c + 34 : c + 2) : 0;
}

static int compare_paths(const void *left, const void *right)
{
	const unsigned char *a = *(const unsigned char *const *)left,
						*b = *(const unsigned char *const *)right;
	while (*a && sort_rank(*a) == sort_rank(*b)) {
		a++;
		b++;
	}
	return sort_rank(*a) - sort_rank(*b);
}

static int check_neighbours(
	struct arena *arena, const char *first, const char *second, struct error *error)
{
	size_t length = strlen(first);
	if (length && first[length - 1] == '/')
		return 0;
	if (strcmp(first, second) == 0)
		return fail(error, ERROR_CONFLICT, "The file %s occurs twice; keep one of them.",
			quote(arena, first));
	if (strcasecmp(first, second) == 0)
		return fail(error, ERROR_CONFLICT,
			"The files %s and %s differ only in upper and lower case; rename one of them.",
			quote(arena, first), quote(arena, second));
	if (strncasecmp(first, second, length) == 0 && second[length] == '/')
		return fail(error, ERROR_CONFLICT,
			"%s is a file and also a folder (of %s); rename one of them.", quote(arena, first),
			quote(arena, second));
	return 0;
}

int paths_check(struct arena *arena, const char *const *paths, size_t count, struct error *error)
{
	const char **sorted = arena_array(arena, const char *, count + 1);
	for (size_t i = 0; i < count; i++)
		sorted[i] = paths[i];
	qsort(sorted, count, sizeof *sorted, compare_paths);
	int rc = 0;
	for (size_t i = 1; i < count && !rc; i++)
		rc = check_neighbours(arena, sorted[i - 1], sorted[i], error);
	return rc;
}
