/* The large blobs of plans (worker/plan_store.h) that the database has because this slot has stored
 * them. podium-run sends none of them again: a library's image has many MiB, and its kernels are in
 * the plans of many submissions. */
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

/* Notes the hashes of an array, whose blobs were stored with a result. */
void known_blobs_note(struct known_blobs *known, const json_t *hashes);

/* The hashes that were noted in the last half hour, as an array. podium-admin deletes no blob that
 * a worker has stored or seen in the last day. The caller owns the array. */
json_t *known_blobs_json(const struct known_blobs *known);

#endif
