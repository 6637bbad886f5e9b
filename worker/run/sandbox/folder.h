/* Files in folders that a submission may have been writing to. Every step goes from a folder's
 * descriptor and never through a link; nothing is reached by a path from the root. */
#ifndef PODIUM_RUN_FOLDER_H
#define PODIUM_RUN_FOLDER_H

#include "lib/arena.h"
#include "lib/error.h"

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

/* Makes the folder `name`, which must not be there yet, and returns its descriptor.
 * `owner` and `group` may be -1: those of podium-run. */
int folder_make(
	int parent, const char *name, mode_t mode, uid_t owner, gid_t group, struct error *error);

int folder_open(int parent, const char *name, struct error *error);

/* A relative path of plain parts: none empty, ".", ".." or with control characters, 200 bytes at
 * most. */
bool folder_is_plain_path(const char *path);

/* Writes a new file, and first the folders on its path that are not there. `path` is plain. */
int folder_write(int folder, const char *path, const void *bytes, size_t length, mode_t mode,
	struct error *error);

/* Reads a regular file with one name and at most `most` bytes into the arena. */
int folder_read(int folder, const char *name, size_t most, struct arena *arena, const char **bytes,
	size_t *length, struct error *error);

/* Removes the folder and all that is in it, however deep. Nothing may be running in it any more. */
int folder_remove(int parent, const char *name, struct error *error);

#endif
