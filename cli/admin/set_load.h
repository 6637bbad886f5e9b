/* Problem sets for `task load`: prints the plan of a set and, unless it is only to be looked at,
 * applies it. */
#ifndef PODIUM_CLI_ADMIN_SET_LOAD_H
#define PODIUM_CLI_ADMIN_SET_LOAD_H

#include "lib/database.h"

#include <stdbool.h>

/* Whether the path is a file, which then must be a set: a zip with one, or its YAML. */
bool is_set_path(const char *path);

/* `path` is a set's YAML, whose folder is its upload, or a zip or a folder with one; `chosen` names
 * the YAML in it where there are several, else NULL. Returns how much was refused or could not be
 * done, each said on stderr. */
int load_set(struct database *db, const char *path, const char *chosen, bool dry_run);

#endif
