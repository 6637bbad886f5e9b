#include "lib/database/connection.h"

#include "lib/base/clock.h"
#include "lib/base/log.h"
#include "lib/base/scope.h"
#include "lib/database/hosts.h"

#include <errmsg.h>
#include <mysqld_error.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/socket.h>

/* ---- figures ---- */

static struct {
	atomic_ullong connections, asking, connects, questions, failures, conflicts, waited_ns;
} figures;

static void add_figure(atomic_ullong *figure, unsigned long long more)
{
	atomic_fetch_add_explicit(figure, more, memory_order_relaxed);
}

static unsigned long long read_figure(atomic_ullong *figure)
{
	return atomic_load_explicit(figure, memory_order_relaxed);
}

struct database_figures database_figures(void)
{
	return (struct database_figures){
		.connections = read_figure(&figures.connections),
		.asking = read_figure(&figures.asking),
		.connects = read_figure(&figures.connects),
		.questions = read_figure(&figures.questions),
		.failures = read_figure(&figures.failures),
		.conflicts = read_figure(&figures.conflicts),
		.waited_ns = read_figure(&figures.waited_ns),
	};
}

uint64_t database_begin_asking(void)
{
	add_figure(&figures.asking, 1);
	return clock_ns();
}

int database_end_asking(uint64_t began_ns, int rc)
{
	add_figure(&figures.waited_ns, clock_ns() - began_ns);
	atomic_fetch_sub_explicit(&figures.asking, 1, memory_order_relaxed);
	add_figure(&figures.questions, 1);
	add_figure(&figures.failures, rc != 0);
	return rc;
}

void database_count_conflict(void)
{
	add_figure(&figures.conflicts, 1);
}

/* ---- connection ---- */

static void forget_statements(struct database *db)
{
	for (size_t slot = 0; slot < prepared_slots; slot++)
		while (db->prepared[slot]) {
			struct prepared *gone = db->prepared[slot];
			db->prepared[slot] = gone->next;
			mysql_stmt_close(gone->handle);
			free(gone);
		}
}

static bool is_suspended(struct database *db)
{
	pthread_mutex_lock(&db->guard);
	bool suspended = db->suspended;
	pthread_mutex_unlock(&db->guard);
	return suspended;
}

/* Call this with -1 before closing a socket. Otherwise database_suspend could shut down a later
 * socket that got the same number. */
static void set_socket(struct database *db, int socket)
{
	pthread_mutex_lock(&db->guard);
	db->socket = socket;
	if (db->suspended && socket >= 0)
		shutdown(socket, SHUT_RDWR);
	pthread_mutex_unlock(&db->guard);
}

void database_suspend(struct database *db, bool suspended)
{
	pthread_mutex_lock(&db->guard);
	db->suspended = suspended;
	if (suspended && db->socket >= 0)
		shutdown(db->socket, SHUT_RDWR);
	pthread_mutex_unlock(&db->guard);
}

void database_disconnect(struct database *db)
{
	set_socket(db, -1);
	forget_statements(db);
	if (db->is_counted)
		atomic_fetch_sub_explicit(&figures.connections, 1, memory_order_relaxed);
	db->is_counted = false;
	if (db->mysql)
		mysql_close(db->mysql);
	db->mysql = NULL;
}

/* The limits of a session, so that a lost host or a conflict cannot block others for long.
 *
 * A server may need hours to notice that a client's host is gone, and keeps the locks of its
 * transactions until then. Podium's transactions never idle for seconds, so 10 s is safe.
 *
 * Podium waits seconds for a row lock only while a node of a cluster sends its data to another
 * node. This transfer waits until running statements finish, and blocks the next statement of each
 * open transaction. A deadlock follows if a running statement waits for a row that such a
 * transaction has locked. Only the statement's lock timeout ends the deadlock, so the limit is 5 s
 * instead of MariaDB's 50 s. */
#define SESSION \
	"SET idle_transaction_timeout = 10, innodb_lock_wait_timeout = 5, time_zone = '+00:00', " \
	"sql_mode = 'TRADITIONAL', tx_isolation = 'READ-COMMITTED'"
/* Before a read or write outside a transaction, a node applies what the other nodes had committed.
 * A user whose next request reaches another web host therefore sees the changes of the last one. */
#define SESSION_OF_NODE "SET wsrep_sync_wait = 7"

/* Sets the time after which the server itself stops a statement, in seconds. */
static void limit_statements(struct database *db)
{
	char command[64];
	snprintf(command, sizeof command, "SET max_statement_time = %lld.%03d",
		(long long)(db->limit_ms / 1000), (int)(db->limit_ms % 1000));
	if (db->limit_ms)
		mysql_options(db->mysql, MYSQL_INIT_COMMAND, command);
}

void database_limit(struct database *db, int64_t limit_ms)
{
	db->limit_ms = limit_ms;
}

static const struct statement SET_LIMIT = COMMAND("SET max_statement_time = ?");

void database_restart_limit(struct database *db)
{
	struct error unsaid;
	db->ends_at_ms = db->limit_ms ? clock_ms() + db->limit_ms : 0;
	/* If the statement fails, disconnects: a new connection has the limit. */
	if (db->is_limit_lifted
		&& database_execute(db, &SET_LIMIT, &unsaid, "d", (double)db->limit_ms / 1000))
		database_disconnect(db);
	db->is_limit_lifted = false;
}

int database_lift_limit(struct database *db, struct error *error)
{
	db->ends_at_ms = 0;
	if (!db->limit_ms)
		return 0;
	db->is_limit_lifted = true;
	return database_execute(db, &SET_LIMIT, error, "d", 0.0);
}

