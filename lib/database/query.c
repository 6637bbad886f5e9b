#include "lib/database/database.h"

#include "lib/base/buffer.h"
#include "lib/base/clock.h"
#include "lib/base/log.h"
#include "lib/database/connection.h"
#include "lib/database/values.h"

#include <errmsg.h>
#include <mysql.h>
#include <mysqld_error.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

/* ---- errors ---- */

static int fail_late(const struct database *db, struct error *error)
{
	return fail(error, ERROR_BUSY,
		"This request took longer than %lld s, so Podium ended it. Try again later.",
		(long long)(db->limit_ms / 1000));
}

int database_failed(struct database *db, unsigned int number, const char *text, struct error *error)
{
	db->last_error = number;
	db->is_rolled_back |= db->in_transaction && number == ER_LOCK_DEADLOCK;
	if (number == ER_STATEMENT_TIMEOUT)
		return fail_late(db, error);
	if (number == ER_DUP_ENTRY)
		return fail(error, ERROR_CONFLICT, "The entry exists already: %s.", text);
	return fail(error, ERROR_DATABASE, "The database answered with error %u: %s.", number, text);
}

/* ---- preparing ---- */

static int check_columns(MYSQL_STMT *handle, const struct statement *statement, struct error *error)
{
	unsigned int count = mysql_stmt_field_count(handle);
	if (count != statement->column_count || count > database_most_columns)
		return fail(error, ERROR_SYSTEM, "A statement gives %u columns and its row has %zu: %.200s",
			count, statement->column_count, statement->sql);
	if (!count)
		return 0;
	MYSQL_RES *result = mysql_stmt_result_metadata(handle);
	if (!result)
		return fail(error, ERROR_SYSTEM, "A statement has no columns: %.200s", statement->sql);
	int rc = 0;
	for (unsigned int i = 0; i < count && !rc; i++) {
		const char *name = mysql_fetch_field_direct(result, i)->name;
		if (strcmp(name, statement->columns[i].name) != 0)
			rc = fail(error, ERROR_SYSTEM,
				"Column %u is %s in the statement and %s in its row: %.200s", i, name,
				statement->columns[i].name, statement->sql);
	}
	mysql_free_result(result);
	return rc;
}

/* One statement or a bundle. A bundle of several is sent as one compound statement (BEGIN NOT
 * ATOMIC ... END). */
struct question {
	const struct statement *const *statements;
	size_t count;
	const void *definition;
};

/* A bundle may be a compound statement or call a procedure. MariaDB then names the columns only in
 * its answer, not when it prepares the statement. */
static bool is_bundle(const struct question *question)
{
	return question->definition != question->statements[0];
}

static void write_sql(struct buffer *sql, const struct question *question)
{
	if (question->count == 1) {
		buffer_text(sql, question->statements[0]->sql);
		return;
	}
	buffer_text(sql, "BEGIN NOT ATOMIC ");
	for (size_t i = 0; i < question->count; i++)
		buffer_printf(sql, "%s; ", question->statements[i]->sql);
	buffer_text(sql, "END");
}

static int prepare_statement(struct database *db, const struct question *question,
	struct prepared *fresh, struct error *error)
{
	cleanup_buffer struct buffer sql = { 0 };
	write_sql(&sql, question);
	if (mysql_stmt_prepare(fresh->handle, sql.data, sql.length))
		return database_failed(
			db, mysql_stmt_errno(fresh->handle), mysql_stmt_error(fresh->handle), error);
	fresh->is_checked = !is_bundle(question);
	return fresh->is_checked ? check_columns(fresh->handle, question->statements[0], error) : 0;
}

static struct prepared **find_slot(struct database *db, const void *definition)
{
	return &db->prepared[((uintptr_t)definition >> 4) % prepared_slots];
}

