/* lib/database/database.h against a real MariaDB, which tests/integration/library/library.test
 * starts. */
#include "lib/base/scope.h"
#include "lib/database/database.h"

#include <math.h>
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include <cmocka.h>

struct thing {
	int64_t number;
	double real;
	const char *text;
	struct blob_value bytes;
	int64_t at_ms;
};

static const struct column THING_COLUMNS[] = {
	INTEGER(struct thing, number),
	REAL(struct thing, real),
	TEXT(struct thing, text),
	BLOB(struct thing, bytes),
	TIME(struct thing, at_ms),
};
static const struct column SLEEP_COLUMNS[] = { INTEGER(struct thing, number) };
static const struct statement THINGS = SELECT(struct thing, THING_COLUMNS,
	"SELECT number, `real`, text, bytes, at AS at_ms FROM test_things ORDER BY number");
static const struct statement THING = SELECT(struct thing, THING_COLUMNS,
	"SELECT number, `real`, text, bytes, at AS at_ms FROM test_things WHERE number = ?");
static const struct statement MISNAMED =
	SELECT(struct thing, THING_COLUMNS, "SELECT number, `real`, text, bytes, at FROM test_things");
static const struct statement FROM_ON = SELECT(struct thing, THING_COLUMNS,
	"SELECT number, `real`, text, bytes, at AS at_ms FROM test_things "
	"WHERE number >= COALESCE(?, 2000) AND number < 2003 ORDER BY number");
static const struct column NUMBER_COLUMNS[] = { INTEGER(struct thing, number) };
static const struct statement EXECUTED = SELECT(struct thing, NUMBER_COLUMNS,
	"SELECT CAST(variable_value AS SIGNED) AS number FROM information_schema.session_status "
	"WHERE variable_name = 'COM_STMT_EXECUTE'");
static const struct statement TOO_MANY =
	SELECT(struct thing, NUMBER_COLUMNS, "SELECT (SELECT number FROM test_things) AS number");
static const struct statement *const PAIR_PARTS[] = { &THING, &FROM_ON },
									 *const MISNAMED_PARTS[] = { &THING, &MISNAMED },
									 *const FAILING_PARTS[] = { &THING, &TOO_MANY };
static const struct bundle PAIR = BUNDLE(PAIR_PARTS), MISNAMED_PAIR = BUNDLE(MISNAMED_PARTS),
						   FAILING_PAIR = BUNDLE(FAILING_PARTS);
static const struct statement INSERT = COMMAND("INSERT INTO test_things VALUES (?, ?, ?, ?, ?)");
static const struct statement ADD =
	COMMAND("UPDATE test_things SET `real` = `real` + 1 WHERE number = ?");
static const struct statement SET_TEXT =
	COMMAND("UPDATE test_things SET text = 'same' WHERE number = ?");
static const struct statement LOCK_SOME = SELECT(struct thing, SLEEP_COLUMNS,
	"SELECT number FROM test_things WHERE number BETWEEN ? AND ? ORDER BY number FOR UPDATE");
static const struct statement SLEEP =
	SELECT(struct thing, SLEEP_COLUMNS, "SELECT SLEEP(30) AS number");
static const struct statement BROKEN = COMMAND("INSERT INTO no_such_table VALUES (1)");
static const struct statement ROLL_BACK = COMMAND("ROLLBACK");
static const struct statement KILL_SELF = COMMAND("KILL CONNECTION_ID()");

static struct database *db;
static struct config config;

static int open_database(void **state)
{
	(void)state;
	struct error error = { 0 };
	if (config_load(&config, &error) || !(db = database_open(&config, &error))) {
		fprintf(stderr, "%s\n", error.text);
		return -1;
	}
	return database_script(db,
		"CREATE OR REPLACE TABLE test_things (number BIGINT PRIMARY KEY, `real` DOUBLE, text "
		"LONGTEXT, bytes LONGBLOB, at DATETIME(3)) ENGINE = InnoDB",
		&error);
}

static int close_database(void **state)
{
	(void)state;
	struct error error = { 0 };
	int rc = database_script(db, "DROP TABLE test_things", &error);
	database_close(db);
	return rc;
}

