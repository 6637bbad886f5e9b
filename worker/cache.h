/* A disk cache of files from the database, by SHA-256, so that the next job need not fetch them
 * again.
 *
 * Only the worker's user can open the cache's folder, and several workers on a host may share it.
 * Each read checks a file's content against its name, so a damaged or replaced file is fetched
 * again. When the files exceed the setting worker_cache_mib, the cache removes the least recently
 * used ones. A cache that fails only costs time, so no function here reports an error. Any thread
 * may call them. */
#ifndef PODIUM_WORKER_CACHE_H
#define PODIUM_WORKER_CACHE_H

#include "lib/base/arena.h"
#include "lib/base/config.h"
#include "lib/database/blob.h"

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>

struct cache {
	char path[288];
	int64_t most_bytes;   /* 0: the cache is off */
	int64_t added_bytes;  /* since the folder was last pruned */
	int folder;           /* -1: not opened yet */
	bool has_failed;      /* the log has a warning about it */
	pthread_mutex_t lock; /* protects added_bytes, folder and has_failed */
};

void cache_open(struct cache *cache, const struct config *config);
void cache_close(struct cache *cache);

/* False when the cache does not have the file. The content is allocated in the arena. */
bool cache_read(struct cache *cache, struct arena *arena,
	const unsigned char sha256[static sha256_bytes], struct blob_value *content);

void cache_keep(struct cache *cache, const unsigned char sha256[static sha256_bytes],
	const struct blob_value *content);

#endif
