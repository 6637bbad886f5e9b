#include "lib/database/values.h"

#include "lib/base/log.h"
#include "lib/database/calendar.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- parameters ---- */

static void bind_parameter(struct database_parameters *p, char letter, va_list *arguments)
{
	MYSQL_BIND *bind = &p->binds[p->count];
	union database_value *value = &p->values[p->count++];
	bind->buffer = value;
	switch (letter) {
	case 'i':
		value->integer = va_arg(*arguments, int64_t);
		bind->buffer_type =
			value->integer == SQL_NULL_INTEGER ? MYSQL_TYPE_NULL : MYSQL_TYPE_LONGLONG;
		break;
	case 'd':
		value->real = va_arg(*arguments, double);
		bind->buffer_type = isnan(value->real) ? MYSQL_TYPE_NULL : MYSQL_TYPE_DOUBLE;
		break;
	case 't': {
		int64_t milliseconds = va_arg(*arguments, int64_t);
		bind->buffer_type = milliseconds == TIME_NULL ? MYSQL_TYPE_NULL : MYSQL_TYPE_DATETIME;
		if (milliseconds != TIME_NULL)
			calendar_to_mysql(milliseconds, &value->time);
		break;
	}
	case 's': {
		const char *text = va_arg(*arguments, const char *);
		bind->buffer_type = text ? MYSQL_TYPE_STRING : MYSQL_TYPE_NULL;
		bind->buffer = (void *)(uintptr_t)text;
		bind->buffer_length = text ? strlen(text) : 0;
		break;
	}
	case 'b': {
		const void *bytes = va_arg(*arguments, const void *);
		bind->buffer_type = bytes ? MYSQL_TYPE_BLOB : MYSQL_TYPE_NULL;
		bind->buffer = (void *)(uintptr_t)bytes;
		bind->buffer_length = va_arg(*arguments, size_t);
		break;
	}
	default: log_error("unknown bind letter '%c'", letter); abort();
	}
}

void database_parameters_collect(
	struct database_parameters *p, const char *letters, va_list *arguments)
{
	memset(p, 0, sizeof *p);
	for (; *letters; letters++) {
		if (p->count == database_most_parameters)
			abort();
		bind_parameter(p, *letters, arguments);
	}
}

/* ---- results ---- */

void database_results_bind(struct database_results *r, const struct statement *statement)
{
	memset(r->binds, 0, sizeof r->binds[0] * statement->column_count);
	for (size_t i = 0; i < statement->column_count; i++) {
		MYSQL_BIND *bind = &r->binds[i];
		bind->buffer = &r->values[i];
		bind->length = &r->lengths[i];
		bind->is_null = &r->nulls[i];
		bind->error = &r->cut[i];
		switch (statement->columns[i].type) {
		case COLUMN_INTEGER: bind->buffer_type = MYSQL_TYPE_LONGLONG; break;
		case COLUMN_REAL: bind->buffer_type = MYSQL_TYPE_DOUBLE; break;
		case COLUMN_TIME: bind->buffer_type = MYSQL_TYPE_DATETIME; break;
		case COLUMN_TEXT:
		case COLUMN_BLOB:
			bind->buffer_type = MYSQL_TYPE_BLOB;
			bind->buffer = r->text[i];
			bind->buffer_length = database_inline_bytes;
		}
	}
}

/* The bytes of column `i`. Short values were fetched with the row; a longer value is fetched
 * now. */
static char *fetch_bytes(
	MYSQL_STMT *handle, struct database_results *r, unsigned int i, struct arena *arena)
{
	if (r->lengths[i] <= database_inline_bytes)
		return arena_copy(arena, r->text[i], r->lengths[i]);
	char *bytes = arena_alloc(arena, r->lengths[i] + 1);
	unsigned long length;
	MYSQL_BIND bind = { .buffer_type = MYSQL_TYPE_BLOB,
		.buffer = bytes,
		.buffer_length = r->lengths[i],
		.length = &length };
	return mysql_stmt_fetch_column(handle, &bind, i, 0) ? NULL : bytes;
}

static void store_column(MYSQL_STMT *handle, struct database_results *r, unsigned int i,
	const struct column *column, struct arena *arena, char *row)
{
	void *place = row + column->offset;
	bool null = r->nulls[i];
	switch (column->type) {
	case COLUMN_INTEGER: *(int64_t *)place = null ? SQL_NULL_INTEGER : r->values[i].integer; break;
	case COLUMN_REAL: *(double *)place = null ? (double)NAN : r->values[i].real; break;
	case COLUMN_TIME:
		*(int64_t *)place = null ? TIME_NULL : calendar_from_mysql(&r->values[i].time);
		break;
	case COLUMN_TEXT: *(const char **)place = null ? NULL : fetch_bytes(handle, r, i, arena); break;
	case COLUMN_BLOB:
		*(struct blob_value *)place =
			(struct blob_value){ null ? NULL : fetch_bytes(handle, r, i, arena),
				null ? 0 : r->lengths[i] };
	}
}

void database_results_store(struct database_results *r, MYSQL_STMT *handle,
	const struct statement *statement, struct arena *arena, char *row)
{
	for (unsigned int i = 0; i < statement->column_count; i++)
		store_column(handle, r, i, &statement->columns[i], arena, row);
}