static void a_row_comes_back_as_it_was_stored(void **state)
{
	(void)state;
	cleanup_arena struct arena *arena = arena_new();
	struct error error = { 0 };
	char *large = arena_alloc(arena, 300001);
	memset(large, 'x', 300000);
	large[299999] = '\0'; /* the blob may contain a NUL */
	assert_int_equal(database_execute(db, &INSERT, &error, "idsbt", (int64_t)-5, 0.1, "µ 'x'; --",
						 large, (size_t)300000, (int64_t)1795241400123),
		0);
	struct thing thing;
	assert_int_equal(database_row(db, arena, &THING, &thing, &error, "i", (int64_t)-5), 0);
	assert_int_equal(thing.number, -5);
	assert_true(thing.real == 0.1);
	assert_string_equal(thing.text, "µ 'x'; --");
	assert_int_equal(thing.bytes.length, 300000);
	assert_memory_equal(thing.bytes.bytes, large, 300000);
	assert_int_equal(thing.at_ms, 1795241400123);
}

static void null_is_told_from_zero_and_empty(void **state)
{
	(void)state;
	cleanup_arena struct arena *arena = arena_new();
	struct error error = { 0 };
	assert_int_equal(database_execute(db, &INSERT, &error, "idsbt", (int64_t)1, (double)NAN, NULL,
						 NULL, (size_t)0, TIME_NULL),
		0);
	assert_int_equal(database_execute(db, &INSERT, &error, "idsbt", (int64_t)2, 0.0, "", "",
						 (size_t)0, (int64_t)0),
		0);
	struct thing *things;
	size_t count;
	assert_int_equal(database_rows(db, arena, &THINGS, &things, &count, &error, ""), 0);
	assert_int_equal(count, 3);
	assert_true(isnan(things[1].real));
	assert_null(things[1].text);
	assert_null(things[1].bytes.bytes);
	assert_true(things[1].at_ms == TIME_NULL);
	assert_string_equal(things[2].text, "");
	assert_non_null(things[2].bytes.bytes);
	assert_int_equal(things[2].at_ms, 0);
}

static void many_rows_are_all_there(void **state)
{
	(void)state;
	cleanup_arena struct arena *arena = arena_new();
	struct error error = { 0 };
	for (int64_t i = 100; i < 1100; i++)
		assert_int_equal(database_execute(db, &INSERT, &error, "idsbt", i, (double)i, "row", "b",
							 (size_t)1, (int64_t)0),
			0);
	struct thing *things;
	size_t count;
	assert_int_equal(database_rows(db, arena, &THINGS, &things, &count, &error, ""), 0);
	assert_int_equal(count, 1003);
	assert_int_equal(things[1002].number, 1099);
	assert_string_equal(things[1002].text, "row");
}

static int64_t executed(struct arena *arena)
{
	struct thing thing;
	struct error error = { 0 };
	assert_int_equal(database_row(db, arena, &EXECUTED, &thing, &error, ""), 0);
	return thing.number;
}

static void assert_pair(struct arena *arena, int64_t one, int64_t from, size_t ones, size_t others)
{
	struct error error = { 0 };
	struct database_answer answers[2];
	assert_int_equal(database_answers(db, arena, &PAIR, answers, &error, "ii", one, from), 0);
	assert_int_equal(answers[0].count, ones);
	assert_int_equal(answers[1].count, others);
	const struct thing *found = answers[0].rows, *list = answers[1].rows;
	for (size_t i = 0; i < ones; i++)
		assert_int_equal(found[i].number, one);
	for (size_t i = 0; i < others; i++) {
		assert_int_equal(list[i].number, 2003 - (int64_t)(others - i));
		assert_int_equal(strlen(list[i].text), 999);
	}
}

static void several_questions_are_answered_in_one_round_trip(void **state)
{
	(void)state;
	cleanup_arena struct arena *arena = arena_new();
	struct error error = { 0 };
	char text[1000];
	snprintf(text, sizeof text, "%0999d", 1);
	for (int64_t i = 2000; i < 2003; i++)
		assert_int_equal(database_execute(db, &INSERT, &error, "idsbt", i, 0.0, text, "b",
							 (size_t)1, (int64_t)0),
			0);
	int64_t before = executed(arena);
	assert_pair(arena, 2001, 2002, 1, 1);
	assert_pair(arena, 99999, 2000, 0, 3);
	assert_pair(arena, 2001, SQL_NULL_INTEGER, 1, 3);
	assert_pair(arena, 2001, 99999, 1, 0);
	assert_pair(arena, 99999, 99999, 0, 0);
	assert_int_equal(executed(arena) - before, 5 + 1);
}

