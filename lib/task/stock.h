/* The stock harness (harness/), compiled into the program: what `source: "@STOCK@"` in a
 * task.yml names, and what the pages of the languages show. */
#ifndef PODIUM_LIB_STOCK_H
#define PODIUM_LIB_STOCK_H

#include "lib/fileset.h"

#include <stddef.h>

struct stock_file {
	const char *name;     /* "eval.py" */
	const char *language; /* "py", "cu" */
	const char *meaning;  /* one line for the page */
	const char *bytes, *end;
};

extern const struct stock_file stock_files[];
extern const size_t stock_file_count;

/* All of them, as task_check and task_parse take them. */
struct fileset stock_fileset(struct arena *arena);

#endif
