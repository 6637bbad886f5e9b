/* One connection to MariaDB and its prepared statements. A connection belongs to one thread.
 *
 * SQL stands at the top of the file that uses it, as named statements beside the struct that a row
 * becomes, and is never built from strings:
 *
 *     struct board { int64_t id; const char *name; int64_t deadline_ms; };
 *     static const struct column BOARD_COLUMNS[] = {
 *         INTEGER(struct board, id), TEXT(struct board, name), TIME(struct board, deadline_ms),
 *     };
 *     static const struct statement BOARD_BY_NAME = SELECT(struct board, BOARD_COLUMNS,
 *         "SELECT id, name, deadline AS deadline_ms FROM leaderboards WHERE name = ?");
 *
 *     struct board board;
 *     int rc = database_row(db, arena, &BOARD_BY_NAME, &board, error, "s", name);
 *
 * Column names must equal member names; a difference is an error when the statement is prepared.
 * NULL becomes: SQL_NULL_INTEGER, NULL text, NAN, TIME_NULL.
 *
 * Bind letters: i int64_t (SQL_NULL_INTEGER binds NULL) · d double (NAN binds NULL) · s const char
 * * (NULL binds NULL) · b const void *, size_t · t int64_t milliseconds since 1970 (TIME_NULL binds
 * NULL).
 *
 * Over TCP to another host the connection is TLS, and the server's certificate must be signed by
 * database_tls_ca for the name or address in database_host; where it is not, or the server offers
 * no TLS, nothing is sent, no password either. Setting database_tls to "unverified" (any
 * certificate) or "off" (none) gives that up. This host's own addresses get TLS only where the
 * setting asks for it, a socket never.
 *
 * database_host may name the nodes of a Galera cluster, with commas between them
 * (lib/database_hosts.h, docs/cluster.md).
 *
 * Sessions run in UTC, READ COMMITTED, strict mode. A lost connection is opened again, with a
 * cluster to another node, and the statement tried once more; in a transaction all of it, unless
 * its commit was asked for already. */
#ifndef PODIUM_LIB_DATABASE_H
#define PODIUM_LIB_DATABASE_H

#include "lib/arena.h"
#include "lib/config.h"
#include "lib/error.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define SQL_NULL_INTEGER INT64_MIN
#define TIME_NULL INT64_MIN

enum column_type { COLUMN_INTEGER, COLUMN_REAL, COLUMN_TEXT, COLUMN_BLOB, COLUMN_TIME };

struct blob_value {
	const void *bytes;
	size_t length;
}; /* bytes NULL: SQL NULL */

struct column {
	const char *name;
	enum column_type type;
	size_t offset;
};

#define INTEGER(row, member) \
	{ \
#member, COLUMN_INTEGER, offsetof(row, member) \
	} /* int64_t */
#define REAL(row, member) \
	{ \
#member, COLUMN_REAL, offsetof(row, member) \
	} /* double */
#define TEXT(row, member) \
	{ \
#member, COLUMN_TEXT, offsetof(row, member) \
	} /* const char * */
#define BLOB(row, member) \
	{ \
#member, COLUMN_BLOB, offsetof(row, member) \
	} /* struct blob_value */
#define TIME(row, member) \
	{ \
#member, COLUMN_TIME, offsetof(row, member) \
	} /* int64_t, ms since 1970 UTC */

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

/* Connects as `config` says. NULL with `error` filled when that fails. */
struct database *database_open(const struct config *config, struct error *error);

/* The same without connecting: the first statement does, and fails with ERROR_DATABASE if it
 * cannot. */
struct database *database_lazy(const struct config *config);
void database_close(struct database *db); /* NULL is fine */

/* Whether what the settings say of TLS can be: ERROR_INPUT or ERROR_SYSTEM with a sentence. Nothing
 * is connected. */
int database_check_tls(const struct config *config, struct error *error);
bool database_wants_tls(const struct config *config);

/* From any thread: whatever the connection's own thread waits for fails, and so does everything
 * that it asks for later, at once, until the connection is not suspended any more. */
void database_suspend(struct database *db, bool suspended);

static inline void scope_database_close(struct database **db)
{
	database_close(*db);
}
#define cleanup_database __attribute__((cleanup(scope_database_close)))

/* All rows of a SELECT, as an array of the statement's struct in `arena`; *rows is a `struct T *`.
 */
int database_rows(struct database *db, struct arena *arena, const struct statement *statement,
	void *rows, size_t *count, struct error *error, const char *bind, ...);

/* The first row, into *row. ERROR_NOT_FOUND (with a plain sentence) when there is none. */
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
 * The call of a procedure that selects once is a bundle of one. The values of all of them are bound
 * one behind the other. Each sees what is committed when its turn comes, as they would one by one.
 */
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

/* INSERT, UPDATE, DELETE. A duplicate key is ERROR_CONFLICT. */
int database_execute(struct database *db, const struct statement *statement, struct error *error,
	const char *bind, ...);
uint64_t database_affected(const struct database *db);  /* rows that the last execute found to
                                                         * write, also if they were so already */
uint64_t database_insert_id(const struct database *db); /* AUTO_INCREMENT of the last execute */

/* Runs `body` in a transaction: commits when it returns 0, else rolls back and passes its code on.
 * A deadlock or a certification conflict (1213), a lock timeout (1205) and a connection that is
 * lost before the commit roll back and run `body` again, five times at most, so `body` must not
 * keep anything from an earlier try. What it asks for behind a 1213, of which the server keeps
 * nothing, is refused. A connection that is lost during the commit is ERROR_DATABASE, and nobody
 * knows whether it was carried out: what matters carries a fence or a key of its own. Inside of a
 * transaction `body` becomes a part of that one, which must end with its code. */
typedef int database_body(struct database *db, void *context, struct error *error);
int database_transaction(
	struct database *db, database_body *body, void *context, struct error *error);

/* Several statements as text, for migrations and tests only. */
int database_script(struct database *db, const char *sql, struct error *error);

/* After a failure: whether the server answered, so that it has refused; else it is away. */
bool database_is_connected(const struct database *db);

/* What all connections of this process have done together, for who watches it. Counted without a
 * lock. */
struct database_figures {
	uint64_t connections, asking; /* open now; of these, waiting for an answer now */
	uint64_t connects;            /* ever opened */
	uint64_t questions,
		failures; /* statements executed, also several in one round trip; of these, failed */
	uint64_t
		conflicts; /* transactions that were run again: deadlocks, certification, lock timeouts */
	uint64_t waited_ns; /* for all questions' answers together */
};
struct database_figures database_figures(void);

/* A round trip; 0 when the server answers. */
int database_ping(struct database *db, struct error *error);

#endif
