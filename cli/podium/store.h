/* A folder into which files of a server are written, without trusting their paths and without
 * writing over anybody's work.
 *
 * A file of its own in the folder, .podium-task.json, keeps which files came from where, with their
 * SHA-256: what still is as it came is replaced by a newer one, anything else is left alone. Links
 * are not followed below the folder. */
#ifndef PODIUM_CLI_PODIUM_STORE_H
#define PODIUM_CLI_PODIUM_STORE_H

#include "lib/arena.h"
#include "lib/error.h"

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

/* Makes the folder where there is none. ERROR_CONFLICT where another leaderboard's task is in it.
 */
int store_open(struct arena *arena, const char *path, const char *server, const char *leaderboard,
	struct store *store, struct error *error);

enum store_outcome {
	STORE_NEW,
	STORE_SAME,
	STORE_UPDATED,
	STORE_KEPT /* it was changed here, so it stays */
};

/* ERROR_INPUT where the path is none that a server may name. */
int store_put(struct store *store, const char *path, const void *bytes, size_t length,
	enum store_outcome *outcome, struct error *error);

/* What is wrong with such a path, as the end of a sentence; NULL: nothing. */
const char *store_path_fault(const char *path);

/* Whether the file that is there already has this digest: then it need not be fetched. */
bool store_has(const struct store *store, const char *path, const char *digest);

/* Remembers what was put. */
int store_save(const struct store *store, struct error *error);
void store_close(struct store *store);

void store_digest_of(store_digest out, const void *bytes, size_t length);

#define cleanup_store __attribute__((cleanup(store_close)))

#endif
