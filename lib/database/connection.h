/* One connection to MariaDB: how it begins and ends, what it must not be used for any more, and
 * what all of them have done. Of database.c only, which asks and answers over it. */
#ifndef PODIUM_LIB_DATABASE_CONNECTION_H
#define PODIUM_LIB_DATABASE_CONNECTION_H

#include "lib/config.h"
#include "lib/database.h"
#include "lib/error.h"

#include <mysql.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>

/* A statement, or a bundle of them, as this connection has prepared it. Found by the address of its
 * definition. */
struct prepared {
	struct prepared *next;
	const void *definition;
	MYSQL_STMT *handle;
	bool is_checked; /* the columns of all answers are those of their rows */
};

enum { prepared_slots = 64 };

struct database {
	MYSQL *mysql;
	struct config config;
	struct prepared *prepared[prepared_slots];
	bool in_transaction, is_counted; /* is_counted: as an open connection */
	bool is_taken_back; /* the transaction that runs, by the server: what is asked now would stand
	                       by itself */
	unsigned int last_error; /* MariaDB's number of what failed last */
	uint64_t affected, insert_id;
	pthread_mutex_t guard; /* of the two below, which another thread may use */
	int socket;            /* of the open connection, or -1 */
	bool suspended;
};

/* By the settings, to one of the hosts. ERROR_DATABASE where none answers; ERROR_INPUT or
 * ERROR_SYSTEM as database_check_tls. */
int database_connect(struct database *db, struct error *error);

/* Its statements are gone with it. A connection that is not open stays so. */
void database_disconnect(struct database *db);

/* Whether MariaDB's number of an error says that the connection is of no use any more. */
bool database_is_lost(unsigned int number);

/* Around each question, for the figures; the second passes the code on. */
uint64_t database_begin_asking(void);
int database_end_asking(uint64_t began_ns, int rc);
void database_count_conflict(void); /* a transaction that is run again */

/* What was said of a try, before the next one or after one that went well. */
void database_forget_error(struct error *error);

#endif
