/* Reads the setting database_host, remembers which host works, and sets TLS options. Only
 * lib/database/connection.c connects.
 *
 * Several hosts, separated by commas, are the nodes of one cluster. All connections of a process
 * use one node until it stops answering, then the next. Few nodes then receive writes;
 * docs/cluster.md says why that matters. */
#ifndef PODIUM_LIB_DATABASE_HOSTS_H
#define PODIUM_LIB_DATABASE_HOSTS_H

#include "lib/base/config.h"
#include "lib/base/error.h"

#include <mysql.h>
#include <stdbool.h>
#include <stddef.h>

enum { database_most_hosts = 8 };

struct database_hosts {
	size_t count;
	char names[database_most_hosts][sizeof((struct config *)0)->database_host];
};

/* Reads database_host, ignoring blanks around commas. ERROR_INPUT: no host, an empty one, or too
 * many. */
int database_hosts_read(
	const struct config *config, struct database_hosts *hosts, struct error *error);

/* The index of the host to try first: the last one this process connected to, at the start 0. */
size_t database_hosts_first(const struct database_hosts *hosts);
void database_hosts_stay(size_t number); /* remembers a working host; from any thread */

/* Sets the TLS options of `mysql` from the settings. Call it before connecting. */
void database_ask_for_tls(MYSQL *mysql, const struct config *config);

#endif
