/* A submitted file, before it is stored or run. */
#ifndef PODIUM_LIB_SUBMISSION_FILE_H
#define PODIUM_LIB_SUBMISSION_FILE_H

#include "lib/base/arena.h"
#include "lib/base/error.h"

#include <stddef.h>

enum { submission_most_bytes = 1000000 };

struct submission_file {
	const char *field; /* the form field it came from: "file", or "code" for pasted code */
	/* the last part of the name, made printable; pasted code gets a fixed name */
	const char *name;
	const char *source; /* UTF-8 without a NUL, also not at its end */
	size_t length;
};

/* Checks a name as it was sent (NULL or "": pasted code) and arbitrary bytes. Refuses a name that
 * is too long or whose ending (.py .cu .cuh .cpp) does not fit the task's language. Refuses content
 * that is empty, over 1,000,000 bytes, not UTF-8 or contains a NUL. The file points to `source`. */
int submission_file_take(struct arena *arena, const char *language, const char *name,
	const char *source, size_t length, struct submission_file *file, struct error *error);

#endif
