/* A folder where podium-run keeps kits, the programs that it builds from a CUDA C++ task
 * (isolated_cu.h), so that a new podium-run need not build them again. Several podium-runs may
 * share the folder. The folder keeps the most recently used kits.
 *
 * Only podium-run's user may enter the folder, and no sandbox shows it. A file holds a digest of
 * its key and of its programs, so a damaged or exchanged file counts as missing. A store that fails
 * only costs time, so no function here reports an error. The first use creates the folder, so a
 * podium-run without a CUDA C++ job creates none. */
#ifndef PODIUM_WORKER_RUN_ENGINE_KIT_STORE_H
#define PODIUM_WORKER_RUN_ENGINE_KIT_STORE_H

#include "lib/base/arena.h"
#include "worker/run/sandbox/view.h"

#include <stdbool.h>

enum { kit_key_bytes = 32, kit_store_most = 16 /* kits in the folder */ };

struct kit_store {
	const struct sandbox_host *host;
	int base;         /* a descriptor of --directory */
	const char *path; /* NULL: podium-kits-UID in `base`; "": there is no store */
	bool is_open;     /* `folder` is valid */
	int folder;       /* -1: there is no store */
};

struct compiled {
	const char *bytes;
	size_t length;
};

/* Opens the folder, or creates it. False: there is no store. There is none where submissions could
 * write to the folder, because they run as podium-run's user and see the host's files. */
bool kit_store_open(struct kit_store *store);
void kit_store_close(struct kit_store *store);

/* Reads the `count` programs of a kit into the arena. False if there is no such kit. */
bool kit_store_read(struct kit_store *store, const unsigned char key[static kit_key_bytes],
	struct arena *arena, struct compiled *programs, size_t count);

void kit_store_keep(struct kit_store *store, const unsigned char key[static kit_key_bytes],
	const struct compiled *programs, size_t count);

#endif
