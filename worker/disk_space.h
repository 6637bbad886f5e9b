/* Whether the disk has room for a job. One that finds none fails, so none is taken then. */
#ifndef PODIUM_WORKER_ROOM_H
#define PODIUM_WORKER_ROOM_H

#include "lib/error.h"

/* ERROR_SYSTEM with a sentence when `folder`, where jobs are unpacked, is nearly full. */
int room_check(const char *folder, struct error *error);

#endif
