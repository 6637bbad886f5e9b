/* The numbered files of sql/, compiled into the program, in order of their numbers. Generated from
 * the folder's contents: a new migration is a new file, and a migration that was released never
 * changes. */
#ifndef PODIUM_SQL_MIGRATIONS_H
#define PODIUM_SQL_MIGRATIONS_H

#include <stddef.h>

struct migration {
	const char *name;      /* "0001_initial"; begins with its number */
	const char *sql, *end; /* statements; a NUL stands at `end` */
};

extern const struct migration migrations[];
extern const size_t migration_count;

#endif
