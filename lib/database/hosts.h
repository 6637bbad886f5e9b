/* Where the database is and how it is reached: the hosts of the setting database_host, and TLS.
 * Only lib/database_connection.c connects.
 *
 * Several hosts, with commas between them, are the nodes of one cluster. A process uses the same
 * node for all its connections and goes on to the next one when that does not answer, so that nodes
 * are written to by as few as can be (docs/cluster.md says why). */
#ifndef PODIUM_LIB_DATABASE_HOSTS_H
#define PODIUM_LIB_DATABASE_HOSTS_H

#include "lib/config.h"
#include "lib/error.h"

#include <mysql.h>
#include <stdbool.h>
#include <stddef.h>

enum { database_most_hosts = 8 };

struct database_hosts {
	size_t count;
	char names[database_most_hosts][sizeof((struct config *)0)->database_host];
};

/* Blanks around a comma do not count. ERROR_INPUT when there is none, one is empty, or there are
 * too many. */
int database_hosts_read(
	const struct config *config, struct database_hosts *hosts, struct error *error);

/* The number of the one to begin with: that to which this process connected last, at its start the
 * first. */
size_t database_hosts_first(const struct database_hosts *hosts);
void database_hosts_stay(size_t number); /* from any thread */

/* Before connecting, as the settings say. */
void database_ask_for_tls(MYSQL *mysql, const struct config *config);

#endif
