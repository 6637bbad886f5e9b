/* Checks that a piece lies within an area. The numbers may come from a submission. */
#ifndef PODIUM_SEALED_WITHIN_H
#define PODIUM_SEALED_WITHIN_H

#include <stdbool.h>
#include <stdint.h>

/* Whether `bytes` bytes from `begin` on are among the first `length` bytes. No sum can overflow. An
 * address below an area is a `begin` beyond its end, because the difference wraps. */
static inline bool sealed_is_within(uint64_t begin, uint64_t bytes, uint64_t length)
{
	return begin <= length && bytes <= length - begin;
}

#endif
