/* The large blobs of plans (worker/plan_store.h) that this slot has recently stored in the
 * database. podium-run need not send them again: a library's image has many MiB, and the plans of
 * many submissions use its kernels. */
#ifndef PODIUM_WORKER_KNOWN_BLOBS_H
#define PODIUM_WORKER_KNOWN_BLOBS_H

#include <jansson.h>
#include <stddef.h>
#include <stdint.h>

struct known_blobs { /* all zero at first */
	struct known_blob {
		char sha256[65]; /* as hex digits */
		int64_t at_ms;
	} list[64];
	size_t count; /* of all so far; the list is a ring */
};

/* Adds the blobs that were stored with a result. `hashes` is an array of their SHA-256 as hex
 * digits. */
void known_blobs_note(struct known_blobs *known, const json_t *hashes);

/* Returns the hashes that were added in the last half hour, as an array that the caller owns. The
 * database still has these blobs: Podium deletes no blob that a worker has stored or seen in the
 * last day. */
json_t *known_blobs_json(const struct known_blobs *known);

#endif
