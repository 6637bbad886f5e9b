/* Files in memory by path: what a zip or a folder contained, what a job brings along.
 * Everything lives in the arena that the set was made with. */
#ifndef PODIUM_LIB_FILESET_H
#define PODIUM_LIB_FILESET_H

#include "lib/arena.h"
#include "lib/error.h"

#include <stdbool.h>
#include <stddef.h>

struct file {
	const char *path;  /* relative, '/'-separated, no empty, "." or ".." part */
	const char *bytes; /* a NUL stands behind the last byte */
	size_t length;     /* bytes */
};

struct fileset {
	struct arena *arena;
	struct file *files;
	size_t count, capacity;
};

struct fileset fileset_make(struct arena *arena);

/* Adds a file; path and bytes are copied into the arena. ERROR_CONFLICT if the path is there
 * already. */
int fileset_add(
	struct fileset *set, const char *path, const void *bytes, size_t length, struct error *error);

/* The file at exactly this path, or NULL. */
const struct file *fileset_find(const struct fileset *set, const char *path);

/* What is wrong with a path that comes from outside, as the end of a sentence ("contains a
 * backslash"), or NULL when it is a plain relative path within the limits. */
const char *path_fault(const char *path, size_t length);

/* ERROR_CONFLICT, naming both, if two of the paths are the same or differ in ASCII case only, or
 * one is a folder of the other. A path that ends in '/' is a folder. */
int paths_check(struct arena *arena, const char *const *paths, size_t count, struct error *error);

/* What is not part of an upload: __MACOSX/, .DS_Store, __pycache__/ and .git/, at any depth. */
bool path_is_debris(const char *path);

/* Limits of what is taken in, whether as a zip or as a folder. */
enum {
	fileset_most_files = 512,
	fileset_most_entries = 4 * 512, /* of a zip, with those that are skipped */
	fileset_most_file_bytes = 4 * 1024 * 1024,
	fileset_most_total_bytes = 16 * 1024 * 1024,
	fileset_most_zip_bytes = 8 * 1024 * 1024,
	fileset_most_path_bytes = 200,
	fileset_most_path_depth = 8,
};

/* Reads a zip that may come from anyone. Refuses, each with its own sentence that names the entry:
 * not a zip, truncated or damaged, too large packed, unpacked, too many entries or one too large
 * (bytes are counted while they are unpacked, the header is not believed), a ratio over 200:1 above
 * 1 MiB, absolute paths, "..", backslashes, NUL or control characters, not UTF-8, too long or too
 * deep, links, devices and other special entries, encrypted entries, the same path twice (also when
 * they differ in ASCII case only, or when one is a folder of the other), a compression other than
 * deflate, and what lib/zip_layout.h refuses. Folder entries and debris are skipped; a zip inside
 * is a file. If everything lies in one top folder, that folder is stripped. After an error the set
 * holds part of the files. */
int fileset_from_zip(struct fileset *set, const void *bytes, size_t length, struct error *error);

/* Reads a folder with the same limits; links and special files are refused. */
int fileset_from_folder(struct fileset *set, const char *path, struct error *error);

/* Reads a folder or a zip, as the panel would take it in. */
int fileset_from_path(struct fileset *set, const char *path, struct error *error);

#endif
