/* The stock harness (harness/), compiled into the program. `source: "@STOCK@"` in task.yml names
 * its files, and the language pages show them. */
#ifndef PODIUM_LIB_TASK_STOCK_H
#define PODIUM_LIB_TASK_STOCK_H

#include "lib/files/fileset.h"

#include <stddef.h>

struct stock_file {
	const char *name;     /* "eval.py" */
	const char *language; /* "py", "cu" */
	const char *meaning;  /* one line for the page, with code in straight quotes */
	const char *bytes, *end;
};

extern const struct stock_file stock_files[];
extern const size_t stock_file_count;

/* All stock files, in the form for task_check and task_parse. */
struct fileset stock_fileset(struct arena *arena);

#endif
