/* An answer of the database that all threads of podium-web share and keep for a second, for data
 * that is the same for all visitors and costs much to read, such as the queue. */
#ifndef PODIUM_CGI_HTTP_KEPT_ANSWER_H
#define PODIUM_CGI_HTTP_KEPT_ANSWER_H

#include "cgi/http/thread_cache.h"
#include "lib/base/arena.h"
#include "lib/base/error.h"
#include "lib/database/database.h"

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>

/* What a thread has of a kept answer. A visitor's rows have its texts. The older arena stays until
 * the copy is renewed once more, in case a request reads the answer twice. */
struct kept_copy {
	struct arena *arena, *older;
	struct database_answer answer;
	uint64_t number;
};
void kept_copy_free(void *memory);

/* Define one static variable for each purpose: KEPT_ANSWER(statement, bind). The statement binds
 * only the same three integers each time, or fewer. */
struct kept_answer {
	const struct statement *statement;
	const char *bind; /* "" to "iii" */
	int64_t values[3];
	pthread_mutex_t guard; /* of the members below */
	struct arena *arena;   /* owns the answer; NULL: nothing was read yet */
	struct database_answer answer;
	int64_t asked_at_ms;
	uint64_t number; /* counts the answers */
	bool is_asked;   /* a thread is reading the next answer */
	struct thread_cache copies;
};
#define KEPT_ANSWER(of_statement, letters, ...) \
	{ \
		.statement = (of_statement), .bind = (letters), .values = { __VA_ARGS__ }, \
		.guard = PTHREAD_MUTEX_INITIALIZER, \
		.copies = THREAD_CACHE(sizeof(struct kept_copy), kept_copy_free) \
	}

/* Copies the answer's rows into `arena`, so that the caller may change them. Their texts are valid
 * until the thread's next request. Reads the answer first unless it is fresh: younger than a
 * second, and read after the last change by a request of this process (cgi/http/thread_cache.h). */
int kept_answer_read(struct database *db, struct arena *arena, struct kept_answer *kept,
	struct database_answer *answer, struct error *error);

#endif
