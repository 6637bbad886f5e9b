/* The numbered files of sql/, compiled into the program in numerical order. The build generates
 * the list from the folder. A schema change is a new file; a released migration never changes. */
#ifndef PODIUM_SQL_MIGRATIONS_H
#define PODIUM_SQL_MIGRATIONS_H

#include <stddef.h>

struct migration {
	const char *name;      /* "0001_initial"; begins with its number */
	const char *sql, *end; /* statements; a NUL is at `end` */
};

extern const struct migration migrations[];
extern const size_t migration_count;

#endif