static int find_prepared(struct database *db, const struct question *question,
	struct prepared **prepared, struct error *error)
{
	struct prepared **slot = find_slot(db, question->definition);
	for (*prepared = *slot; *prepared; *prepared = (*prepared)->next)
		if ((*prepared)->definition == question->definition)
			return 0;
	MYSQL_STMT *handle = mysql_stmt_init(db->mysql);
	struct prepared *fresh = handle ? calloc(1, sizeof *fresh) : NULL;
	if (!fresh) {
		if (handle)
			mysql_stmt_close(handle);
		return fail(error, ERROR_SYSTEM, "There is not enough memory for a statement.");
	}
	*fresh =
		(struct prepared){ .next = *slot, .definition = question->definition, .handle = handle };
	int rc = prepare_statement(db, question, fresh, error);
	if (rc) {
		mysql_stmt_close(handle);
		free(fresh);
		return rc;
	}
	*prepared = *slot = fresh;
	return 0;
}

/* Closes a statement whose rows could not be read, for example after a deadlock. In libmariadb 3.3,
 * the next mysql_stmt_execute would wait for rows that mysql_stmt_store_result failed to read.
 * Closing does not wait. */
static void forget_statement(struct database *db, struct prepared *gone)
{
	struct prepared **link = find_slot(db, gone->definition);
	while (*link != gone)
		link = &(*link)->next;
	*link = gone->next;
	mysql_stmt_close(gone->handle);
	free(gone);
}

static int execute_once(struct database *db, const struct question *question,
	struct database_parameters *p, struct prepared **prepared, struct error *error)
{
	int rc = find_prepared(db, question, prepared, error);
	if (rc)
		return rc;
	MYSQL_STMT *handle = (*prepared)->handle;
	if (mysql_stmt_param_count(handle) != p->count)
		return fail(error, ERROR_SYSTEM, "A statement wants %lu values and was given %zu: %.200s",
			mysql_stmt_param_count(handle), p->count, question->statements[0]->sql);
	if ((p->count && mysql_stmt_bind_param(handle, p->binds)) || mysql_stmt_execute(handle))
		return database_failed(db, mysql_stmt_errno(handle), mysql_stmt_error(handle), error);
	return 0;
}

static int reconnect_database(struct database *db, struct error *error)
{
	database_disconnect(db);
	return database_connect(db, error);
}

/* Checks after a successful statement that it ran inside its transaction. A cluster may roll a
 * transaction back in favor of another node's transaction while a SELECT runs. MariaDB then answers
 * without an error, and the next statement would run outside of a transaction. Seen with MariaDB
 * 10.11 and Galera 26.4, about once in a thousand in tests/scale/writers.c. */
static int check_transaction(
	struct database *db, const struct statement *statement, struct error *error)
{
	if (!db->in_transaction || db->mysql->server_status & SERVER_STATUS_IN_TRANS)
		return 0;
	log_warning(
		"the database rolled a transaction back without an error, at: %.200s", statement->sql);
	return database_fail_rolled_back(db, error);
}

/* Executes a statement. Outside a transaction, a lost connection is replaced and the statement
 * runs again. */
static int execute_statement(struct database *db, const struct question *question,
	struct database_parameters *p, struct prepared **prepared, struct error *error)
{
	db->last_error = 0;
	if (db->is_rolled_back)
		return database_fail_rolled_back(db, error);
	if (db->ends_at_ms && clock_ms() > db->ends_at_ms)
		return fail_late(db, error);
	if (!db->mysql) {
		int rc = db->in_transaction ? database_fail_lost(db, error) : reconnect_database(db, error);
		if (rc)
			return rc;
	}
	int rc = execute_once(db, question, p, prepared, error);
	if (!rc || !database_is_lost(db->last_error))
		return rc;
	database_disconnect(db);
	if (db->in_transaction || database_connect(db, error))
		return ERROR_DATABASE;
	database_forget_error(error);
	return execute_once(db, question, p, prepared, error);
}

/* ---- rows ---- */

