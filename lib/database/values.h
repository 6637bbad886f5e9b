/* What libmariadb is given for the values of a statement, and what the columns of its rows become.
 * Of database.c only. */
#ifndef PODIUM_LIB_DATABASE_VALUES_H
#define PODIUM_LIB_DATABASE_VALUES_H

#include "lib/arena.h"
#include "lib/database.h"

#include <mysql.h>
#include <stdarg.h>

enum {
	database_most_parameters = 32,
	database_most_columns = 48,
	database_inline_bytes =
		256 /* a text of so many is fetched with its row, a longer one by a call of its own */
};

union database_value {
	int64_t integer;
	double real;
	MYSQL_TIME time;
};

struct database_parameters {
	size_t count;
	MYSQL_BIND binds[database_most_parameters];
	union database_value values[database_most_parameters];
};

/* `letters` as lib/database.h says. Texts and bytes stay the caller's. */
void database_parameters_collect(
	struct database_parameters *p, const char *letters, va_list *arguments);

struct database_results {
	MYSQL_BIND binds[database_most_columns];
	union database_value values[database_most_columns];
	char text[database_most_columns][database_inline_bytes];
	unsigned long lengths[database_most_columns];
	my_bool nulls[database_most_columns];
	my_bool cut[database_most_columns];
};

/* Before the rows of `statement` are fetched; `r` has to stay where it is. */
void database_results_bind(struct database_results *r, const struct statement *statement);

/* The row that `handle` has fetched, as the struct of `statement`; texts and bytes in `arena`. */
void database_results_store(struct database_results *r, MYSQL_STMT *handle,
	const struct statement *statement, struct arena *arena, char *row);

#endif
