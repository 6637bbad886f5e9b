/* Memory that each thread of podium-web keeps from one request to the next, for what is asked for
 * far more often than it changes. */
#ifndef PODIUM_CGI_KEEP_H
#define PODIUM_CGI_KEEP_H

#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* One for each purpose, static: KEEP(bytes, release). */
struct keep {
	size_t bytes;
	void (*release)(
		void *memory); /* when a thread ends: frees what the memory holds and the memory itself */
	bool is_made;
	pthread_key_t key;
};
#define KEEP(bytes, release) \
	{ \
		(bytes), (release), false, 0 \
	}

/* The thread's own memory, zero bytes at first. NULL where there is none left: then nothing is
 * kept. */
void *keep_of_thread(struct keep *keep);

/* Whether what was asked for at that time (clock_ms) still counts: for so long, and only until a
 * request changes something in this process, so that whoever changes something sees it on the next
 * page. Others' processes see it when the time is over. */
bool keep_is_fresh(int64_t asked_at_ms, int64_t kept_ms);

/* A request has changed something, or may have. */
void keep_changed(void);

#endif
