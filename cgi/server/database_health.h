/* Detects within a second that the database does not answer.
 *
 * Some statements take long, so their time limit (database_timeout_s) cannot be short. A page must
 * not wait that long for a database that is gone, frozen or behind a dead network. One thread
 * therefore pings the database several times a second, and another measures how long each ping
 * takes. When a ping takes too long, all running statements of the pages fail. New ones fail
 * immediately until the database answers again. Pages then answer 503 and block no thread. */
#ifndef PODIUM_CGI_SERVER_DATABASE_HEALTH_H
#define PODIUM_CGI_SERVER_DATABASE_HEALTH_H

#include "lib/base/config.h"
#include "lib/database/database.h"

/* Starts both threads, which suspend the `count` connections while the database does not answer.
 * The connections must outlive database_health_stop. */
int database_health_start(const struct config *config, struct database *const *databases,
	size_t count, struct error *error);
void database_health_stop(void);

#endif
