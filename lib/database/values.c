#include "lib/database_values.h"

#include "lib/log.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

/* ---- times ---- */

static void time_to_mysql(int64_t milliseconds, MYSQL_TIME *out)
{
	int64_t seconds = milliseconds / 1000, rest = milliseconds % 1000;
	if (rest < 0) {
		rest += 1000;
		seconds--;
	}
	time_t t = (time_t)seconds;
	struct tm utc;
	gmtime_r(&t, &utc);
	*out = (MYSQL_TIME){
		.year = (unsigned int)utc.tm_year + 1900,
		.month = (unsigned int)utc.tm_mon + 1,
		.day = (unsigned int)utc.tm_mday,
		.hour = (unsigned int)utc.tm_hour,
		.minute = (unsigned int)utc.tm_min,
		.second = (unsigned int)utc.tm_sec,
		.second_part = (unsigned long)rest * 1000,
		.time_type = MYSQL_TIMESTAMP_DATETIME,
	};
}

/* Of the Gregorian calendar, since 1970. With the year taken from March on, its leap day is the
 * last; the months from there have 31, 30, 31, 30, 31 days, twice and a half. (timegm takes a lock
 * that all threads share, and its time.) */
static int64_t days_before(int64_t year, int64_t month, int64_t day)
{
	enum { days_until_1970 = 719468 };
	year -= month < 3;
	int64_t since_march = (month + 9) % 12;
	return 365 * year + year / 4 - year / 100 + year / 400 + (153 * since_march + 2) / 5 + day - 1
		- days_until_1970;
}

static int64_t time_from_mysql(const MYSQL_TIME *in)
{
	int64_t hours = days_before(in->year, in->month, in->day) * 24 + in->hour;
	return ((hours * 60 + in->minute) * 60 + in->second) * 1000 + (int64_t)(in->second_part / 1000);
}

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
			time_to_mysql(milliseconds, &value->time);
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

/* The bytes of column `i`: those that fitted are there already, a longer value is fetched whole. */
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
		*(int64_t *)place = null ? TIME_NULL : time_from_mysql(&r->values[i].time);
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
