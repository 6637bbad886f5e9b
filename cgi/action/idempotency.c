#include "cgi/action/idempotency.h"

#include <sodium.h>
#include <string.h>

/* Lets only one request with a key of this user run at a time. Without this lock, two requests
 * could deadlock: the foreign key makes each insert of a key share-lock the user's row. */
struct owner {
	int64_t id;
};
static const struct column OWNER_COLUMNS[] = { INTEGER(struct owner, id) };
static const struct statement LOCK_OWNER =
	SELECT(struct owner, OWNER_COLUMNS, "SELECT id FROM users WHERE id = ? FOR UPDATE");

/* A user's keys expire after a day. */
static const struct statement FORGET =
	COMMAND("DELETE FROM idempotency_keys WHERE user_id = ? "
			"AND created_at < UTC_TIMESTAMP(3) - INTERVAL 1 DAY");
static const struct statement TAKE =
	COMMAND("INSERT INTO idempotency_keys (user_id, name, request_hash) VALUES (?, ?, ?)");
static const struct statement KEEP =
	COMMAND("UPDATE idempotency_keys SET submission_id = ? WHERE user_id = ? AND name = ?");

struct taken {
	int64_t submission_id;
	struct blob_value request_hash;
};
static const struct column TAKEN_COLUMNS[] = { INTEGER(struct taken, submission_id),
	BLOB(struct taken, request_hash) };
static const struct statement TAKEN = SELECT(struct taken, TAKEN_COLUMNS,
	"SELECT submission_id, request_hash FROM idempotency_keys WHERE user_id = ? AND name = ?");

/* Hashes the previous hash, the part's length and the part. */
void idempotency_add(struct idempotency_hash *hash, const void *bytes, size_t length)
{
	crypto_hash_sha256_state state;
	uint64_t prefix = length;
	crypto_hash_sha256_init(&state);
	crypto_hash_sha256_update(&state, hash->bytes, sizeof hash->bytes);
	crypto_hash_sha256_update(&state, (const unsigned char *)&prefix, sizeof prefix);
	crypto_hash_sha256_update(&state, bytes, length);
	crypto_hash_sha256_final(&state, hash->bytes);
}

int idempotency_check(const char *key, struct error *error)
{
	size_t length = strlen(key);
	bool is_good = length >= idempotency_least_bytes && length <= idempotency_most_bytes;
	for (const char *at = key; *at; at++)
		is_good = is_good && *at > 0x20 && *at < 0x7f;
	return is_good ? 0
				   : fail_field(error, "Idempotency-Key",
					   "The header Idempotency-Key must have %d to %d printable characters of "
					   "ASCII, without spaces.",
					   idempotency_least_bytes, idempotency_most_bytes);
}

int idempotency_take(struct database *db, int64_t user_id, const char *key,
	const struct idempotency_hash *hash, struct error *error)
{
	cleanup_arena struct arena *arena = arena_new();
	struct owner owner;
	int rc = database_row(db, arena, &LOCK_OWNER, &owner, error, "i", user_id);
	if (!rc)
		rc = database_execute(db, &FORGET, error, "i", user_id);
	return rc
		? rc
		: database_execute(db, &TAKE, error, "isb", user_id, key, hash->bytes, sizeof hash->bytes);
}

int idempotency_keep(struct database *db, int64_t user_id, const char *key, int64_t submission_id,
	struct error *error)
{
	return database_execute(db, &KEEP, error, "iis", submission_id, user_id, key);
}

int idempotency_find(struct database *db, struct arena *arena, int64_t user_id, const char *key,
	const struct idempotency_hash *hash, int64_t *submission_id, struct error *error)
{
	struct taken taken;
	int rc = database_row(db, arena, &TAKEN, &taken, error, "is", user_id, key);
	if (rc == ERROR_NOT_FOUND)
		return fail(error, ERROR_CONFLICT,
			"The submission created with this Idempotency-Key was deleted. Send the request with "
			"another key.");
	if (rc)
		return rc;
	if (taken.request_hash.length != sizeof hash->bytes
		|| memcmp(taken.request_hash.bytes, hash->bytes, sizeof hash->bytes) != 0)
		return fail(error, ERROR_CONFLICT,
			"This Idempotency-Key was used for another request within the last day. Use a "
			"different key for each request.");
	*submission_id = taken.submission_id;
	return 0;
}
