/* Builds a zip archive from files stored as gzip (lib/base/gzip.h). Both formats use deflate, so
 * the compressed bytes are copied unchanged. The archive must stay below 4 GiB, since it has no
 * zip64 records. Source: PKWARE's APPNOTE.TXT 6.3, sections 4.3.7 to 4.3.16. */
#ifndef PODIUM_CGI_RENDER_ZIP_PACK_H
#define PODIUM_CGI_RENDER_ZIP_PACK_H

#include "lib/base/arena.h"
#include "lib/base/buffer.h"
#include "lib/base/error.h"

#include <stdint.h>

struct zip_pack {
	struct buffer *out; /* may be emptied between two calls */
	struct arena *arena;
	struct zip_pack_file *files, *last;
	uint16_t count;
	uint32_t length; /* of the archive so far */
};                   /* initialize with { .out = buffer, .arena = arena } */

enum { zip_pack_gzip_head_bytes = 10, zip_pack_gzip_tail_bytes = 8 };

/* Adds a file with an ASCII name. Returns ERROR_SYSTEM if the bytes do not look like the output of
 * gzip_pack (lib/base/gzip.h). */
int zip_pack_gzip(
	struct zip_pack *zip, const char *name, const void *gzip, size_t length, struct error *error);

/* The same for a file that is too large for one call. After zip_pack_begin, pass the gzip without
 * its head and tail to zip_pack_add, in pieces; `packed` is their length. `size` and `checksum` are
 * the unpacked bytes' length and CRC-32. */
void zip_pack_begin(
	struct zip_pack *zip, const char *name, uint32_t packed, uint32_t size, uint32_t checksum);
void zip_pack_add(struct zip_pack *zip, const void *bytes, size_t length);

/* Writes the central directory; call it last. */
void zip_pack_end(struct zip_pack *zip);

#endif
