#include "worker/known_blobs.h"

#include "lib/base/clock.h"
#include "lib/base/scope.h"

#include <stdio.h>

enum { forget_ms = 30 * 60 * 1000 };

void known_blobs_note(struct known_blobs *known, const json_t *hashes)
{
	const json_t *hash;
	size_t i;
	json_array_foreach(hashes, i, hash)
	{
		struct known_blob *place = &known->list[known->count++ % COUNT(known->list)];
		snprintf(place->sha256, sizeof place->sha256, "%s", json_string_value(hash));
		place->at_ms = clock_ms();
	}
}

json_t *known_blobs_json(const struct known_blobs *known)
{
	json_t *list = json_array();
	for (size_t i = 0; i < known->count && i < COUNT(known->list); i++)
		if (clock_ms() - known->list[i].at_ms < forget_ms)
			json_array_append_new(list, json_string(known->list[i].sha256));
	return list;
}
