/* Files in memory, found by path: the contents of a zip or folder, or the files of a job. The
 * arena of fileset_make owns everything. */
#ifndef PODIUM_LIB_FILES_FILESET_H
#define PODIUM_LIB_FILES_FILESET_H

#include "lib/base/arena.h"
#include "lib/base/error.h"

#include <stdbool.h>
#include <stddef.h>

struct file {
	const char *path;  /* relative, '/'-separated, without empty, "." or ".." parts */
	const char *bytes; /* with a NUL behind the last byte */
	size_t length;     /* bytes */
};

struct fileset {
	struct arena *arena;
	struct file *files;
	size_t count, capacity;
};

struct fileset fileset_make(struct arena *arena);

/* Adds a file and copies path and bytes into the arena. ERROR_CONFLICT: the path exists. */
int fileset_add(
	struct fileset *set, const char *path, const void *bytes, size_t length, struct error *error);

/* The file at exactly this path, or NULL. */
const struct file *fileset_find(const struct fileset *set, const char *path);

/* Limits of an upload, whether it is a zip or a folder. */
enum {
	fileset_most_files = 512,
	fileset_most_entries = 4 * 512, /* of a zip, including skipped ones */
	fileset_most_file_bytes = 4 * 1024 * 1024,
	fileset_most_total_bytes = 16 * 1024 * 1024,
	fileset_most_zip_bytes = 8 * 1024 * 1024,
};

/* Reads an untrusted zip. Folder entries and debris (path_is_debris) are skipped; a zip inside is
 * an ordinary file. If all files are in one top folder, that folder is stripped. After an error the
 * set contains part of the files.
 *
 * Refuses, with a sentence that names the entry:
 * - files that are not a zip, or are truncated or damaged
 * - a zip or entry that is too large, packed or unpacked, and too many entries
 * - an entry above 1 MiB that unpacks to more than 200 times its packed size
 * - absolute paths, "..", backslashes, NUL, control characters, invalid UTF-8
 * - paths that are too long or too deep
 * - links, devices and other special entries, and encrypted entries
 * - equal paths, paths that differ only in ASCII case, and a file that is also a folder
 * - compression other than deflate
 * - whatever lib/files/zip_layout.h refuses
 *
 * Sizes in headers are not trusted: bytes are counted while unpacking. */
int fileset_from_zip(struct fileset *set, const void *bytes, size_t length, struct error *error);

/* Reads a folder with the same limits. Links and special files are errors. */
int fileset_from_folder(struct fileset *set, const char *path, struct error *error);

/* Reads an uploaded file: a zip, or a single source file, which the ending of `name` shows (.py,
 * .cu, .cuh, .cpp). The set then has one file, "reference.py" and so on. */
int fileset_from_upload(
	struct fileset *set, const char *name, const void *bytes, size_t length, struct error *error);

/* Reads a folder, a zip or a single source file from a path, with the rules of an upload. */
int fileset_from_path(struct fileset *set, const char *path, struct error *error);

#endif
