/* The harness files that ship with Podium, compiled into the program: what `source: "@STOCK@"` in a
 * task.yml names, and what the pages of the languages show. */
#ifndef PODIUM_HARNESS_STOCK_H
#define PODIUM_HARNESS_STOCK_H

#include <stddef.h>

struct stock_file {
	const char *name;     /* "eval.py" */
	const char *language; /* "py", "cu" */
	const char *meaning;  /* one line for the page */
	const char *bytes, *end;
};

extern const struct stock_file stock_files[];
extern const size_t stock_file_count;

#endif
