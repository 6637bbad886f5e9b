/* Private to worker/run/engine: the files of the isolated engine (harness/isolated), which are
 * compiled into podium-run. A Python judge and its contestants run them. */
#ifndef PODIUM_WORKER_RUN_ENGINE_FILES_H
#define PODIUM_WORKER_RUN_ENGINE_FILES_H

#include "lib/base/error.h"

#include <stdbool.h>

/* Writes the files, read-only, into the folder engine/ of `stage`. A judge gets all of them, a
 * contestant those that it needs. */
int engine_files_write(int stage, bool is_judge, struct error *error);

#endif