/* Fetches at most `most` rows into `*rows`. */
static int fetch_rows(struct database *db, MYSQL_STMT *handle, const struct statement *statement,
	struct arena *arena, size_t most, char **rows, size_t *count, struct error *error)
{
	struct database_results results;
	database_results_bind(&results, statement);
	*count = 0;
	int rc = 0;
	if (mysql_stmt_bind_result(handle, results.binds) || mysql_stmt_store_result(handle)) {
		rc = database_failed(db, mysql_stmt_errno(handle), mysql_stmt_error(handle), error);
	}
	if (!rc && most > mysql_stmt_num_rows(handle))
		most = mysql_stmt_num_rows(handle);
	*rows = rc ? NULL : arena_alloc(arena, most * statement->row_size);
	while (!rc && *count < most) {
		int status = mysql_stmt_fetch(handle);
		if (status == MYSQL_NO_DATA)
			break;
		if (status == 1) {
			rc = database_failed(db, mysql_stmt_errno(handle), mysql_stmt_error(handle), error);
			break;
		}
		char *row = *rows + (*count)++ * statement->row_size;
		database_results_store(&results, handle, statement, arena, row);
		rc = arena_check(arena, error);
	}
	if (!rc)
		mysql_stmt_free_result(handle);
	return rc;
}

static int select_rows(struct database *db, struct arena *arena, const struct statement *statement,
	size_t most, char **rows, size_t *count, struct error *error, const char *letters,
	va_list *arguments)
{
	struct database_parameters parameters;
	database_parameters_collect(&parameters, letters, arguments);
	struct prepared *prepared;
	uint64_t began_ns = database_begin_asking();
	int rc = execute_statement(db,
		&(struct question){ .statements = &statement, .count = 1, .definition = statement },
		&parameters, &prepared, error);
	if (!rc) {
		rc = fetch_rows(db, prepared->handle, statement, arena, most, rows, count, error);
		if (rc)
			forget_statement(db, prepared);
		else
			rc = check_transaction(db, statement, error);
	}
	if (rc && database_is_lost(db->last_error))
		database_disconnect(db);
	return database_end_asking(began_ns, rc);
}

int database_rows(struct database *db, struct arena *arena, const struct statement *statement,
	void *rows, size_t *count, struct error *error, const char *bind, ...)
{
	va_list arguments;
	va_start(arguments, bind);
	char *found = NULL;
	*count = 0;
	int rc = select_rows(db, arena, statement, SIZE_MAX, &found, count, error, bind, &arguments);
	va_end(arguments);
	*(void **)rows = found;
	return rc;
}

int database_row(struct database *db, struct arena *arena, const struct statement *statement,
	void *row, struct error *error, const char *bind, ...)
{
	va_list arguments;
	va_start(arguments, bind);
	char *found = NULL;
	size_t count = 0;
	int rc = select_rows(db, arena, statement, 1, &found, &count, error, bind, &arguments);
	va_end(arguments);
	if (rc)
		return rc;
	if (!count)
		return fail(error, ERROR_NOT_FOUND, "There is no such entry.");
	memcpy(row, found, statement->row_size);
	return 0;
}

/* ---- several answers ---- */

static int fetch_answer(struct database *db, struct prepared *prepared,
	const struct statement *statement, struct arena *arena, struct database_answer *answer,
	struct error *error)
{
	char *rows = NULL;
	int rc = prepared->is_checked ? 0 : check_columns(prepared->handle, statement, error);
	if (!rc)
		rc = fetch_rows(
			db, prepared->handle, statement, arena, SIZE_MAX, &rows, &answer->count, error);
	answer->rows = rows;
	return rc;
}

/* Moves to the next answer, or after the last one to the end of the compound statement. */
static int next_answer(struct database *db, MYSQL_STMT *handle, struct error *error)
{
	return mysql_stmt_next_result(handle) > 0
		? database_failed(db, mysql_stmt_errno(handle), mysql_stmt_error(handle), error)
		: 0;
}

