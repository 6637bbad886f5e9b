/* Values of the server's JSON as people read them. Everything lives in the arena; nothing is
 * escaped yet. */
#ifndef PODIUM_CLI_PODIUM_WORDS_H
#define PODIUM_CLI_PODIUM_WORDS_H

#include "lib/arena.h"

#include <jansson.h>

/* "2026-11-22 03:17 UTC" of "2026-11-22T03:17:26.123Z"; any other text as it is; NULL: not there.
 */
const char *words_time(struct arena *arena, const json_t *object, const char *key);

/* "in about 4 min", "now"; NULL where the time is not there or no time. */
const char *words_until(struct arena *arena, const json_t *object, const char *key);

/* "31.9 µs" of nanoseconds; NULL: not there. */
const char *words_duration(struct arena *arena, const json_t *object, const char *key);

/* A number without its fraction; NULL: not there. */
const char *words_count(struct arena *arena, const json_t *object, const char *key);

/* "83.1 %" of 0.831; NULL: not there. */
const char *words_share(struct arena *arena, const json_t *object, const char *key);

/* The texts of a list, with commas between them; NULL: empty. */
const char *words_list(struct arena *arena, const json_t *object, const char *key);

/* The text itself; NULL: not there, or empty. */
const char *words_text(struct arena *arena, const json_t *object, const char *key);

#endif