/* Whether the server executes statements. A node that lost most of its cluster, or lacks data,
 * accepts logins but refuses all statements (1047). */
static bool accepts_statements(MYSQL *mysql)
{
	return mysql_query(mysql, "DO 1") == 0;
}

/* Detects a dead host after 10 s, whatever the limit for an answer is. */
static void set_keepalive(int socket)
{
	const struct {
		int level, name, value;
	} options[] = {
		{ SOL_SOCKET, SO_KEEPALIVE, 1 },
		{ IPPROTO_TCP, TCP_KEEPIDLE, 4 },
		{ IPPROTO_TCP, TCP_KEEPINTVL, 2 },
		{ IPPROTO_TCP, TCP_KEEPCNT, 3 },
		{ IPPROTO_TCP, TCP_USER_TIMEOUT, 10000 },
	};
	for (size_t i = 0; i < COUNT(options); i++)
		setsockopt(
			socket, options[i].level, options[i].name, &options[i].value, sizeof options[i].value);
}

/* Connects to `host`, or to the Unix socket if `host` is NULL. */
static int connect_to_host(struct database *db, const char *host, bool is_node, struct error *error)
{
	const struct config *c = &db->config;
	if (is_suspended(db))
		return fail(error, ERROR_DATABASE, "The database at %s does not answer.",
			host ? host : c->database_socket);
	db->mysql = mysql_init(NULL);
	if (!db->mysql)
		return fail(error, ERROR_SYSTEM, "There is not enough memory for a database connection.");
	unsigned int connect_s = host ? 2 : 1, answer_s = (unsigned int)c->database_timeout_s;
	mysql_options(db->mysql, MYSQL_OPT_CONNECT_TIMEOUT, &connect_s);
	mysql_options(db->mysql, MYSQL_OPT_READ_TIMEOUT, &answer_s);
	mysql_options(db->mysql, MYSQL_OPT_WRITE_TIMEOUT, &answer_s);
	mysql_options(db->mysql, MYSQL_SET_CHARSET_NAME, "utf8mb4");
	database_ask_for_tls(db->mysql, c);
	mysql_options(db->mysql, MYSQL_INIT_COMMAND, SESSION);
	limit_statements(db);
	if (is_node)
		mysql_options(db->mysql, MYSQL_INIT_COMMAND, SESSION_OF_NODE);
	if (!mysql_real_connect(db->mysql, host, c->database_user,
			c->database_password[0] ? c->database_password : NULL, c->database_name,
			host ? (unsigned int)c->database_port : 0, host ? NULL : c->database_socket,
			CLIENT_MULTI_STATEMENTS | CLIENT_FOUND_ROWS)
		|| (is_node && !accepts_statements(db->mysql))) {
		fail(error, ERROR_DATABASE, "The database at %s does not answer: %s.",
			host ? host : c->database_socket, mysql_error(db->mysql));
		database_disconnect(db);
		return ERROR_DATABASE;
	}
	set_socket(db, (int)mysql_get_socket(db->mysql));
	if (host)
		set_keepalive((int)mysql_get_socket(db->mysql));
	db->is_counted = true;
	add_figure(&figures.connections, 1);
	add_figure(&figures.connects, 1);
	return 0;
}

void database_forget_error(struct error *error)
{
	if (error)
		*error = (struct error){ 0 };
}

/* Tries the nodes of a cluster in turn. */
static int connect_to_any_host(struct database *db, struct error *error)
{
	struct database_hosts hosts;
	int rc = database_hosts_read(&db->config, &hosts, error);
	if (rc)
		return rc;
	size_t first = database_hosts_first(&hosts);
	for (size_t i = 0; i < hosts.count; i++) {
		size_t number = (first + i) % hosts.count;
		rc = connect_to_host(db, hosts.names[number], hosts.count > 1, error);
		if (!rc) {
			database_hosts_stay(number);
			database_forget_error(error); /* the errors of hosts tried before */
			return 0;
		}
	}
	return hosts.count > 1 && error
		? fail_context(error, "None of the databases at %s can be used", db->config.database_host)
		: rc;
}

int database_connect(struct database *db, struct error *error)
{
	int rc = database_check_tls(&db->config, error);
	if (rc)
		return rc;
	if (!db->config.database_socket[0])
		return connect_to_any_host(db, error);
	return connect_to_host(db, NULL, false, error);
}

struct database *database_lazy(const struct config *config)
{
	struct database *db = calloc(1, sizeof *db);
	if (!db) {
		log_error("out of memory");
		abort();
	}
	db->config = *config;
	db->socket = -1;
	pthread_mutex_init(&db->guard, NULL);
	return db;
}

struct database *database_open(const struct config *config, struct error *error)
{
	struct database *db = database_lazy(config);
	if (database_connect(db, error)) {
		database_close(db);
		return NULL;
	}
	return db;
}

void database_close(struct database *db)
{
	if (!db)
		return;
	database_disconnect(db);
	pthread_mutex_destroy(&db->guard);
	free(db);
}

bool database_is_lost(unsigned int number)
{
	/* ER_UNKNOWN_COM_ERROR: a cluster's node is not ready, but another node may be. */
	return number == CR_SERVER_GONE_ERROR || number == CR_SERVER_LOST
		|| number == CR_CONNECTION_ERROR || number == ER_CONNECTION_KILLED
		|| number == ER_SERVER_SHUTDOWN || number == ER_UNKNOWN_COM_ERROR;
}

bool database_is_connected(const struct database *db)
{
	return db->mysql != NULL;
}
