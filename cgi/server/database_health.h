/* Whether the database answers, known within a second whatever has happened to it.
 *
 * A statement may rightly take long, so its own limit (database_timeout_s) cannot be short; but a
 * database that is gone, frozen or behind a dead network must not hold a page for that long. So one
 * thread asks it something trivial all the time, and another one looks at how long that has been
 * taking. When it takes too long, every statement that a page waits for fails, and every later one
 * fails at once, until the database answers again: the pages say 503, and no thread is lost to
 * them. */
#ifndef PODIUM_CGI_PULSE_H
#define PODIUM_CGI_PULSE_H

#include "lib/config.h"
#include "lib/database.h"

/* Starts both threads. They watch over `count` connections, which must outlive pulse_stop. */
int pulse_start(const struct config *config, struct database *const *databases, size_t count,
	struct error *error);
void pulse_stop(void);

#endif
