/* A table in plain text: columns as wide as what they hold, numbers to the right, and without the
 * columns that hold nothing. Where it must fit a width, the widest columns of words give way, cut
 * with "…". Everything lives in the arena. */
#ifndef PODIUM_CLI_PODIUM_TABLE_H
#define PODIUM_CLI_PODIUM_TABLE_H

#include "lib/arena.h"
#include "lib/buffer.h"

#include <stdbool.h>
#include <stddef.h>

enum { table_most_columns = 12 };

struct table_column {
	const char *heading;
	bool is_number; /* or something else that is nothing when it is cut, as a time */
};

struct table {
	struct arena *arena;
	const struct table_column *columns;
	size_t column_count;
	const char *(*rows)[table_most_columns];
	size_t row_count, most_rows;
	size_t most_width; /* columns of the terminal; 0: any number */
};

struct table table_make(
	struct arena *arena, const struct table_column *columns, size_t count, size_t most_rows);

/* Adds a row; NULL is an empty cell. What could steer a terminal is written as \xNN. */
void table_add(struct table *table, const char *const *cells);

void table_write(struct buffer *out, const struct table *table, const char *indent);

#endif
