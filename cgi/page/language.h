/* What the page of a language shows: its harness, and what a submission must look like. */
#ifndef PODIUM_CGI_LANGUAGE_H
#define PODIUM_CGI_LANGUAGE_H

#include "lib/stock.h"

#include <stddef.h>

struct language {
	const char *code;         /* "py", "cu" */
	const char *command;      /* that runs the harness */
	const char *example;      /* a submission, */
	const char *example_name; /* and what its file could be called */
	const char *defines;      /* what the submission must define */
	const char *contract;     /* what becomes of that, in a sentence */
};

struct exit_meaning {
	const char *code, *meaning, *verdict;
};

struct language_view {
	const struct language *language;
	const char *title; /* "Python" */
	const struct stock_file **files;
	size_t file_count;
	const struct exit_meaning *exits;
	size_t exit_count;
	const char *result_lines; /* an example: a test, a benchmark */
};

#endif
