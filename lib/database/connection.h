/* Private to lib/database: one connection to MariaDB. This module opens and closes it,
 * recognizes a lost one, and counts what all connections do. */
#ifndef PODIUM_LIB_DATABASE_CONNECTION_H
#define PODIUM_LIB_DATABASE_CONNECTION_H

#include "lib/base/config.h"
#include "lib/base/error.h"
#include "lib/database/database.h"

#include <mysql.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>

/* A statement or bundle that this connection has prepared. `definition` points to that statement or
 * bundle, and identifies it. */
struct prepared {
	struct prepared *next;
	const void *definition;
	MYSQL_STMT *handle;
	bool is_checked; /* the columns were compared with the statement's struct */
};

enum { prepared_slots = 64 };

struct database {
	MYSQL *mysql;
	struct config config;
	struct prepared *prepared[prepared_slots];
	bool in_transaction, is_counted; /* is_counted: included in the number of open connections */
	/* The server has rolled the current transaction back. A further statement would run outside
	 * of any transaction. */
	bool is_rolled_back;
	unsigned int last_error; /* MariaDB's number of the last error */
	uint64_t affected, insert_id;
	int64_t limit_ms, ends_at_ms; /* of database_limit; 0: no limit */
	bool is_limit_lifted;
	pthread_mutex_t guard; /* protects the next two members, which other threads use */
	int socket;            /* of the open connection, or -1 */
	bool suspended;
};

/* Connects to one of the configured hosts. ERROR_DATABASE: none answers. ERROR_INPUT or
 * ERROR_SYSTEM: as database_check_tls. */
int database_connect(struct database *db, struct error *error);

/* Closes the connection and frees its prepared statements. Does nothing when it is closed. */
void database_disconnect(struct database *db);

/* Whether MariaDB's error `number` means that the connection is lost. */
bool database_is_lost(unsigned int number);

/* Call these before and after each statement, so that database_figures counts it.
 * database_end_asking returns `rc`. */
uint64_t database_begin_asking(void);
int database_end_asking(uint64_t began_ns, int rc);
void database_count_conflict(void); /* counts one retry of a transaction */

/* Notes MariaDB's error and fills `error`. Each of these returns the error's code. */
int database_failed(
	struct database *db, unsigned int number, const char *text, struct error *error);
int database_fail_lost(struct database *db, struct error *error);
int database_fail_rolled_back(struct database *db, struct error *error);

/* How often a statement or a transaction runs if it meets conflicts, and the pause between. */
enum { database_most_tries = 5 };
void database_pause_before_retry(int attempt);

/* Clears an error: before a retry, or when a later attempt has succeeded. */
void database_forget_error(struct error *error);

#endif
