/* Packs and unpacks gzip (RFC 1952), for stored files that are rarely read. */
#ifndef PODIUM_LIB_BASE_GZIP_H
#define PODIUM_LIB_BASE_GZIP_H

#include "lib/base/buffer.h"
#include "lib/base/error.h"

/* Appends the packed form of `bytes` to `out`. */
int gzip_pack(const void *bytes, size_t length, struct buffer *out, struct error *error);

/* Like gzip_pack, but in about a quarter of the time and with about 1.5 times as many packed bytes.
 * For files that are packed often and kept once. */
int gzip_pack_quickly(const void *bytes, size_t length, struct buffer *out, struct error *error);

/* Appends the unpacked bytes to `out`. ERROR_INPUT: damaged, truncated, or followed by other bytes.
 * ERROR_LIMIT: more than `most` bytes unpacked. */
int gzip_unpack(
	const void *gzip, size_t length, size_t most, struct buffer *out, struct error *error);

#endif
