/* Content-addressed storage in the table `blobs`. */
#ifndef PODIUM_LIB_BLOB_H
#define PODIUM_LIB_BLOB_H

#include "lib/arena.h"
#include "lib/database.h"
#include "lib/error.h"

enum { sha256_bytes = 32 };

/* Stores `bytes` (once) and fills `sha256`. */
int blob_put(struct database *db, const void *bytes, size_t length,
	unsigned char sha256[static sha256_bytes], struct error *error);

/* The content, in the arena. */
int blob_get(struct database *db, struct arena *arena, const void *sha256,
	struct blob_value *content, struct error *error);

#endif