static void one_question_of_several_that_fails_leaves_nothing_behind(void **state)
{
	(void)state;
	cleanup_arena struct arena *arena = arena_new();
	struct error error = { 0 };
	struct database_answer answers[2];
	for (int again = 0; again < 2; again++) {
		assert_int_equal(
			database_answers(db, arena, &MISNAMED_PAIR, answers, &error, "i", (int64_t)2001),
			ERROR_SYSTEM);
		assert_non_null(strstr(error.text, "Column 4 is at in the statement and at_ms in its row"));
		assert_pair(arena, 2001, 2000, 1, 3);
		assert_int_equal(
			database_answers(db, arena, &FAILING_PAIR, answers, &error, "i", (int64_t)2001),
			ERROR_DATABASE);
		assert_pair(arena, 2001, 2000, 1, 3);
		assert_int_equal(
			database_answers(db, arena, &PAIR, answers, &error, "i", (int64_t)2001), ERROR_SYSTEM);
		database_execute(db, &KILL_SELF, &error, "");
		assert_pair(arena, 2001, 2000, 1, 3);
	}
}

static void mistakes_are_told_apart(void **state)
{
	(void)state;
	cleanup_arena struct arena *arena = arena_new();
	struct error error = { 0 };
	struct thing thing, *things;
	size_t count;
	assert_int_equal(
		database_row(db, arena, &THING, &thing, &error, "i", (int64_t)99999), ERROR_NOT_FOUND);
	assert_int_equal(database_execute(db, &INSERT, &error, "idsbt", (int64_t)1, 0.0, "", "",
						 (size_t)0, (int64_t)0),
		ERROR_CONFLICT);
	assert_int_equal(database_execute(db, &BROKEN, &error, ""), ERROR_DATABASE);
	assert_int_equal(database_execute(db, &ADD, &error, ""), ERROR_SYSTEM);
	assert_int_equal(
		database_rows(db, arena, &MISNAMED, &things, &count, &error, ""), ERROR_SYSTEM);
	assert_non_null(strstr(error.text, "Column 4 is at in the statement and at_ms in its row"));
}

static int add_then_fail(struct database *connection, void *context, struct error *error)
{
	(void)context;
	int rc = database_execute(connection, &ADD, error, "i", (int64_t)2);
	return rc ? rc : ERROR_LIMIT;
}

static void a_transaction_that_fails_leaves_nothing(void **state)
{
	(void)state;
	cleanup_arena struct arena *arena = arena_new();
	struct error error = { 0 };
	assert_int_equal(database_transaction(db, add_then_fail, NULL, &error), ERROR_LIMIT);
	struct thing thing;
	assert_int_equal(database_row(db, arena, &THING, &thing, &error, "i", (int64_t)2), 0);
	assert_true(thing.real == 0.0);
}

struct crossing {
	database_body *body;
	pthread_barrier_t *barrier;
	int64_t first, second;
	int rc;
	int tries;
};

static int add_both(struct database *connection, void *context, struct error *error)
{
	struct crossing *c = context;
	int rc = database_execute(connection, &ADD, error, "i", c->first);
	if (!rc && c->tries++ == 0)
		pthread_barrier_wait(c->barrier);
	return rc ? rc : database_execute(connection, &ADD, error, "i", c->second);
}

/* Provokes a deadlock that the server reports in the middle of a result: the server sends the first
 * row and then must wait for a lock. */
static int add_and_lock(struct database *connection, void *context, struct error *error)
{
	cleanup_arena struct arena *arena = arena_new();
	struct crossing *c = context;
	struct thing *things;
	size_t count;
	int rc = database_execute(connection, &ADD, error, "i", c->first);
	if (!rc && c->tries++ == 0)
		pthread_barrier_wait(c->barrier);
	return rc ? rc
			  : database_rows(connection, arena, &LOCK_SOME, &things, &count, error, "ii",
				  c->second - 5, c->second);
}

static void *cross(void *context)
{
	struct crossing *c = context;
	struct error error = { 0 };
	cleanup_database struct database *own = database_open(&config, &error);
	c->rc = own ? database_transaction(own, c->body, c, &error) : error.code;
	return NULL;
}

static void cross_each_other(database_body *body, int64_t one, int64_t other)
{
	pthread_barrier_t barrier;
	pthread_barrier_init(&barrier, NULL, 2);
	struct crossing crossings[] = { { body, &barrier, one, other, -1, 0 },
		{ body, &barrier, other, one, -1, 0 } };
	pthread_t threads[2];
	for (size_t i = 0; i < 2; i++)
		assert_int_equal(pthread_create(&threads[i], NULL, cross, &crossings[i]), 0);
	for (size_t i = 0; i < 2; i++)
		pthread_join(threads[i], NULL);
	pthread_barrier_destroy(&barrier);
	assert_int_equal(crossings[0].rc, 0);
	assert_int_equal(crossings[1].rc, 0);
	assert_int_equal(crossings[0].tries + crossings[1].tries, 3); /* one transaction ran twice */
}

