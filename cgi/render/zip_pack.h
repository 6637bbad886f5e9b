/* A zip made of files that are kept as gzip (lib/gzip.h). What gzip and zip compress alike is taken
 * over as it is, so that nothing is unpacked. For a few files below 4 GiB; PKWARE's
 * APPNOTE.TXT 6.3, sections 4.3.7 to 4.3.16. */
#ifndef PODIUM_LIB_ZIP_PACK_H
#define PODIUM_LIB_ZIP_PACK_H

#include "lib/buffer.h"
#include "lib/error.h"

#include <stdint.h>

struct zip_pack {
	struct buffer *out, directory;
	uint16_t count;
	size_t began;
}; /* starts as { .out = place } */

/* Adds a file; its name is plain ASCII. ERROR_SYSTEM where the bytes are no gzip of ours. */
int zip_pack_gzip(
	struct zip_pack *zip, const char *name, const void *gzip, size_t length, struct error *error);

/* Writes the table of contents; nothing can be added afterwards. */
void zip_pack_end(struct zip_pack *zip);

#endif
