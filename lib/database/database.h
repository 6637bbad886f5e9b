/* One connection to MariaDB and its prepared statements. A connection belongs to one thread.
 *
 * SQL is never built from strings. Named statements are at the top of the file that uses them,
 * next to the struct for their rows:
 *
 *     struct leaderboard { int64_t id; const char *name; int64_t deadline_ms; };
 *     static const struct column COLUMNS[] = {
 *         INTEGER(struct leaderboard, id), TEXT(struct leaderboard, name),
 *         TIME(struct leaderboard, deadline_ms),
 *     };
 *     static const struct statement BY_NAME = SELECT(struct leaderboard, COLUMNS,
 *         "SELECT id, name, deadline AS deadline_ms FROM leaderboards WHERE name = ?");
 *
 *     struct leaderboard leaderboard;
 *     int rc = database_row(db, arena, &BY_NAME, &leaderboard, error, "s", name);
 *
 * Column names must equal member names; preparing the statement fails otherwise. NULL becomes
 * SQL_NULL_INTEGER, a NULL text, NAN or TIME_NULL, and the same values bind NULL.
 *
 * Letters of `bind`, one for each value:
 * - i: int64_t
 * - d: double
 * - s: const char *
 * - b: const void *, size_t
 * - t: int64_t, milliseconds since 1970 UTC
 *
 * TCP connections to other hosts use TLS. The server's certificate must be signed by
 * database_tls_ca for the name or address in database_host. Otherwise the connection fails before
 * anything is sent, the password included. database_tls "unverified" accepts any certificate, "off"
 * disables TLS. Addresses of this host use TLS only when database_tls asks for it, and a Unix
 * socket never uses TLS.
 *
 * database_host may list the nodes of a Galera cluster, separated by commas
 * (lib/database/hosts.h, docs/cluster.md).
 *
 * Sessions use UTC, READ COMMITTED and strict mode. After a lost connection, the program
 * connects again, in a cluster to another node, and retries the statement once. In a transaction
 * the whole transaction is retried, unless its commit was already sent. */
#ifndef PODIUM_LIB_DATABASE_DATABASE_H
#define PODIUM_LIB_DATABASE_DATABASE_H

#include "lib/base/arena.h"
#include "lib/base/config.h"
#include "lib/base/error.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define SQL_NULL_INTEGER INT64_MIN
#define TIME_NULL INT64_MIN

enum column_type { COLUMN_INTEGER, COLUMN_REAL, COLUMN_TEXT, COLUMN_BLOB, COLUMN_TIME };

struct blob_value {
	const void *bytes; /* NULL: SQL NULL */
	size_t length;
};

struct column {
	const char *name;
	enum column_type type;
	size_t offset;
};

#define COLUMN(row, member, column_type) \
	{ \
		.name = #member, .type = (column_type), .offset = offsetof(row, member) \
	}
#define INTEGER(row, member) COLUMN(row, member, COLUMN_INTEGER) /* int64_t */
#define REAL(row, member) COLUMN(row, member, COLUMN_REAL)       /* double */
#define TEXT(row, member) COLUMN(row, member, COLUMN_TEXT)       /* const char * */
#define BLOB(row, member) COLUMN(row, member, COLUMN_BLOB)       /* struct blob_value */
#define TIME(row, member) COLUMN(row, member, COLUMN_TIME)       /* int64_t, ms since 1970 UTC */

struct statement {
	const char *sql;
	size_t row_size;
	const struct column *columns;
	size_t column_count;
};

#define SELECT(row, column_array, text) \
	{ \
		.sql = (text), .row_size = sizeof(row), .columns = (column_array), \
		.column_count = sizeof(column_array) / sizeof((column_array)[0]) \
	}
#define COMMAND(text) \
	{ \
		.sql = (text) \
	}

struct database;

/* Connects as `config` says. Returns NULL and fills `error` on failure. The caller closes it. */
struct database *database_open(const struct config *config, struct error *error);

/* Like database_open, but connects only at the first statement. That statement returns
 * ERROR_DATABASE if it cannot connect. */
struct database *database_lazy(const struct config *config);
void database_close(struct database *db); /* NULL is fine */

/* Checks the TLS settings without connecting. ERROR_INPUT or ERROR_SYSTEM with a sentence. */
int database_check_tls(const struct config *config, struct error *error);
bool database_wants_tls(const struct config *config);

