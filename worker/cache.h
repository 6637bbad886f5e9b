/* Files that were fetched from the database, by their SHA-256: the next job that needs one does not
 * ask for it again.
 *
 * A folder of this user alone, of which several workers on a host may use the same. What is read is
 * held against its name, so a file that was damaged or exchanged is fetched anew. Beyond the
 * setting worker_cache_mib the files that nobody has asked for the longest are removed. A cache
 * that does not work costs time and nothing else, so nothing here fails. From any thread. */
#ifndef PODIUM_WORKER_CACHE_H
#define PODIUM_WORKER_CACHE_H

#include "lib/arena.h"
#include "lib/blob.h"
#include "lib/config.h"

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>

struct cache {
	char path[288];
	int64_t most_bytes;   /* 0: nothing is kept */
	int64_t added_bytes;  /* since the folder was last looked through */
	int folder;           /* -1: not opened yet */
	bool has_failed;      /* which was told */
	pthread_mutex_t lock; /* of the last three */
};

void cache_open(struct cache *cache, const struct config *config);
void cache_close(struct cache *cache);

/* Whether it is there; the content then is in the arena. */
bool cache_read(struct cache *cache, struct arena *arena,
	const unsigned char sha256[static sha256_bytes], struct blob_value *content);

void cache_keep(struct cache *cache, const unsigned char sha256[static sha256_bytes],
	const struct blob_value *content);

#endif
