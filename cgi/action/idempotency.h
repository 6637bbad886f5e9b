/* Requests that a program may send again without doing twice what they ask for: it gives each a key
 * of its own, and who sends the same request with the same key within a day gets what the first one
 * has made. */
#ifndef PODIUM_LIB_IDEMPOTENCY_H
#define PODIUM_LIB_IDEMPOTENCY_H

#include "lib/arena.h"
#include "lib/database.h"
#include "lib/error.h"

#include <stddef.h>
#include <stdint.h>

enum { idempotency_least_bytes = 8, idempotency_most_bytes = 128 };

/* What was sent, as a hash: parts are added one by one, so that none can run into the next. */
struct idempotency_hash {
	unsigned char bytes[32];
};
void idempotency_add(struct idempotency_hash *hash, const void *bytes, size_t length);

/* 8 to 128 printable characters of ASCII, else ERROR_INPUT. */
int idempotency_check(const char *key, struct error *error);

/* Inside the transaction that does what is asked for: takes the key, and says at its end what came
 * of it. ERROR_CONFLICT when the key is taken; somebody who takes it at the same moment is waited
 * for. A transaction that fails leaves the key free. */
int idempotency_take(struct database *db, int64_t user_id, const char *key,
	const struct idempotency_hash *hash, struct error *error);
int idempotency_keep(struct database *db, int64_t user_id, const char *key, int64_t submission_id,
	struct error *error);

/* What a taken key has made. ERROR_CONFLICT with a sentence when it was sent with something else.
 */
int idempotency_find(struct database *db, struct arena *arena, int64_t user_id, const char *key,
	const struct idempotency_hash *hash, int64_t *submission_id, struct error *error);

#endif
