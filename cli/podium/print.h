/* Text of strangers in a report, in which nothing can steer a terminal. */
#ifndef PODIUM_CLI_PODIUM_PRINT_H
#define PODIUM_CLI_PODIUM_PRINT_H

#include "lib/buffer.h"

enum { print_tail_lines = 20 };

/* The last lines of a text, each behind `indent`, and how many there were before them. */
void print_tail(struct buffer *out, const char *indent, const char *text);

/* A line "  name       value"; nothing where the value is NULL or "". */
void print_fact(struct buffer *out, const char *name, const char *value);

#endif
