/* Detects within about two seconds that the database does not answer.
 *
 * Some statements take long, so their time limit (database_timeout_s) cannot be short. A page must
 * not wait that long for a database that is gone, frozen or behind a dead network. One thread
 * therefore pings the database several times a second, and another checks whether anything was
 * answered. When the database is silent for too long, all running statements of the pages fail. New
 * ones fail immediately until the database answers again. Pages then answer 503 and block no
 * thread. */
#ifndef PODIUM_CGI_SERVER_DATABASE_HEALTH_H
#define PODIUM_CGI_SERVER_DATABASE_HEALTH_H

#include "lib/base/config.h"
#include "lib/database/database.h"

#include <stdbool.h>
#include <stdint.h>

/* Starts both threads, which suspend the `count` connections while the database does not answer.
 * The connections must outlive database_health_stop. */
int database_health_start(const struct config *config, struct database *const *databases,
	size_t count, struct error *error);
void database_health_stop(void);

/* Says at each of its calls, one every 50 ms, whether the database is silent: a ping waits, and for
 * 40 calls no statement of this process was answered. `answers` counts these. On a busy machine
 * pings are late too, but either other statements are answered or the calls are late as well.
 * Exists for the test. */
struct database_silence {
	uint64_t answers;
	int ms;
};
bool database_is_silent(struct database_silence *silence, bool awaits, uint64_t answers);

#endif
