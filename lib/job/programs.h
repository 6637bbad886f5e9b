/* The programs that jobs need: podium-run, which runs them, a Python that can import torch, and
 * nvcc. */
#ifndef PODIUM_LIB_JOB_PROGRAMS_H
#define PODIUM_LIB_JOB_PROGRAMS_H

#include "lib/base/arena.h"
#include "lib/base/config.h"

struct tools {
	const char *python, *nvcc;
}; /* paths; "": not found */

/* The program of this name on the PATH; NULL: not found. */
const char *tools_find(struct arena *arena, const char *name);

/* The path of podium-run: the setting, else the one next to this program, else the one on the PATH.
 * If there is none, the path next to this program, so that starting it gives a useful error. */
const char *tools_find_runner(struct arena *arena, const struct config *config);

/* The path of nvcc: the setting, else the one on the PATH, else the toolkit's usual place; "": not
 * found. */
const char *tools_find_nvcc(struct arena *arena, const struct config *config);

/* The Python of the settings, else the first one that can import torch, as `runner` (podium-run)
 * finds it; "": not found. Takes as long as importing torch. Returns NULL early if `wake` becomes
 * readable. */
const char *tools_find_python(
	struct arena *arena, const struct config *config, const char *runner, int wake);

/* The path of a program in the folder of this one. */
const char *program_beside(struct arena *arena, const char *name);

#endif
