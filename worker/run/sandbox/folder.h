/* Files in folders that a submission may have written to. Each step starts at a folder's descriptor
 * and follows no link; no path starts at the root. */
#ifndef PODIUM_WORKER_RUN_SANDBOX_FOLDER_H
#define PODIUM_WORKER_RUN_SANDBOX_FOLDER_H

#include "lib/base/arena.h"
#include "lib/base/error.h"

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

/* Creates the folder `name`, which must not exist, and returns its descriptor. -1 as `owner` or
 * `group` means podium-run's. */
int folder_make(
	int parent, const char *name, mode_t mode, uid_t owner, gid_t group, struct error *error);

int folder_open(int parent, const char *name, struct error *error);

/* Whether the path is relative, has at most 200 bytes, and has only plain parts: none is empty,
 * ".", ".." or has control characters. */
bool folder_is_plain_path(const char *path);

/* Writes a new file and creates missing folders on its path. `path` must be plain. */
int folder_write(int folder, const char *path, const void *bytes, size_t length, mode_t mode,
	struct error *error);

/* Reads a file into the arena. The file must be a regular file without a second hard link and have
 * at most `most` bytes. ERROR_NOT_FOUND if the file cannot be opened, ERROR_LIMIT if it is another
 * kind of file or larger, ERROR_SYSTEM if reading fails. */
int folder_read(int folder, const char *name, size_t most, struct arena *arena, const char **bytes,
	size_t *length, struct error *error);

/* Removes the folder with all its contents, however deep. No process may still use it. */
int folder_remove(int parent, const char *name, struct error *error);

#endif
