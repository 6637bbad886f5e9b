/* Private to lib/files: reads the positions of all parts of a zip and makes checks that libzip
 * does not.
 *
 * A zip states most facts twice: in a header before each entry, and in a table of contents at its
 * end. Programs differ in which one they believe, so one zip can have other contents in another
 * program. This module requires that both agree. */
#ifndef PODIUM_LIB_FILES_ZIP_LAYOUT_H
#define PODIUM_LIB_FILES_ZIP_LAYOUT_H

#include "lib/base/arena.h"
#include "lib/base/error.h"

#include <stddef.h>

struct zip_place {
	const char *name; /* as stored, with a NUL behind it; the name may contain NULs */
	size_t name_length;
	size_t begin, end; /* byte positions of its header and data in the file */
	unsigned int flags, method;
	size_t packed, unpacked; /* bytes, as in the table of contents */
};

struct zip_layout {
	struct zip_place *places;
	size_t count; /* as in the table of contents, including folders */
};

/* Fills `layout`. Refuses:
 * - files that are not a zip; the error names the format if it is a known archive
 * - a zip that is truncated, has bytes after its end, or has several end records
 * - a part of a split zip, and the Zip64 form
 * - more than `most_entries` entries, or a table of contents that does not fit the file
 * - entries that overlap, or that do not start where the table says
 * - entries whose own header has another name, compression or size than the table */
int zip_layout_read(struct arena *arena, const void *bytes, size_t length, size_t most_entries,
	struct zip_layout *layout, struct error *error);

#endif
