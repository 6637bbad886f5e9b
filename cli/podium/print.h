/* Text of strangers in a report, in which nothing can steer a terminal. */
#ifndef PODIUM_CLI_PODIUM_PRINT_H
#define PODIUM_CLI_PODIUM_PRINT_H

#include "cli/podium/table.h"
#include "lib/buffer.h"

#include <jansson.h>

enum { print_tail_lines = 20 };

/* The last lines of a text, each behind `indent`, and how many there were before them. */
void print_tail(struct buffer *out, const char *indent, const char *text);

/* A line "  name       value"; nothing where the value is NULL or "". */
void print_fact(struct buffer *out, const char *name, const char *value);

/* A whole text, each line behind `indent`. */
void print_text(struct buffer *out, const char *indent, const char *text);

/* A table that fits the terminal that stdout is. */
void print_table(struct buffer *out, struct table *table);

/* ---- to stdout at once; the return value is podium_done ---- */

int print_json(const json_t *json); /* escaped where it goes to a terminal */
int print_file(
	const char *bytes, size_t length); /* as it is, but escaped where it goes to a terminal */

#endif
