#include "lib/fileset.h"

#include "lib/buffer.h"
#include "lib/quote.h"
#include "lib/scope.h"
#include "lib/text.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <string.h>
#include <strings.h>
#include <sys/stat.h>

struct fileset fileset_make(struct arena *arena)
{
	return (struct fileset){ .arena = arena };
}

const struct file *fileset_find(const struct fileset *set, const char *path)
{
	for (size_t i = 0; i < set->count; i++)
		if (strcmp(set->files[i].path, path) == 0)
			return &set->files[i];
	return NULL;
}

int fileset_add(
	struct fileset *set, const char *path, const void *bytes, size_t length, struct error *error)
{
	if (fileset_find(set, path))
		return fail(error, ERROR_CONFLICT, "The file %s is there twice.", quote(set->arena, path));
	if (set->count == set->capacity) {
		size_t capacity = set->capacity ? 2 * set->capacity : 16;
		struct file *files = arena_array(set->arena, struct file, capacity);
		if (set->count)
			memcpy(files, set->files, set->count * sizeof *files);
		set->files = files;
		set->capacity = capacity;
	}
	set->files[set->count++] = (struct file){
		.path = arena_strdup(set->arena, path),
		.bytes = arena_copy(set->arena, bytes, length),
		.length = length,
	};
	return 0;
}

/* Rules of paths. A part is what stands between two slashes. */

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

static size_t depth(const char *path)
{
	size_t parts = 1;
	for (const char *slash = strchr(path, '/'); slash; slash = strchr(slash + 1, '/'))
		parts++;
	return parts;
}

