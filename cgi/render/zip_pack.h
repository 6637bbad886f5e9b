/* Builds a zip archive from files stored as gzip (lib/base/gzip.h). Both formats use deflate, so
 * the compressed bytes are copied unchanged. The archive must stay below 4 GiB, since it has no
 * zip64 records. Source: PKWARE's APPNOTE.TXT 6.3, sections 4.3.7 to 4.3.16. */
#ifndef PODIUM_CGI_RENDER_ZIP_PACK_H
#define PODIUM_CGI_RENDER_ZIP_PACK_H

#include "lib/base/buffer.h"
#include "lib/base/error.h"

#include <stdint.h>

struct zip_pack {
	struct buffer *out, directory;
	uint16_t count;
	size_t began;
}; /* initialize with { .out = buffer } */

/* Adds a file with an ASCII name. Returns ERROR_SYSTEM if the bytes do not look like the output of
 * gzip_pack (lib/base/gzip.h). */
int zip_pack_gzip(
	struct zip_pack *zip, const char *name, const void *gzip, size_t length, struct error *error);

/* Writes the central directory; call it last. */
void zip_pack_end(struct zip_pack *zip);

#endif
