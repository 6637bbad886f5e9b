/* What a submission is written with, as far as its source tells: a task in Python takes kernels in
 * Triton, in CUDA as text, in CuTe and so on. Only for people who read a ranking; nothing depends
 * on it. */
#ifndef PODIUM_LIB_DIALECT_H
#define PODIUM_LIB_DIALECT_H

#include <stddef.h>

struct dialect {
	const char *name;     /* "triton": in addresses and in submissions.dialect */
	const char *title;    /* "Triton" */
	const char *language; /* of the tasks that it is found in: "py", "cu" */
};

/* All there are, ended by one without a name. The first of a language is what its sources are when
 * nothing tells more. */
extern const struct dialect dialects[];

/* By the modules that a source in Python imports; never NULL. */
const struct dialect *dialect_of_source(const char *language, const char *source, size_t length);

/* By its name; what is NULL or not known is the first of the language. */
const struct dialect *dialect_find(const char *language, const char *name);

#endif
