/* Guesses the dialect of a submission, which is the kernel language that its source uses. A
 * submission in Python may use Triton, CUDA source in strings, CuTe and so on. Rankings show the
 * dialect and filter by it; nothing else depends on it. */
#ifndef PODIUM_LIB_SUBMISSION_DIALECT_H
#define PODIUM_LIB_SUBMISSION_DIALECT_H

#include <stddef.h>

struct dialect {
	const char *name;     /* "triton": in addresses and in submissions.dialect */
	const char *title;    /* "Triton" */
	const char *language; /* language of its tasks: "py", "cu" */
};

/* All dialects. The array ends with a row whose name is NULL. The first dialect of a language is
 * its default. */
extern const struct dialect dialects[];

/* Guesses the dialect by the modules that a Python source imports. Never NULL. */
const struct dialect *dialect_of_source(const char *language, const char *source, size_t length);

/* Finds a dialect by name. NULL and unknown names give the language's default. */
const struct dialect *dialect_find(const char *language, const char *name);

#endif
