/* Checks that the disk has room for a job. A job without room fails, so the worker claims none
 * then. */
#ifndef PODIUM_WORKER_DISK_SPACE_H
#define PODIUM_WORKER_DISK_SPACE_H

#include "lib/base/error.h"

/* ERROR_SYSTEM with a sentence when `folder`, where jobs are unpacked, is nearly full. A folder
 * that does not exist passes: podium-run creates it. */
int disk_space_check(const char *folder, struct error *error);

#endif