static void two_transactions_that_deadlock_both_succeed_in_the_end(void **state)
{
	(void)state;
	cross_each_other(add_both, 100, 101);
	cleanup_arena struct arena *arena = arena_new();
	struct error error = { 0 };
	struct thing thing;
	assert_int_equal(database_row(db, arena, &THING, &thing, &error, "i", (int64_t)100), 0);
	assert_true(thing.real == 102);
}

static void a_deadlock_that_is_told_among_rows_is_tried_again_as_well(void **state)
{
	(void)state;
	cross_each_other(add_and_lock, 300, 310);
}

/* A faulty body: it ignores the error of its second statement and continues. */
static int add_both_and_go_on(struct database *connection, void *context, struct error *error)
{
	struct crossing *c = context;
	add_both(connection, context, error);
	return database_execute(connection, &ADD, error, "i", c->first + 5);
}

static void put(int64_t number)
{
	struct error error = { 0 };
	assert_int_equal(
		database_execute(db, &INSERT, &error, "idsbt", number, 0.0, "", "", (size_t)0, (int64_t)0),
		0);
}

static double real_of(int64_t id)
{
	cleanup_arena struct arena *arena = arena_new();
	struct error error = { 0 };
	struct thing thing;
	assert_int_equal(database_row(db, arena, &THING, &thing, &error, "i", id), 0);
	return thing.real;
}

static void what_a_body_does_behind_a_deadlock_does_not_stand(void **state)
{
	(void)state;
	for (int64_t number = 4000; number <= 4015; number += 5)
		put(number);
	cross_each_other(add_both_and_go_on, 4000, 4010);
	assert_true(real_of(4000) == 2 && real_of(4010) == 2);
	assert_true(real_of(4005) == 1 && real_of(4015) == 1);
}

/* Rolls the transaction back in the middle. A node of a cluster may do so, and so may a statement
 * that ends a transaction implicitly. */
static int roll_back_and_go_on(struct database *connection, void *context, struct error *error)
{
	int *tries = context;
	++*tries;
	int rc = database_execute(connection, &ADD, error, "i", (int64_t)2);
	if (!rc)
		database_execute(connection, &ROLL_BACK, error, "");
	return rc ? rc : database_execute(connection, &ADD, error, "i", (int64_t)2);
}

static void a_transaction_that_is_taken_back_without_a_word_is_tried_again(void **state)
{
	(void)state;
	struct error error = { 0 };
	int tries = 0;
	double before = real_of(2);
	assert_int_equal(database_transaction(db, roll_back_and_go_on, &tries, &error), ERROR_DATABASE);
	assert_int_equal(tries, 5);
	assert_true(real_of(2) == before);
	assert_non_null(strstr(error.text, "rolled back"));
}

static int die_in_between(struct database *connection, void *context, struct error *error)
{
	(void)context;
	database_execute(connection, &KILL_SELF, error, "");
	return database_execute(connection, &ADD, error, "i", (int64_t)2);
}

static void a_lost_connection_is_opened_again_but_never_inside_a_transaction(void **state)
{
	(void)state;
	cleanup_arena struct arena *arena = arena_new();
	struct error error = { 0 };
	struct thing thing;
	assert_int_equal(database_transaction(db, die_in_between, NULL, &error), ERROR_DATABASE);
	assert_int_equal(database_row(db, arena, &THING, &thing, &error, "i", (int64_t)2), 0);
	assert_true(thing.real == 0.0);
	database_execute(db, &KILL_SELF, &error, "");
	assert_int_equal(database_row(db, arena, &THING, &thing, &error, "i", (int64_t)2), 0);
}

static void an_update_counts_the_rows_that_it_found(void **state)
{
	(void)state;
	struct error error = { 0 };
	for (int i = 0; i < 2; i++) {
		assert_int_equal(database_execute(db, &SET_TEXT, &error, "i", (int64_t)1), 0);
		assert_int_equal(database_affected(db), 1);
	}
	assert_int_equal(database_execute(db, &SET_TEXT, &error, "i", (int64_t)99999), 0);
	assert_int_equal(database_affected(db), 0);
}

