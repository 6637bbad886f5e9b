/* A wall is one protection of the sandbox that runs submissions, such as "network". A worker needs
 * the walls "files", "network" and "processes": it takes no job if one of them is missing on its
 * host. The setting accept_missing_walls names those that may be missing. `accepted` is this
 * setting, names separated by commas; NULL: none.
 *
 * required_walls_has tells whether a worker needs the wall `name`, and required_walls_accepts
 * whether `accepted` contains it. */
#ifndef PODIUM_LIB_BASE_REQUIRED_WALLS_H
#define PODIUM_LIB_BASE_REQUIRED_WALLS_H

#include "lib/base/arena.h"
#include "lib/base/error.h"

#include <stdbool.h>

bool required_walls_has(const char *name);
bool required_walls_accepts(const char *accepted, const char *name);

/* ERROR_INPUT if `accepted` has a name that is none of the required walls. */
int required_walls_check(const char *accepted, struct error *error);

/* The option that makes podium-run require all these walls except the accepted ones. */
const char *required_walls_option(struct arena *arena, const char *accepted);

/* Fails with a sentence that says why a host without the walls `missing` runs no job. */
int required_walls_refuse(const char *missing, struct error *error);

#endif
