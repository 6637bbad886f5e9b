/* Idempotency keys let a program send a request again without repeating its effect. The program
 * gives each request its own key. If the same request comes again with the same key within a day,
 * Podium returns what the first request created. */
#ifndef PODIUM_CGI_ACTION_IDEMPOTENCY_H
#define PODIUM_CGI_ACTION_IDEMPOTENCY_H

#include "lib/base/arena.h"
#include "lib/base/error.h"
#include "lib/database/database.h"

#include <stddef.h>
#include <stdint.h>

enum { idempotency_least_bytes = 8, idempotency_most_bytes = 128 };

/* The hash of a request, to which idempotency_add adds one part after the other. The hash also
 * covers the parts' lengths, so "ab", "c" and "a", "bc" give different hashes. */
struct idempotency_hash {
	unsigned char bytes[32];
};
void idempotency_add(struct idempotency_hash *hash, const void *bytes, size_t length);

/* ERROR_INPUT unless the key is 8 to 128 printable ASCII characters without spaces. */
int idempotency_check(const char *key, struct error *error);

/* Call both inside the request's transaction. At the beginning, idempotency_take reserves the key.
 * It waits for a concurrent transaction with the same key, and returns ERROR_CONFLICT if another
 * request has the key. At the end, idempotency_keep stores which submission the request created. If
 * the transaction fails, the key stays free. */
int idempotency_take(struct database *db, int64_t user_id, const char *key,
	const struct idempotency_hash *hash, struct error *error);
int idempotency_keep(struct database *db, int64_t user_id, const char *key, int64_t submission_id,
	struct error *error);

/* Finds the submission that the request with this key created. ERROR_CONFLICT with a message if
 * that request was different, or if the submission was deleted meanwhile. */
int idempotency_find(struct database *db, struct arena *arena, int64_t user_id, const char *key,
	const struct idempotency_hash *hash, int64_t *submission_id, struct error *error);

#endif
