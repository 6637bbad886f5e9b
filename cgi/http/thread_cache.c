#include "cgi/http/thread_cache.h"

#include "lib/base/clock.h"

#include <stdatomic.h>
#include <stdlib.h>

static pthread_mutex_t making = PTHREAD_MUTEX_INITIALIZER;
static _Atomic int64_t changed_at_ms;

bool thread_cache_is_fresh(int64_t asked_at_ms, int64_t kept_ms)
{
	return asked_at_ms > changed_at_ms && clock_ms() - asked_at_ms < kept_ms;
}

void thread_cache_changed(void)
{
	changed_at_ms = clock_ms();
}

static bool ensure_key(struct thread_cache *cache)
{
	pthread_mutex_lock(&making);
	if (!cache->is_made)
		cache->is_made = pthread_key_create(&cache->key, cache->release) == 0;
	pthread_mutex_unlock(&making);
	return cache->is_made;
}

void *thread_cache_get(struct thread_cache *cache)
{
	if (!ensure_key(cache))
		return NULL;
	void *memory = pthread_getspecific(cache->key);
	if (!memory && (memory = calloc(1, cache->bytes)) && pthread_setspecific(cache->key, memory)) {
		free(memory);
		memory = NULL;
	}
	return memory;
}
