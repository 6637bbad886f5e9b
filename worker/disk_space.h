/* Checks that the disk has room for a job. Without room the job would fail, so the worker claims no
 * job then. */
#ifndef PODIUM_WORKER_DISK_SPACE_H
#define PODIUM_WORKER_DISK_SPACE_H

#include "lib/base/error.h"

/* ERROR_SYSTEM with a message when `folder`, where jobs are unpacked, is nearly full. A folder that
 * does not exist passes: podium-run creates it. */
int disk_space_check(const char *folder, struct error *error);

#endif
