/* Loads problem sets for `task load`: prints a set's plan and, except in a dry run, applies it. */
#ifndef PODIUM_CLI_ADMIN_SET_LOAD_H
#define PODIUM_CLI_ADMIN_SET_LOAD_H

#include "lib/database/database.h"

#include <stdbool.h>

/* Whether the path is a regular file and not a folder. */
bool is_set_path(const char *path);

/* Loads the set at `path`, which is a set's YAML, or a zip or folder that contains one. If `path`
 * is a YAML file, the upload is the whole folder around it. `chosen` names the YAML if there are
 * several, else NULL. Returns the number of failures, each reported on stderr. */
int load_set(
	struct database *db, const char *path, const char *chosen, bool dry_run, bool is_unchecked);

#endif
