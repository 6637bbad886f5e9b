#include "lib/database/connection.h"
#include "lib/database/database.h"

#include <errmsg.h>
#include <mysql.h>
#include <mysqld_error.h>
#include <stdlib.h>
#include <time.h>

int database_fail_lost(struct database *db, struct error *error)
{
	db->last_error = CR_SERVER_LOST;
	return fail(error, ERROR_DATABASE, "The database connection was lost.");
}

int database_fail_rolled_back(struct database *db, struct error *error)
{
	return database_failed(db, ER_LOCK_DEADLOCK, "the transaction was rolled back", error);
}

static bool is_conflict(const struct database *db, int rc)
{
	return rc == ERROR_DATABASE
		&& (db->last_error == ER_LOCK_DEADLOCK || db->last_error == ER_LOCK_WAIT_TIMEOUT);
}

void database_pause_before_retry(int attempt)
{
	struct timespec pause = { 0, (1L << attempt) * 2000000L + (random() % 4000000L) };
	nanosleep(&pause, NULL);
}

static const struct statement BEGIN = COMMAND("START TRANSACTION");

/* How often to try a transaction that failed with `rc`, including tries so far; 0: do not retry. A
 * connection lost before the commit has changed nothing, so the transaction may run again. It runs
 * only twice, because each try may wait until the time limit. */
static int count_tries(const struct database *db, int rc, bool asked_to_commit)
{
	if (is_conflict(db, rc))
		return database_most_tries;
	return rc == ERROR_DATABASE && !asked_to_commit && database_is_lost(db->last_error) ? 2 : 0;
}

/* Runs the body and the commit of a transaction that has already started. */
static int try_transaction(
	struct database *db, database_body *body, void *context, int *tries, struct error *error)
{
	int rc = body(db, context, error);
	if (db->is_rolled_back && !is_conflict(db, rc)) /* even if the body ignored the error */
		rc = database_fail_rolled_back(db, error);
	bool asks = !rc && db->mysql;
	if (!rc && !asks)
		rc = database_fail_lost(db, error);
	if (asks && mysql_commit(db->mysql))
		rc = database_failed(db, mysql_errno(db->mysql), mysql_error(db->mysql), error);
	*tries = count_tries(db, rc, asks);
	return rc;
}

int database_transaction(
	struct database *db, database_body *body, void *context, struct error *error)
{
	struct error local = { 0 };
	struct error *e = error ? error : &local;
	int rc = 0, tries = 1;
	if (db->in_transaction)
		return body(db, context, e);
	for (int attempt = 0; attempt < tries; attempt++) {
		if (attempt) {
			database_count_conflict();
			database_pause_before_retry(attempt);
			database_forget_error(e);
		}
		rc = database_execute(db, &BEGIN, e, "");
		if (rc)
			return rc;
		db->in_transaction = true;
		rc = try_transaction(db, body, context, &tries, e);
		db->in_transaction = db->is_rolled_back = false;
		if (!rc)
			return 0;
		if (db->mysql && mysql_rollback(db->mysql))
			database_disconnect(db);
	}
	return rc;
}
