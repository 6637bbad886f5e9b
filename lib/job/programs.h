/* The programs that jobs need: podium-run, which runs them, a Python that can import torch, and
 * nvcc. */
#ifndef PODIUM_LIB_TOOLS_H
#define PODIUM_LIB_TOOLS_H

#include "lib/arena.h"
#include "lib/config.h"

struct tools {
	const char *python, *nvcc;
}; /* paths; "" where there is none */

/* The program of this name on the PATH; NULL: there is none. */
const char *tools_find(struct arena *arena, const char *name);

/* The setting, else the one beside this program, else the one on the PATH. Where there is none: the
 * path beside this program, so that whoever starts it says what is missing. */
const char *tools_find_runner(struct arena *arena, const struct config *config);

/* The setting, else the one on the PATH, else the toolkit's usual place; "" where there is none. */
const char *tools_find_nvcc(struct arena *arena, const struct config *config);

/* The interpreter of the settings, else the first that can import torch, as `runner` (podium-run)
 * finds it; "" where there is none. Takes as long as importing torch does, unless `wake` becomes
 * readable: then NULL. */
const char *tools_find_python(
	struct arena *arena, const struct config *config, const char *runner, int wake);

#endif
