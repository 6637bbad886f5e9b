/* Data for the page of a language: its harness and the required form of a submission. */
#ifndef PODIUM_CGI_PAGE_LANGUAGE_H
#define PODIUM_CGI_PAGE_LANGUAGE_H

#include "lib/task/stock.h"

#include <stddef.h>

struct language {
	const char *code;         /* "py", "cu" */
	const char *command;      /* runs the harness */
	const char *example;      /* source of an example submission */
	const char *example_name; /* its file name */
	const char *defines;      /* names that the submission must define */
	const char *contract;     /* one sentence: how the harness uses these names */
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
	const char *result_lines; /* example output of a test and a benchmark */
};

#endif
