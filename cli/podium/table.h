/* Prints a plain-text table. Columns fit their contents, numbers align right, and empty columns are
 * left out. If the table is too wide, its widest text columns are cut with "…". The table and its
 * cells live in the arena. */
#ifndef PODIUM_CLI_PODIUM_TABLE_H
#define PODIUM_CLI_PODIUM_TABLE_H

#include "lib/base/arena.h"
#include "lib/base/buffer.h"

#include <stdbool.h>
#include <stddef.h>

enum { table_most_columns = 12 };

struct table_column {
	const char *heading;
	bool is_number; /* the column has numbers, or other values that must not be cut */
};

struct table {
	struct arena *arena;
	const struct table_column *columns;
	size_t column_count;
	const char *(*rows)[table_most_columns];
	size_t row_count, most_rows;
	size_t most_width; /* the terminal's columns; 0: no limit */
};

struct table table_make(
	struct arena *arena, const struct table_column *columns, size_t count, size_t most_rows);

/* Adds a row; NULL is an empty cell. Control characters are written as \xNN. */
void table_add(struct table *table, const char *const *cells);

void table_write(struct buffer *out, const struct table *table, const char *indent);

#endif
