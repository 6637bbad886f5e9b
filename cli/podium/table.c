#include "cli/podium/table.h"

#include "lib/text.h"

#include <string.h>

struct table table_make(struct arena *arena, const struct table_column *columns, size_t count, size_t most_rows)
{
	return (struct table){
		.arena = arena, .columns = columns, .column_count = count, .most_rows = most_rows,
		.rows = arena_alloc(arena, sizeof(const char *[table_most_columns]) * (most_rows + 1)),
	};
}

void table_add(struct table *table, const char *const *cells)
{
	if (table->row_count == table->most_rows)
		return;
	const char **row = table->rows[table->row_count++];
	for (size_t i = 0; i < table->column_count; i++) {
		cleanup_buffer struct buffer cell = {0};
		text_append_printable(&cell, cells[i] ? cells[i] : "");
		row[i] = arena_strdup(table->arena, buffer_string(&cell));
	}
}

/* Characters, each as wide as one column. */
static size_t width_of(const char *text)
{
	size_t width = 0;
	for (; *text; text++)
		width += (*text & 0xc0) != 0x80;
	return width;
}

/* 0: no row has anything in it. */
static size_t column_width(const struct table *table, size_t column)
{
	size_t widest = 0;
	for (size_t i = 0; i < table->row_count; i++) {
		size_t width = width_of(table->rows[i][column]);
		widest = width > widest ? width : widest;
	}
	size_t heading = width_of(table->columns[column].heading);
	return widest && widest < heading ? heading : widest;
}

static void write_row(struct buffer *out, const struct table *table, const size_t *widths, const char *const *cells,
	const char *indent)
{
	size_t owed = 0; /* spaces that are written when something follows */
	buffer_text(out, indent);
	for (size_t i = 0; i < table->column_count; i++) {
		if (!widths[i])
			continue;
		size_t blank = widths[i] - width_of(cells[i]);
		bool is_number = table->columns[i].is_number;
		if (*cells[i])
			buffer_printf(out, "%*s%s", (int)(owed + (is_number ? blank : 0)), "", cells[i]);
		owed = *cells[i] ? (is_number ? 0 : blank) + 2 : owed + widths[i] + 2;
	}
	buffer_byte(out, '\n');
}

void table_write(struct buffer *out, const struct table *table, const char *indent)
{
	size_t widths[table_most_columns];
	const char *headings[table_most_columns];
	for (size_t i = 0; i < table->column_count; i++) {
		widths[i] = column_width(table, i);
		headings[i] = table->columns[i].heading;
	}
	write_row(out, table, widths, headings, indent);
	for (size_t i = 0; i < table->row_count; i++)
		write_row(out, table, widths, table->rows[i], indent);
}
