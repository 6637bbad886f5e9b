#include "cgi/keep.h"

#include <stdlib.h>

static pthread_mutex_t making = PTHREAD_MUTEX_INITIALIZER;

static bool make(struct keep *keep)
{
	pthread_mutex_lock(&making);
	if (!keep->is_made)
		keep->is_made = pthread_key_create(&keep->key, keep->release) == 0;
	pthread_mutex_unlock(&making);
	return keep->is_made;
}

void *keep_of_thread(struct keep *keep)
{
	if (!make(keep))
		return NULL;
	void *memory = pthread_getspecific(keep->key);
	if (!memory && (memory = calloc(1, keep->bytes)) && pthread_setspecific(keep->key, memory)) {
		free(memory);
		memory = NULL;
	}
	return memory;
}
