/* Bytes in the form of gzip (RFC 1952), for files that are kept and seldom asked for. */
#ifndef PODIUM_LIB_GZIP_H
#define PODIUM_LIB_GZIP_H

#include "lib/buffer.h"
#include "lib/error.h"

/* Appends the gzip of `bytes`. */
int gzip_pack(const void *bytes, size_t length, struct buffer *out, struct error *error);

/* Appends what was packed. ERROR_INPUT if it is damaged or cut, ERROR_LIMIT if it would be more
 * than `most` bytes. */
int gzip_unpack(
	const void *gzip, size_t length, size_t most, struct buffer *out, struct error *error);

#endif
