/* A cache in each thread of podium-web, kept between requests, for data that is read far more often
 * than it changes. */
#ifndef PODIUM_CGI_HTTP_THREAD_CACHE_H
#define PODIUM_CGI_HTTP_THREAD_CACHE_H

#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Define one static variable for each purpose: THREAD_CACHE(bytes, release). */
struct thread_cache {
	size_t bytes;
	/* Runs when a thread ends: frees the memory and what it points to. */
	void (*release)(void *memory);
	bool is_made;
	pthread_key_t key;
};
#define THREAD_CACHE(bytes, release) \
	{ \
		(bytes), (release), false, 0 \
	}

/* Returns the calling thread's memory, zeroed at first. Returns NULL if memory is exhausted; the
 * caller then works without a cache. */
void *thread_cache_get(struct thread_cache *cache);

/* Whether data read at `asked_at_ms` (clock_ms) is still fresh. Fresh data is less than `kept_ms`
 * old, and no request of this process has changed anything since the data was read. Users therefore
 * see their own changes on the next page. Other processes show a change after at most `kept_ms`. */
bool thread_cache_is_fresh(int64_t asked_at_ms, int64_t kept_ms);

/* Call when a request may have changed something. */
void thread_cache_changed(void);

#endif