static bool has_control(const char *path)
{
	for (; *path; path++)
		if (text_control_length(path))
			return true;
	return false;
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
static bool has_here(const char *path)
{
	return has_part(path, ".");
}
static bool has_empty_part(const char *path)
{
	return has_part(path, "");
}
static bool is_long(const char *path)
{
	return strlen(path) > fileset_most_path_bytes;
}
static bool is_deep(const char *path)
{
	return depth(path) > fileset_most_path_depth;
}

static const struct {
	bool (*broken)(const char *path);
	const char *fault;
} PATH_RULES[] = {
	{ is_empty, "is empty" },
	{ has_control, "contains a control character" },
	{ has_backslash, "contains a backslash; folders are separated by \"/\"" },
	{ is_absolute, "is absolute; only paths below the task's folder are allowed" },
	{ has_drive, "begins with a drive letter; only paths below the task's folder are allowed" },
	{ has_parent, "contains \"..\", which would lead out of the task's folder" },
	{ has_here, "contains the part \".\"; write it without" },
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

/* Orders paths without ASCII case and with '/' before every other byte, so that what collides with
 * a path, or lies in it as if it were a folder, comes right behind it. */
static int rank_of(unsigned char c)
{
	if (c == '/')
		return 1;
	return c ? (c >= 'A' && c <= 'Z' ? c + 34 : c + 2) : 0;
}

static int compare_paths(const void *left, const void *right)
{
	const unsigned char *a = *(const unsigned char *const *)left,
						*b = *(const unsigned char *const *)right;
	while (*a && rank_of(*a) == rank_of(*b)) {
		a++;
		b++;
	}
	return rank_of(*a) - rank_of(*b);
}

static int check_pair(
	struct arena *arena, const char *first, const char *second, struct error *error)
{
	size_t length = strlen(first);
	if (length && first[length - 1] == '/')
		return 0;
	if (strcmp(first, second) == 0)
		return fail(error, ERROR_CONFLICT, "The file %s is there twice; keep one of them.",
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
		rc = check_pair(arena, sorted[i - 1], sorted[i], error);
	return rc;
}

/* Folders. Everything is opened relative to the folder's descriptor and without following links, so
 * what is read lies in the folder even while somebody changes it. */

struct walk {
	struct fileset *set;
	size_t total_bytes;
	size_t entries;
	struct error *error;
};

static int walk_folder(struct walk *walk, int directory, const char *prefix);

static int read_file(struct walk *walk, int descriptor, const char *path, size_t expected)
{
	const char *shown = quote(walk->set->arena, path);
	size_t room = fileset_most_total_bytes - walk->total_bytes;
	if (expected > fileset_most_file_bytes)
		return fail(walk->error, ERROR_LIMIT, "The file %s is larger than 4 MiB.", shown);
	cleanup_buffer struct buffer bytes = { 0 };
	char piece[16384];
	for (ssize_t got; (got = read(descriptor, piece, sizeof piece)) != 0;) {
		if (got < 0)
			return fail(
				walk->error, ERROR_SYSTEM, "Cannot read the file %s: %s.", shown, strerror(errno));
		buffer_append(&bytes, piece, (size_t)got);
		if (bytes.length > fileset_most_file_bytes)
			return fail(walk->error, ERROR_LIMIT, "The file %s is larger than 4 MiB.", shown);
		if (bytes.length > room)
			return fail(walk->error, ERROR_LIMIT,
				"The folder holds more than 16 MiB (counted up to %s).", shown);
	}
	walk->total_bytes += bytes.length;
	return fileset_add(walk->set, path, buffer_string(&bytes), bytes.length, walk->error);
}

static int take_entry(struct walk *walk, int directory, const char *name, const char *path)
{
	const char *shown = quote(walk->set->arena, path), *fault = path_fault(path, strlen(path));
	if (fault)
		return fail(walk->error, ERROR_INPUT, "The path %s %s.", shown, fault);
	if (++walk->entries > fileset_most_entries)
		return fail(walk->error, ERROR_LIMIT, "The folder holds more than 2048 files and folders.");
	cleanup_fd int entry = openat(directory, name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
	struct stat about;
	if (entry < 0 && errno == ELOOP)
		return fail(
			walk->error, ERROR_INPUT, "%s is a link; put the file itself in its place.", shown);
	if (entry < 0 && errno == ENXIO)
		return fail(
			walk->error, ERROR_INPUT, "%s is neither a file nor a folder; remove it.", shown);
	if (entry < 0 || fstat(entry, &about) < 0)
		return fail(walk->error, ERROR_SYSTEM, "Cannot open %s: %s.", shown, strerror(errno));
	if (S_ISDIR(about.st_mode))
		return walk_folder(walk, entry, path);
	if (!S_ISREG(about.st_mode))
		return fail(
			walk->error, ERROR_INPUT, "%s is neither a file nor a folder; remove it.", shown);
	if (walk->set->count == fileset_most_files)
		return fail(walk->error, ERROR_LIMIT, "The folder holds more than 512 files.");
	return read_file(walk, entry, path, (size_t)about.st_size);
}

static void scope_closedir(DIR **folder)
{
	if (*folder)
		closedir(*folder);
}

static int walk_folder(struct walk *walk, int directory, const char *prefix)
{
	cleanup_fd int copy = fcntl(directory, F_DUPFD_CLOEXEC, 0);
	__attribute__((cleanup(scope_closedir))) DIR *folder = copy < 0 ? NULL : fdopendir(copy);
	if (!folder)
		return fail(walk->error, ERROR_SYSTEM, "Cannot read the folder %s: %s.",
			quote(walk->set->arena, prefix), strerror(errno));
	steal_fd(&copy);
	int rc = 0;
	for (struct dirent *entry; !rc && (entry = readdir(folder));) {
		if (strcmp(entry->d_name, ".") == 0 || strcmp(entry->d_name, "..") == 0)
			continue;
		const char *path =
			arena_printf(walk->set->arena, "%s%s%s", prefix, *prefix ? "/" : "", entry->d_name);
		if (!path_is_debris(path))
			rc = take_entry(walk, directory, entry->d_name, path);
	}
	return rc;
}

static int by_path(const void *left, const void *right)
{
	return strcmp(((const struct file *)left)->path, ((const struct file *)right)->path);
}

int fileset_from_folder(struct fileset *set, const char *path, struct error *error)
{
	const char *shown = quote(set->arena, path);
	cleanup_fd int directory = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (directory < 0)
		return fail(error, errno == ENOENT ? ERROR_NOT_FOUND : ERROR_SYSTEM,
			"Cannot open the folder %s: %s.", shown, strerror(errno));
	struct walk walk = { .set = set, .error = error };
	int rc = walk_folder(&walk, directory, "");
	if (rc)
		return rc;
	if (!set->count)
		return fail(error, ERROR_INPUT, "The folder %s holds no files.", shown);
	/* readdir gives no order; the same folder must give the same set. */
	qsort(set->files, set->count, sizeof *set->files, by_path);
	const char **paths = arena_array(set->arena, const char *, set->count);
	for (size_t i = 0; i < set->count; i++)
		paths[i] = set->files[i].path;
	return paths_check(set->arena, paths, set->count, error);
}