static void a_server_that_does_not_answer_is_given_up(void **state)
{
	(void)state;
	cleanup_arena struct arena *arena = arena_new();
	struct error error = { 0 };
	struct config impatient = config;
	impatient.database_timeout_s = 1;
	struct database *connection = database_open(&impatient, &error);
	assert_non_null(connection);
	struct thing thing;
	assert_int_equal(database_row(connection, arena, &SLEEP, &thing, &error, ""), ERROR_DATABASE);
	database_close(connection);
}

static void *suspend_soon(void *connection)
{
	nanosleep(&(struct timespec){ .tv_nsec = 200000000 }, NULL);
	database_suspend(connection, true);
	return NULL;
}

static void a_suspended_connection_fails_at_once_until_it_is_resumed(void **state)
{
	(void)state;
	cleanup_arena struct arena *arena = arena_new();
	struct error error = { 0 };
	cleanup_database struct database *connection = database_open(&config, &error);
	assert_non_null(connection);
	struct thing thing;
	pthread_t thread;
	struct timespec began, ended;
	clock_gettime(CLOCK_MONOTONIC, &began);
	assert_int_equal(pthread_create(&thread, NULL, suspend_soon, connection), 0);
	/* Without the suspension the statement would take 30 s. */
	assert_int_equal(database_row(connection, arena, &SLEEP, &thing, &error, ""), ERROR_DATABASE);
	clock_gettime(CLOCK_MONOTONIC, &ended);
	assert_true(ended.tv_sec - began.tv_sec < 25);
	pthread_join(thread, NULL);
	assert_int_equal(
		database_execute(connection, &SET_TEXT, &error, "i", (int64_t)1), ERROR_DATABASE);
	assert_int_equal(database_ping(connection, &error), ERROR_DATABASE);
	database_suspend(connection, false);
	assert_int_equal(database_execute(connection, &SET_TEXT, &error, "i", (int64_t)1), 0);
}

static void assert_time_comes_back(struct arena *arena, int64_t number, int64_t at_ms)
{
	struct error error = { 0 };
	struct thing thing;
	assert_int_equal(
		database_execute(db, &INSERT, &error, "idsbt", number, 0.0, "", "", (size_t)0, at_ms), 0);
	assert_int_equal(database_row(db, arena, &THING, &thing, &error, "i", number), 0);
	assert_int_equal(thing.at_ms, at_ms);
}

/* The library writes times with gmtime_r and reads them with its own code. Both must agree in all
 * years that the database knows. */
static void a_time_comes_back_in_every_century(void **state)
{
	(void)state;
	cleanup_arena struct arena *arena = arena_new();
	const int64_t begin = -30610224000000, end = 253402300799999, step = 1212345678901,
				  day = 86400000;
	int64_t number = 5000;
	for (int64_t at = begin; at < end; at += step)
		assert_time_comes_back(arena, number++, at);
	static const int64_t march_firsts[] = { 951868800000, 4107542400000, 1709251200000,
		1772323200000 }; /* in 2000, 2100, 2024 and 2026 */
	for (size_t i = 0; i < sizeof march_firsts / sizeof *march_firsts; i++)
		for (int64_t back = 0; back < 3; back++)
			assert_time_comes_back(arena, number++, march_firsts[i] - back * day - 1);
	assert_time_comes_back(arena, number, end);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_row_comes_back_as_it_was_stored),
		cmocka_unit_test(null_is_told_from_zero_and_empty),
		cmocka_unit_test(many_rows_are_all_there),
		cmocka_unit_test(several_questions_are_answered_in_one_round_trip),
		cmocka_unit_test(one_question_of_several_that_fails_leaves_nothing_behind),
		cmocka_unit_test(mistakes_are_told_apart),
		cmocka_unit_test(a_transaction_that_fails_leaves_nothing),
		cmocka_unit_test(two_transactions_that_deadlock_both_succeed_in_the_end),
		cmocka_unit_test(a_deadlock_that_is_told_among_rows_is_tried_again_as_well),
		cmocka_unit_test(what_a_body_does_behind_a_deadlock_does_not_stand),
		cmocka_unit_test(a_transaction_that_is_taken_back_without_a_word_is_tried_again),
		cmocka_unit_test(an_update_counts_the_rows_that_it_found),
		cmocka_unit_test(a_server_that_does_not_answer_is_given_up),
		cmocka_unit_test(a_suspended_connection_fails_at_once_until_it_is_resumed),
		cmocka_unit_test(a_lost_connection_is_opened_again_but_never_inside_a_transaction),
		cmocka_unit_test(a_time_comes_back_in_every_century),
	};
	return cmocka_run_group_tests(tests, open_database, close_database);
}
