#include "worker/run/sandbox/folder.h"

#include "lib/base/scope.h"
#include "lib/base/write.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

enum { open_folder = O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC };

int folder_open(int parent, const char *name, struct error *error)
{
	int folder = openat(parent, name, open_folder);
	return folder >= 0
		? folder
		: fail(error, ERROR_SYSTEM, "Cannot open the folder \"%s\": %s.", name, strerror(errno));
}

int folder_make(
	int parent, const char *name, mode_t mode, uid_t owner, gid_t group, struct error *error)
{
	if (mkdirat(parent, name, 0700))
		return fail(
			error, ERROR_SYSTEM, "Cannot create the folder \"%s\": %s.", name, strerror(errno));
	cleanup_fd int folder = folder_open(parent, name, error);
	if (folder < 0)
		return folder;
	/* Set the mode last: a change of the owner clears its special bits. */
	if (fchown(folder, owner, group) || fchmod(folder, mode))
		return fail(error, ERROR_SYSTEM, "Cannot change the owner of the folder \"%s\": %s.", name,
			strerror(errno));
	return steal_fd(&folder);
}

static bool is_plain_part(const char *part, size_t length)
{
	if (!length || (length == 1 && part[0] == '.') || (length == 2 && memcmp(part, "..", 2) == 0))
		return false;
	for (size_t i = 0; i < length; i++)
		if ((unsigned char)part[i] < 0x20 || part[i] == 0x7f)
			return false;
	return true;
}

bool folder_is_plain_path(const char *path)
{
	if (strlen(path) > 200)
		return false;
	for (;;) {
		size_t length = strcspn(path, "/");
		if (!is_plain_part(path, length))
			return false;
		if (!path[length])
			return true;
		path += length + 1;
	}
}

/* Opens the folder that contains the last part of `path` and creates missing folders on the way.
 * *name becomes the path's last part. */
static int open_parent(int folder, const char *path, const char **name, struct error *error)
{
	cleanup_fd int parent = fcntl(folder, F_DUPFD_CLOEXEC, 0);
	if (parent < 0)
		return fail(error, ERROR_SYSTEM, "A folder cannot be opened again: %s.", strerror(errno));
	for (const char *slash; (slash = strchr(path, '/')); path = slash + 1) {
		char part[201];
		snprintf(part, sizeof part, "%.*s", (int)(slash - path), path);
		if (mkdirat(parent, part, 0755) && errno != EEXIST)
			return fail(
				error, ERROR_SYSTEM, "Cannot create the folder \"%s\": %s.", part, strerror(errno));
		int next = folder_open(parent, part, error);
		if (next < 0)
			return next;
		fchmod(next, 0755);
		close(parent);
		parent = next;
	}
	*name = path;
	return steal_fd(&parent);
}

int folder_write(int folder, const char *path, const void *bytes, size_t length, mode_t mode,
	struct error *error)
{
	const char *name = path;
	cleanup_fd int parent = open_parent(folder, path, &name, error);
	if (parent < 0)
		return parent;
	cleanup_fd int file =
		openat(parent, name, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
	if (file < 0 || write_fully(file, bytes, length) || fchmod(file, mode))
		return fail(
			error, ERROR_SYSTEM, "The file \"%s\" cannot be written: %s.", path, strerror(errno));
	return 0;
}

int folder_read(int folder, const char *name, size_t most, struct arena *arena, const char **bytes,
	size_t *length, struct error *error)
{
	/* O_NONBLOCK: the name may be a pipe without a writer. */
	cleanup_fd int file = openat(folder, name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
	struct stat status;
	if (file < 0 || fstat(file, &status))
		return fail(
			error, ERROR_NOT_FOUND, "The file \"%s\" cannot be read: %s.", name, strerror(errno));
	/* Refuse a file with a second name: it may be somebody else's file. */
	if (!S_ISREG(status.st_mode) || status.st_nlink != 1 || (uint64_t)status.st_size > most)
		return fail(error, ERROR_LIMIT,
			"\"%s\" is not a regular file with a single name and at most %zu bytes.", name, most);
	char *content = arena_alloc(arena, (size_t)status.st_size + 1);
	size_t have = 0;
	while (have < (size_t)status.st_size) {
		ssize_t got = read(file, content + have, (size_t)status.st_size - have);
		if (got < 0)
			return fail(
				error, ERROR_SYSTEM, "The file \"%s\" cannot be read: %s.", name, strerror(errno));
		if (got == 0)
			break;
		have += (size_t)got;
	}
	*bytes = content;
	*length = have;
	return 0;
}

static int empty_folder(int top, int folder, unsigned long *moved);

static int empty_and_remove(int top, const char *name, unsigned long *moved)
{
	cleanup_fd int inner = openat(top, name, open_folder);
	return inner < 0 || empty_folder(top, inner, moved) ? -1 : unlinkat(top, name, AT_REMOVEDIR);
}

static int move_up(int top, int folder, const char *name, unsigned long *moved)
{
	char place[32];
	int rc;
	do
		snprintf(place, sizeof place, "removed-%lu", ++*moved);
	while ((rc = renameat(folder, name, top, place))
		&& (errno == EEXIST || errno == ENOTEMPTY || errno == ENOTDIR));
	return rc;
}

/* Removes one entry. A folder that is not empty moves up to `top` and is emptied there, so that
 * depth costs neither stack nor descriptors. */
static int remove_entry(int top, int folder, const char *name, unsigned long *moved)
{
	if (unlinkat(folder, name, 0) == 0 || unlinkat(folder, name, AT_REMOVEDIR) == 0)
		return 0;
	if (errno != ENOTEMPTY && errno != EEXIST)
		return -1;
	/* An ordinary user must be able to read a folder to empty it, and to write to it to move it. */
	if (geteuid() != 0 && fchmodat(folder, name, 0700, 0))
		return -1;
	return folder == top ? empty_and_remove(top, name, moved) : move_up(top, folder, name, moved);
}

/* Empties `folder`, which is `top` or lies in it. */
static int empty_folder(int top, int folder, unsigned long *moved)
{
	fchmod(folder, 0700);
	cleanup_fd int reopened = openat(folder, ".", open_folder);
	cleanup_dir DIR *stream = reopened >= 0 ? fdopendir(reopened) : NULL;
	if (!stream)
		return -1;
	steal_fd(&reopened);
	for (struct dirent *entry; (entry = readdir(stream));)
		if (strcmp(entry->d_name, ".") != 0 && strcmp(entry->d_name, "..") != 0
			&& remove_entry(top, folder, entry->d_name, moved))
			return -1;
	return 0;
}

int folder_remove(int parent, const char *name, struct error *error)
{
	cleanup_fd int folder = folder_open(parent, name, error);
	if (folder < 0)
		return folder;
	unsigned long moved = 0;
	/* The listing may miss folders that moved up meanwhile, so repeat until the folder is empty. */
	for (;;) {
		if (empty_folder(folder, folder, &moved))
			return fail(error, ERROR_SYSTEM, "The folder \"%s\" cannot be emptied: %s.", name,
				strerror(errno));
		if (unlinkat(parent, name, AT_REMOVEDIR) == 0)
			return 0;
		if (errno != ENOTEMPTY && errno != EEXIST)
			return fail(error, ERROR_SYSTEM, "The folder \"%s\" cannot be removed: %s.", name,
				strerror(errno));
	}
}
