/* Where everything lies in a zip, as its own bytes say: the questions that libzip does not ask.
 *
 * A zip says most things twice, in a header before each entry and in a table of contents at its
 * end. Programs differ in which they believe, and that is how one file shows two contents. Here
 * both must agree. */
#ifndef PODIUM_LIB_ZIP_LAYOUT_H
#define PODIUM_LIB_ZIP_LAYOUT_H

#include "lib/arena.h"
#include "lib/error.h"

#include <stddef.h>

struct zip_place {
	const char *name; /* as stored; a NUL behind it, and perhaps some inside */
	size_t name_length;
	size_t begin, end; /* of its header and data in the file */
	unsigned int flags, method;
};

struct zip_layout {
	struct zip_place *places;
	size_t count; /* as in the table of contents, folders included */
};

/* Refuses what is no zip, by the name of what it is; a zip that is cut off, continues behind its
 * end, has several ends, is one part of several, is in the Zip64 form, has more than
 * `most_entries`, or whose table of contents does not fit the file; an entry that is not where the
 * table says, lies over another one, or has another name or form in its own header. */
int zip_layout_read(struct arena *arena, const void *bytes, size_t length, size_t most_entries,
	struct zip_layout *layout, struct error *error);

#endif
