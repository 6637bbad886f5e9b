/* Content-addressed storage in the table `blobs`: each content is stored once, under its
 * SHA-256. */
#ifndef PODIUM_LIB_DATABASE_BLOB_H
#define PODIUM_LIB_DATABASE_BLOB_H

#include "lib/base/arena.h"
#include "lib/base/error.h"
#include "lib/database/database.h"

enum { sha256_bytes = 32 };

/* Stores `bytes` unless the table has them, and fills `sha256`. */
int blob_put(struct database *db, const void *bytes, size_t length,
	unsigned char sha256[static sha256_bytes], struct error *error);

/* Fills `content`, whose bytes are in the arena. ERROR_SYSTEM: the content is missing. */
int blob_get(struct database *db, struct arena *arena, const void *sha256,
	struct blob_value *content, struct error *error);

#endif
