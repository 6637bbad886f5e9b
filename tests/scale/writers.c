/* Writes colliding transactions for tests/scale/cluster.test.py. Each transaction inserts a row and
 * counts it in one of a few rows of two other tables.
 *
 *     writers NAME THREADS SECONDS       uses the database of the settings
 *
 * Prints a line `committed N, failed N, run again N`. Each inserted row must have been counted once
 * in each table, whatever happened to the connection. */
#include "lib/base/clock.h"
#include "lib/base/config.h"
#include "lib/base/scope.h"
#include "lib/database/database.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

enum { most_threads = 16, counters = 3, connection_ms = 500 };

struct writer {
	pthread_t thread;
	char name[48];
	int64_t number, committed, failed;
};
struct number {
	int64_t value;
};

static const struct column NUMBER_COLUMNS[] = { INTEGER(struct number, value) };
static const struct statement STORE =
	COMMAND("INSERT INTO stored_rows (writer, number, counter) VALUES (?, ?, ?)");
static const struct statement LOOK = SELECT(struct number, NUMBER_COLUMNS,
	"SELECT COUNT(*) AS value FROM stored_rows WHERE writer = ? AND number = ?");
#define COUNT_IN(table) \
	COMMAND("INSERT INTO " table \
			" (counter, count) VALUES (?, 1) ON DUPLICATE KEY UPDATE count = count + 1")
static const struct statement COUNT_FIRST = COUNT_IN("counted_rows"),
							  COUNT_AGAIN = COUNT_IN("counted_again");

static struct config config;
static int64_t end_ms;

/* Gives another node's transaction time to come first. */
static void linger(void)
{
	nanosleep(&(struct timespec){ .tv_nsec = random() % 3 * 1000000 }, NULL);
}

static int write_one(struct database *db, void *context, struct error *error)
{
	cleanup_arena struct arena *arena = arena_new();
	const struct writer *writer = context;
	const int64_t counter = random() % counters;
	struct number found;
	int rc = database_execute(db, &STORE, error, "sii", writer->name, writer->number, counter);
	if (!rc)
		rc = database_execute(db, &COUNT_FIRST, error, "i", counter);
	linger();
	if (!rc && random() % 2)
		rc = database_row(db, arena, &LOOK, &found, error, "si", writer->name, writer->number);
	linger();
	return rc ? rc : database_execute(db, &COUNT_AGAIN, error, "i", counter);
}

/* Uses each connection only for a while. A new connection prepares its statements inside a
 * transaction, which must work, too. */
static void write_for_a_while(struct writer *writer)
{
	struct error error = { 0 };
	cleanup_database struct database *db = database_open(&config, &error);
	for (int64_t until_ms = clock_ms() + connection_ms; db && clock_ms() < until_ms;
		 writer->number++) {
		int rc = database_transaction(db, write_one, writer, &error);
		writer->committed += !rc;
		writer->failed += rc != 0;
	}
}

static void *write_all(void *context)
{
	while (clock_ms() < end_ms)
		write_for_a_while(context);
	return NULL;
}

int main(int count, char **words)
{
	struct error error = { 0 };
	int threads = count == 4 ? atoi(words[2]) : 0;
	if (threads < 1 || threads > most_threads || config_load(&config, &error)) {
		fprintf(stderr, "usage: writers NAME THREADS SECONDS\n%s\n", error.text);
		return 2;
	}
	struct writer writers[most_threads] = { 0 }, all = { 0 };
	end_ms = clock_ms() + atoi(words[3]) * INT64_C(1000);
	for (int i = 0; i < threads; i++) {
		snprintf(writers[i].name, sizeof writers[i].name, "%.32s-%d", words[1], i);
		if (pthread_create(&writers[i].thread, NULL, write_all, &writers[i]))
			abort();
	}
	for (int i = 0; i < threads; i++) {
		pthread_join(writers[i].thread, NULL);
		all.committed += writers[i].committed;
		all.failed += writers[i].failed;
	}
	printf("committed %lld, failed %lld, run again %llu\n", (long long)all.committed,
		(long long)all.failed, (unsigned long long)database_figures().conflicts);
	return 0;
}
