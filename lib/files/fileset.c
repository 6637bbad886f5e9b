#include "lib/files/fileset.h"

#include "lib/base/buffer.h"
#include "lib/base/quote.h"
#include "lib/base/scope.h"
#include "lib/files/path_rule.h"

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
		return fail(error, ERROR_CONFLICT, "The file %s occurs twice.", quote(set->arena, path));
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

/* ---- folders ----
 *
 * Everything is opened relative to the folder's descriptor and without following links. All data
 * therefore comes from the folder, even if somebody changes it meanwhile. */

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
				"The folder contains more than 16 MiB (counted up to %s).", shown);
	}
	walk->total_bytes += bytes.length;
	return fileset_add(walk->set, path, buffer_string(&bytes), bytes.length, walk->error);
}

static int add_entry(struct walk *walk, int directory, const char *name, const char *path)
{
	const char *shown = quote(walk->set->arena, path), *fault = path_fault(path, strlen(path));
	if (fault)
		return fail(walk->error, ERROR_INPUT, "The path %s %s.", shown, fault);
	if (++walk->entries > fileset_most_entries)
		return fail(
			walk->error, ERROR_LIMIT, "The folder contains more than 2048 files and folders.");
	cleanup_fd int entry = openat(directory, name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
	struct stat about;
	if (entry < 0 && errno == ELOOP)
		return fail(walk->error, ERROR_INPUT, "%s is a link; replace it with the file.", shown);
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
		return fail(walk->error, ERROR_LIMIT, "The folder contains more than 512 files.");
	return read_file(walk, entry, path, (size_t)about.st_size);
}

static int walk_folder(struct walk *walk, int directory, const char *prefix)
{
	cleanup_fd int copy = fcntl(directory, F_DUPFD_CLOEXEC, 0);
	cleanup_dir DIR *folder = copy < 0 ? NULL : fdopendir(copy);
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
			rc = add_entry(walk, directory, entry->d_name, path);
	}
	return rc;
}

static int compare_files(const void *left, const void *right)
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
		return fail(error, ERROR_INPUT, "The folder %s contains no files.", shown);
	/* readdir has no fixed order, but the same folder must give the same set. */
	qsort(set->files, set->count, sizeof *set->files, compare_files);
	const char **paths = arena_array(set->arena, const char *, set->count);
	for (size_t i = 0; i < set->count; i++)
		paths[i] = set->files[i].path;
	return paths_check(set->arena, paths, set->count, error);
}
