/* The walls of the sandbox without which a worker takes no job: files, network and processes. The
 * setting accept_missing_walls names those that a worker may lack all the same. `accepted` is this
 * setting: names separated by commas; NULL: none. */
#ifndef PODIUM_LIB_BASE_REQUIRED_WALLS_H
#define PODIUM_LIB_BASE_REQUIRED_WALLS_H

#include "lib/base/arena.h"
#include "lib/base/error.h"

#include <stdbool.h>

bool required_walls_has(const char *name);
bool required_walls_accepts(const char *accepted, const char *name);

/* ERROR_INPUT if `accepted` has a name that is none of the required walls. */
int required_walls_check(const char *accepted, struct error *error);

/* The option that makes podium-run require walls. */
const char *required_walls_option(struct arena *arena, const char *accepted);

/* Fails with a sentence that says why a host without the walls `missing` runs no job. */
int required_walls_refuse(const char *missing, struct error *error);

#endif
