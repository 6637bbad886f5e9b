/* A folder where podium-run keeps the programs that it builds from a CUDA
 * C++ task (isolated_cu.h), so that a new podium-run need not build them again. Several podium-runs
 * may share the folder. It keeps the most recently used kits.
 *
 * Only podium-run's user may enter the folder, and no sandbox shows it. A file holds a digest of
 * its key and of its programs: a torn or exchanged file counts as missing. A store that fails only
 * costs time, so no function here reports an error. */
#ifndef PODIUM_WORKER_RUN_ENGINE_KIT_STORE_H
#define PODIUM_WORKER_RUN_ENGINE_KIT_STORE_H

#include "lib/base/arena.h"
#include "worker/run/engine/stage.h"

#include <stdbool.h>

enum { kit_key_bytes = 32, kit_store_most = 16 /* kits in the folder */ };

/* Opens the folder `path`, or creates it. NULL means podium-kits-UID in the folder `base`, and ""
 * means none. Returns its descriptor, which the caller closes; -1: there is no store. There is none
 * where submissions could write to the folder, because they run as podium-run's user and see the
 * host's files. */
int kit_store_open(const struct sandbox_host *host, int base, const char *path);

/* Reads the `count` programs of a kit into the arena. False if there is no such kit. */
bool kit_store_read(int folder, const unsigned char key[static kit_key_bytes], struct arena *arena,
	struct compiled *programs, size_t count);

void kit_store_keep(int folder, const unsigned char key[static kit_key_bytes],
	const struct compiled *programs, size_t count);

#endif
