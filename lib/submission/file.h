/* The file that somebody submits, before it is stored or run. */
#ifndef PODIUM_LIB_SUBMISSION_FILE_H
#define PODIUM_LIB_SUBMISSION_FILE_H

#include "lib/arena.h"
#include "lib/error.h"

#include <stddef.h>

enum { submission_most_bytes = 1000000 };

struct submission_file {
	const char
		*field;       /* where it came from, as errors name it: "file", or "code" that was pasted */
	const char *name; /* the last part of the name, printable; pasted code gets one */
	const char *source;
	size_t length; /* UTF-8 without a NUL; nothing need stand behind the last byte */
};

/* Looks at a name (as sent; NULL or "": pasted code) and bytes, which may be anything. Refuses a
 * name whose ending
 * (.py .cu .cuh .cpp) does not fit the task's language or that is too long, and what is empty, over
 * 1,000,000 bytes, not UTF-8 or has a NUL. The file points to `source`. */
int submission_file_take(struct arena *arena, const char *language, const char *name,
	const char *source, size_t length, struct submission_file *file, struct error *error);

#endif
