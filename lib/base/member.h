/* Reads members of JSON objects that come from other programs. */
#ifndef PODIUM_LIB_BASE_MEMBER_H
#define PODIUM_LIB_BASE_MEMBER_H

#include <jansson.h>
#include <stdbool.h>

/* For a missing member, or one of another type, these return "", `fallback`, NAN or false. */
const char *member_text(const json_t *object, const char *key);
long long member_whole(const json_t *object, const char *key, long long fallback);
double member_real(const json_t *object, const char *key);
bool member_true(const json_t *object, const char *key);

#endif
