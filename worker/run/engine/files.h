/* The files of the isolated engine (harness/isolated), compiled into the program: what a Python
 * judge and its contestants run. */
#ifndef PODIUM_RUN_ENGINE_FILES_H
#define PODIUM_RUN_ENGINE_FILES_H

#include "lib/error.h"

#include <stdbool.h>

/* Writes them, read-only, into the folder engine/ of `stage`. A contestant gets what it needs, a
 * judge all. */
int engine_files_write(int stage, bool is_judge, struct error *error);

#endif
