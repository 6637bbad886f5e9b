/* Memory that each thread of podium-web keeps from one request to the next, for what is asked for far more often than it
 * changes. */
#ifndef PODIUM_CGI_KEEP_H
#define PODIUM_CGI_KEEP_H

#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>

/* One for each purpose, static: KEEP(bytes, release). */
struct keep {
	size_t bytes;
	void (*release)(void *memory); /* when a thread ends: frees what the memory holds and the memory itself */
	bool is_made;
	pthread_key_t key;
};
#define KEEP(bytes, release) { (bytes), (release), false, 0 }

/* The thread's own memory, zero bytes at first. NULL where there is none left: then nothing is kept. */
void *keep_of_thread(struct keep *keep);

#endif
