/* Decides which paths from outside are allowed: entries of a zip, files of a folder, paths in
 * task.yml. This module prevents paths from leaving the folder ("zip slip"). */
#ifndef PODIUM_LIB_FILES_PATH_RULE_H
#define PODIUM_LIB_FILES_PATH_RULE_H

#include "lib/base/arena.h"
#include "lib/base/error.h"

#include <stdbool.h>
#include <stddef.h>

enum { path_most_bytes = 200, path_most_depth = 8 };

/* Returns what is wrong with a path, as the end of a sentence ("contains a backslash"). NULL:
 * the path is relative, plain and within the limits. */
const char *path_fault(const char *path, size_t length);

/* Checks that no two paths are equal or differ only in ASCII case, and that no file is also a
 * folder. A path that ends in '/' is a folder. ERROR_CONFLICT names both paths. */
int paths_check(struct arena *arena, const char *const *paths, size_t count, struct error *error);

/* Whether the path is debris, which uploads skip: __MACOSX/, .DS_Store, __pycache__/ and .git/,
 * at any depth. */
bool path_is_debris(const char *path);

#endif
