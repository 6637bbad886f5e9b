#include "lib/database/blob.h"

#include <sodium.h>

static const struct statement INSERT_BLOB =
	COMMAND("INSERT IGNORE INTO blobs (sha256, size, content) VALUES (?, ?, ?)");

struct content_row {
	struct blob_value content;
};
static const struct column CONTENT_COLUMNS[] = { BLOB(struct content_row, content) };
static const struct statement BLOB_CONTENT =
	SELECT(struct content_row, CONTENT_COLUMNS, "SELECT content FROM blobs WHERE sha256 = ?");

int blob_put(struct database *db, const void *bytes, size_t length,
	unsigned char sha256[static sha256_bytes], struct error *error)
{
	crypto_hash_sha256(sha256, bytes, length);
	return database_execute(db, &INSERT_BLOB, error, "bib", sha256, (size_t)sha256_bytes,
		(int64_t)length, length ? bytes : "", length);
}

int blob_get(struct database *db, struct arena *arena, const void *sha256,
	struct blob_value *content, struct error *error)
{
	struct content_row row;
	int rc = database_row(db, arena, &BLOB_CONTENT, &row, error, "b", sha256, (size_t)sha256_bytes);
	if (rc == ERROR_NOT_FOUND)
		return fail(error, ERROR_SYSTEM, "A file's content is missing in the database.");
	if (!rc)
		*content = row.content;
	return rc;
}
