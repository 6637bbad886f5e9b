/* Detects within a second that the database does not answer.
 *
 * A statement may rightly take long, so its own limit (database_timeout_s) cannot be short. A
 * database that is gone, frozen or behind a dead network must not block a page for that long. One
 * thread therefore pings the database all the time, and another measures how long each ping takes.
 * When a ping takes too long, all statements of the pages fail, and new ones fail immediately,
 * until the database answers again. Pages then answer 503 and block no thread. */
#ifndef PODIUM_CGI_SERVER_DATABASE_HEALTH_H
#define PODIUM_CGI_SERVER_DATABASE_HEALTH_H

#include "lib/base/config.h"
#include "lib/database/database.h"

/* Starts both threads. They suspend the `count` connections, which must outlive
 * database_health_stop. */
int database_health_start(const struct config *config, struct database *const *databases,
	size_t count, struct error *error);
void database_health_stop(void);

#endif
