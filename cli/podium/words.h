/* Formats values of the server's JSON for people. The texts live in the arena and are not escaped.
 * Each function returns NULL if the value is missing. */
#ifndef PODIUM_CLI_PODIUM_WORDS_H
#define PODIUM_CLI_PODIUM_WORDS_H

#include "lib/base/arena.h"

#include <jansson.h>

/* "2026-11-22 03:17 UTC" from "2026-11-22T03:17:26.123Z"; any other text stays as it is. */
const char *words_time(struct arena *arena, const json_t *object, const char *key);

/* "in about 4 min" or "at once" (wait_words); NULL also if the text is not a time. */
const char *words_until(struct arena *arena, const json_t *object, const char *key);

/* "31.9 µs" from nanoseconds. */
const char *words_duration(struct arena *arena, const json_t *object, const char *key);

/* Both read score_ns and score_err_ns: "31.90 µs" and "31.90 ± 0.20 µs". */
const char *words_score(struct arena *arena, const json_t *object);
const char *words_score_err(struct arena *arena, const json_t *object);

/* A number without its fraction. */
const char *words_count(struct arena *arena, const json_t *object, const char *key);

/* "3", or "=3" if the member `tie` is true; NULL: no rank. */
const char *words_rank(struct arena *arena, const json_t *object, const char *key, const char *tie);

/* The gap of an entry of a ranking to the fastest time, and to the rank above; NULL: none. */
const char *words_fastest_gap(struct arena *arena, const json_t *entry);
const char *words_above_gap(struct arena *arena, const json_t *entry);

/* "83.1 %" from 0.831. */
const char *words_share(struct arena *arena, const json_t *object, const char *key);

/* The texts of a list, separated by commas; NULL also if the list is empty. */
const char *words_list(struct arena *arena, const json_t *object, const char *key);

/* The text itself; NULL also if it is empty. */
const char *words_text(struct arena *arena, const json_t *object, const char *key);

#endif
