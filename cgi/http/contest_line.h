/* The contest that every page may name: one that runs or, if none does, the next one. */
#ifndef PODIUM_CGI_HTTP_CONTEST_LINE_H
#define PODIUM_CGI_HTTP_CONTEST_LINE_H

#include "lib/base/arena.h"
#include "lib/database/database.h"

#include <stdint.h>

struct contest_line {
	const char *name, *title; /* NULL: all contests have ended */
	int64_t starts_at_ms, ends_at_ms;
};

/* Returns NULL if the site has no contest, or if the database does not answer or is NULL. All
 * visitors share what was read in the last second. */
const struct contest_line *contest_line_read(struct database *db, struct arena *arena);

#endif