/* Limits how long a request's statements may take. Call it before the connection opens. The server
 * stops a statement after `limit_ms`, and none starts later than `limit_ms` after the last
 * database_restart_limit. Both cases are ERROR_BUSY and roll the transaction back. */
void database_limit(struct database *db, int64_t limit_ms);
void database_restart_limit(struct database *db);

/* Lifts the limit until database_restart_limit, for rare actions that the user has confirmed. */
int database_lift_limit(struct database *db, struct error *error);

/* Suspends or resumes a connection, from any thread. While the connection is suspended, its current
 * and further statements fail immediately. */
void database_suspend(struct database *db, bool suspended);

static inline void scope_database_close(struct database **db)
{
	database_close(*db);
}
#define cleanup_database __attribute__((cleanup(scope_database_close)))

/* Reads all rows of a SELECT into an array of the statement's struct in `arena`. `rows` is the
 * address of a `struct T *`. ERROR_LIMIT: the rows exceed the arena's limit. */
int database_rows(struct database *db, struct arena *arena, const struct statement *statement,
	void *rows, size_t *count, struct error *error, const char *bind, ...);

/* Reads the first row into *row. ERROR_NOT_FOUND with a general sentence: no row. */
int database_row(struct database *db, struct arena *arena, const struct statement *statement,
	void *row, struct error *error, const char *bind, ...);

/* Several SELECTs in one round trip:
 *
 *     static const struct statement *const PARTS[] = { &STAGES, &CASES };
 *     static const struct bundle DETAILS = BUNDLE(PARTS);
 *     struct database_answer answers[COUNT(PARTS)];
 *     int rc = database_answers(db, arena, &DETAILS, answers, error, "ii", job_id, job_id);
 *     struct stage *stages = answers[0].rows;
 *
 * `bind` lists the values of all statements, in order. Each statement sees what is committed
 * when it starts, as separate statements do. To call a procedure with one SELECT, use a bundle
 * of one. */
struct bundle {
	const struct statement *const *statements;
	size_t count;
};
#define BUNDLE(array) \
	{ \
		(array), sizeof(array) / sizeof((array)[0]) \
	}
struct database_answer {
	void *rows;
	size_t count;
};
int database_answers(struct database *db, struct arena *arena, const struct bundle *bundle,
	struct database_answer *answers, struct error *error, const char *bind, ...);

/* Runs INSERT, UPDATE or DELETE. A duplicate key is ERROR_CONFLICT. */
int database_execute(struct database *db, const struct statement *statement, struct error *error,
	const char *bind, ...);
/* rows that the last execute matched, including rows that it did not change */
uint64_t database_affected(const struct database *db);
uint64_t database_insert_id(const struct database *db); /* AUTO_INCREMENT of the last execute */

/* Runs `body` in a transaction. Commits when `body` returns 0, else rolls back and returns its
 * code.
 *
 * A deadlock or certification conflict (1213), a lock timeout (1205) or a connection lost before
 * the commit rolls back and runs `body` again. A transaction gets at most five tries, two after a
 * lost connection. `body` must therefore keep nothing from an earlier try.
 *
 * After a 1213 the server has rolled everything back, so further statements of `body` fail. A
 * connection lost during the commit is ERROR_DATABASE, and the outcome is unknown. Important writes
 * therefore carry a fence or a unique key.
 *
 * If a transaction is open already, `body` runs as part of it. The outer body must then return the
 * code of the inner one. */
typedef int database_body(struct database *db, void *context, struct error *error);
int database_transaction(
	struct database *db, database_body *body, void *context, struct error *error);

/* Runs several statements from text. Only for migrations and tests. */
int database_script(struct database *db, const char *sql, struct error *error);

/* After a failure: true if the server answered and refused, false if it is unreachable. */
bool database_is_connected(const struct database *db);

/* Totals of all connections of this process, for monitoring. Counted without a lock. */
struct database_figures {
	uint64_t connections, asking; /* open connections; connections that wait for an answer */
	uint64_t connects;            /* connections opened since the start */
	/* statements executed, a bundle as one; those that failed */
	uint64_t questions, failures;
	/* retries after deadlocks, certification conflicts, lock timeouts and lost connections */
	uint64_t conflicts;
	uint64_t waited_ns; /* total time spent waiting for answers */
};
struct database_figures database_figures(void);

/* Makes one round trip; 0 when the server answers. */
int database_ping(struct database *db, struct error *error);

#endif
