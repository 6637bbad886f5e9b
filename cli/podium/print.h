/* Prints untrusted text in a report. Control characters are escaped, so they cannot steer the
 * terminal. */
#ifndef PODIUM_CLI_PODIUM_PRINT_H
#define PODIUM_CLI_PODIUM_PRINT_H

#include "cli/podium/table.h"
#include "lib/base/buffer.h"

#include <jansson.h>

enum { print_tail_lines = 20 };

/* Appends the last print_tail_lines lines of the text, each behind `indent`, and says how many
 * lines it leaves out. */
void print_tail(struct buffer *out, const char *indent, const char *text);

/* Appends a line "  name       value"; nothing if the value is NULL or "". */
void print_fact(struct buffer *out, const char *name, const char *value);
/* Like print_fact, but for names of at most `width` columns. */
void print_padded_fact(struct buffer *out, int width, const char *name, const char *value);

/* Appends the whole text, each line behind `indent`. */
void print_text(struct buffer *out, const char *indent, const char *text);

/* Appends a table; on a terminal it fits the width of stdout. */
void print_table(struct buffer *out, struct table *table);

/* ---- print on stdout and return podium_done; output to a terminal is escaped ---- */

int print_json(const json_t *json);
int print_file(const char *bytes, size_t length);

#endif
