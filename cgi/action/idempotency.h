/* Idempotency keys: a program gives each request its own key and may send the request again without
 * repeating its effect. The same request with the same key within a day returns what the first one
 * created. */
#ifndef PODIUM_CGI_ACTION_IDEMPOTENCY_H
#define PODIUM_CGI_ACTION_IDEMPOTENCY_H

#include "lib/base/arena.h"
#include "lib/base/error.h"
#include "lib/database/database.h"

#include <stddef.h>
#include <stdint.h>

enum { idempotency_least_bytes = 8, idempotency_most_bytes = 128 };

/* The hash of a request. Parts are added one by one and cannot run into each other. */
struct idempotency_hash {
	unsigned char bytes[32];
};
void idempotency_add(struct idempotency_hash *hash, const void *bytes, size_t length);

/* Accepts 8 to 128 printable ASCII characters, else ERROR_INPUT. */
int idempotency_check(const char *key, struct error *error);

/* Call both inside the request's transaction: take the key first, and at the end keep what the
 * request created. ERROR_CONFLICT when the key is taken; a concurrent transaction with the same key
 * is waited for. A failed transaction leaves the key free. */
int idempotency_take(struct database *db, int64_t user_id, const char *key,
	const struct idempotency_hash *hash, struct error *error);
int idempotency_keep(struct database *db, int64_t user_id, const char *key, int64_t submission_id,
	struct error *error);

/* What the request with this key created. ERROR_CONFLICT with a sentence when that request was
 * different. */
int idempotency_find(struct database *db, struct arena *arena, int64_t user_id, const char *key,
	const struct idempotency_hash *hash, int64_t *submission_id, struct error *error);

#endif
