/* Writes a server's files to a folder. Does not trust the paths that the server sends, and never
 * overwrites the user's work.
 *
 * The folder's .podium-task.json records the origin and SHA-256 of each file. A newer version
 * replaces an unchanged file; every other file is kept. Links below the folder are not followed. */
#ifndef PODIUM_CLI_PODIUM_STORE_H
#define PODIUM_CLI_PODIUM_STORE_H

#include "lib/base/arena.h"
#include "lib/base/error.h"

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>

typedef char store_digest[65]; /* SHA-256 in hexadecimal */

struct store {
	struct arena *arena;
	const char *path;
	int folder;
	json_t *known; /* {"server", "leaderboard", "files": {PATH: SHA-256}} */
};

/* Opens the folder `path` and creates it if it is missing. ERROR_CONFLICT if the folder holds
 * another leaderboard's task. */
int store_open(struct arena *arena, const char *path, const char *server, const char *leaderboard,
	struct store *store, struct error *error);

enum store_outcome {
	STORE_NEW,
	STORE_SAME,
	STORE_UPDATED,
	STORE_KEPT /* changed locally, so not overwritten */
};

/* Writes a file unless the outcome is STORE_SAME or STORE_KEPT. ERROR_INPUT if store_path_fault
 * finds a fault in the path. */
int store_put(struct store *store, const char *path, const void *bytes, size_t length,
	enum store_outcome *outcome, struct error *error);

/* Returns what is wrong with a server's path, as the end of an error message, or NULL. */
const char *store_path_fault(const char *path);

/* Whether the local file already has this digest, so that it need not be fetched. */
bool store_has(const struct store *store, const char *path, const char *digest);

/* Writes .podium-task.json. */
int store_save(const struct store *store, struct error *error);
void store_close(struct store *store);

void store_digest_of(store_digest out, const void *bytes, size_t length);

#define cleanup_store __attribute__((cleanup(store_close)))

#endif
