#include "cli/podium/table.h"

#include "cli/podium/display.h"
#include "lib/base/text.h"

#include <string.h>

struct table table_make(
	struct arena *arena, const struct table_column *columns, size_t count, size_t most_rows)
{
	return (struct table){
		.arena = arena,
		.columns = columns,
		.column_count = count,
		.most_rows = most_rows,
		.rows = arena_alloc(arena, sizeof(const char *[table_most_columns]) * (most_rows + 1)),
	};
}

void table_add(struct table *table, const char *const *cells)
{
	if (table->row_count == table->most_rows)
		return;
	const char **row = table->rows[table->row_count++];
	for (size_t i = 0; i < table->column_count; i++) {
		cleanup_buffer struct buffer cell = { 0 };
		text_append_printable(&cell, cells[i] ? cells[i] : "");
		row[i] = arena_strdup(table->arena, buffer_string(&cell));
	}
}

/* Returns the width of the column, or 0 if the column is empty in every row. */
static size_t column_width(const struct table *table, size_t column)
{
	size_t widest = 0;
	for (size_t i = 0; i < table->row_count; i++) {
		size_t width = display_width(table->rows[i][column]);
		widest = width > widest ? width : widest;
	}
	size_t heading = display_width(table->columns[column].heading);
	return widest && widest < heading ? heading : widest;
}

enum { least_width = 6, gap = 2 };

static size_t whole_width(const struct table *table, const size_t *widths, size_t indent)
{
	size_t whole = indent;
	for (size_t i = 0, shown = 0; i < table->column_count; i++)
		whole += widths[i] ? widths[i] + (shown++ ? gap : 0) : 0;
	return whole;
}

/* Narrows the widest text columns until the table fits. Numbers are never cut, because a cut number
 * is a wrong number. */
static void make_fit(const struct table *table, size_t *widths, size_t indent)
{
	while (table->most_width && whole_width(table, widths, indent) > table->most_width) {
		size_t widest = table->column_count;
		for (size_t i = 0; i < table->column_count; i++)
			if (!table->columns[i].is_number && widths[i] > least_width
				&& (widest == table->column_count || widths[i] > widths[widest]))
				widest = i;
		if (widest == table->column_count)
			return;
		widths[widest]--;
	}
}

static void write_row(struct buffer *out, const struct table *table, const size_t *widths,
	const char *const *cells, const char *indent)
{
	size_t owed = 0; /* spaces to write before the next cell that is not empty */
	buffer_text(out, indent);
	for (size_t i = 0; i < table->column_count; i++) {
		if (!widths[i])
			continue;
		cleanup_buffer struct buffer cell = { 0 };
		display_append(&cell, cells[i], widths[i]);
		size_t blank = widths[i] - display_width(buffer_string(&cell));
		bool is_number = table->columns[i].is_number;
		if (cell.length)
			buffer_printf(out, "%*s%s", (int)(owed + (is_number ? blank : 0)), "", cell.data);
		owed = cell.length ? (is_number ? 0 : blank) + gap : owed + widths[i] + gap;
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
	make_fit(table, widths, strlen(indent));
	write_row(out, table, widths, headings, indent);
	for (size_t i = 0; i < table->row_count; i++)
		write_row(out, table, widths, table->rows[i], indent);
}