static int fetch_answers(struct database *db, struct prepared *prepared,
	const struct bundle *bundle, struct arena *arena, struct database_answer *answers,
	struct error *error)
{
	int rc = 0;
	for (size_t i = 0; i < bundle->count && !rc; i++) {
		rc = fetch_answer(db, prepared, bundle->statements[i], arena, &answers[i], error);
		if (!rc)
			rc = next_answer(db, prepared->handle, error);
	}
	prepared->is_checked = prepared->is_checked || !rc;
	return rc;
}

int database_answers(struct database *db, struct arena *arena, const struct bundle *bundle,
	struct database_answer *answers, struct error *error, const char *bind, ...)
{
	struct database_parameters parameters;
	struct prepared *prepared;
	va_list arguments;
	va_start(arguments, bind);
	database_parameters_collect(&parameters, bind, &arguments);
	va_end(arguments);
	memset(answers, 0, bundle->count * sizeof *answers);
	uint64_t began_ns = database_begin_asking();
	int rc = execute_statement(db,
		&(struct question){
			.statements = bundle->statements, .count = bundle->count, .definition = bundle },
		&parameters, &prepared, error);
	if (rc)
		return database_end_asking(began_ns, rc);
	rc = fetch_answers(db, prepared, bundle, arena, answers, error);
	if (rc)
		/* unread rows would otherwise be read as the next statement's */
		database_disconnect(db);
	else
		rc = check_transaction(db, bundle->statements[0], error);
	return database_end_asking(began_ns, rc);
}

/* ---- commands ---- */

/* Outside a transaction, retries a statement after a deadlock, as database_transaction does. A lock
 * timeout is not retried, because waiting once takes long enough. */
static int execute_with_retry(struct database *db, const struct question *question,
	struct database_parameters *p, struct prepared **prepared, struct error *error)
{
	int rc = execute_statement(db, question, p, prepared, error);
	for (int attempt = 1; rc && !db->in_transaction && db->last_error == ER_LOCK_DEADLOCK
		 && attempt < database_most_tries;
		 attempt++) {
		database_count_conflict();
		database_pause_before_retry(attempt);
		database_forget_error(error);
		rc = execute_statement(db, question, p, prepared, error);
	}
	return rc;
}

int database_execute(struct database *db, const struct statement *statement, struct error *error,
	const char *bind, ...)
{
	struct database_parameters parameters;
	va_list arguments;
	va_start(arguments, bind);
	database_parameters_collect(&parameters, bind, &arguments);
	va_end(arguments);
	struct prepared *prepared;
	uint64_t began_ns = database_begin_asking();
	int rc = database_end_asking(began_ns,
		execute_with_retry(db,
			&(struct question){ .statements = &statement, .count = 1, .definition = statement },
			&parameters, &prepared, error));
	if (rc)
		return rc;
	db->affected = mysql_stmt_affected_rows(prepared->handle);
	db->insert_id = mysql_stmt_insert_id(prepared->handle);
	return check_transaction(db, statement, error);
}

uint64_t database_affected(const struct database *db)
{
	return db->affected;
}

uint64_t database_insert_id(const struct database *db)
{
	return db->insert_id;
}

/* ---- scripts ---- */

int database_script(struct database *db, const char *sql, struct error *error)
{
	int rc = !db->mysql ? reconnect_database(db, error) : 0;
	if (rc)
		return rc;
	int status = mysql_real_query(db->mysql, sql, strlen(sql));
	while (status == 0) {
		MYSQL_RES *result = mysql_store_result(db->mysql);
		if (result)
			mysql_free_result(result);
		status = mysql_next_result(db->mysql);
	}
	return status > 0 ? database_failed(db, mysql_errno(db->mysql), mysql_error(db->mysql), error)
					  : 0;
}

int database_ping(struct database *db, struct error *error)
{
	uint64_t began_ns = database_begin_asking();
	bool is_there = db->mysql && mysql_ping(db->mysql) == 0;
	return database_end_asking(began_ns, is_there ? 0 : reconnect_database(db, error));
}
