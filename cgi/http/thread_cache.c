#include "cgi/keep.h"

#include "lib/clock.h"

#include <stdatomic.h>
#include <stdlib.h>

static pthread_mutex_t making = PTHREAD_MUTEX_INITIALIZER;
static _Atomic int64_t changed_at_ms;

bool keep_is_fresh(int64_t asked_at_ms, int64_t kept_ms)
{
	return asked_at_ms > changed_at_ms && clock_ms() - asked_at_ms < kept_ms;
}

void keep_changed(void)
{
	changed_at_ms = clock_ms();
}

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
