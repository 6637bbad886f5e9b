/* Private to lib/database: binds a statement's values for libmariadb, and stores result columns
 * in rows. */
#ifndef PODIUM_LIB_DATABASE_VALUES_H
#define PODIUM_LIB_DATABASE_VALUES_H

#include "lib/base/arena.h"
#include "lib/database/database.h"

#include <mysql.h>
#include <stdarg.h>

enum {
	database_most_parameters = 32,
	database_most_columns = 48,
	/* A text up to this size is fetched with its row, a longer one by a separate call. */
	database_inline_bytes = 256
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

/* Collects the values. lib/database/database.h explains `letters`. Texts and bytes stay the
 * caller's. */
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

/* Call this before fetching rows of `statement`. `r` must not move until the last row is stored. */
void database_results_bind(struct database_results *r, const struct statement *statement);

/* Stores the row that `handle` has fetched in the struct of `statement`. Texts and bytes are
 * copied into `arena`. */
void database_results_store(struct database_results *r, MYSQL_STMT *handle,
	const struct statement *statement, struct arena *arena, char *row);

#endif
