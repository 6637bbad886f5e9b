#include "cgi/settling.h"

#include "lib/arena.h"
#include "lib/clock.h"
#include "lib/contact.h"
#include "lib/database.h"
#include "lib/ending.h"
#include "lib/log.h"

#include <pthread.h>
#include <stdatomic.h>
#include <string.h>
#include <time.h>

enum { look_every_ms = 100, reclaim_every_ms = 1000 };

static struct database *db;
static int64_t lease_ms;
static pthread_t thread;
static atomic_bool stopping;

struct time_row {
	int64_t now_ms;
};
static const struct column TIME_COLUMNS[] = { TIME(struct time_row, now_ms) };
static const struct statement NOW =
	SELECT(struct time_row, TIME_COLUMNS, "SELECT UTC_TIMESTAMP(3) AS now_ms");

/* When what is not looked at each time is due, and for how long the database has answered. */
struct house {
	struct contact contact;
	int64_t reclaim_at_ms;
};

static int reclaim(struct house *house, struct error *error)
{
	cleanup_arena struct arena *arena = arena_new();
	struct time_row now;
	size_t count = 0;
	int rc = database_row(db, arena, &NOW, &now, error, "");
	if (rc)
		return rc;
	contact_note(&house->contact, clock_ms(), now.now_ms, lease_ms);
	if (contact_lasts(&house->contact, lease_ms))
		rc = endings_reclaim(db, &count, error);
	if (count && !rc)
		log_warning("%zu of the running jobs had a worker that stopped answering; each is queued "
		            "again or given up.",
			count);
	return rc;
}

static int look(struct house *house, struct error *error)
{
	size_t count;
	int rc = endings_settle(db, &count, error);
	if (rc || clock_ms() < house->reclaim_at_ms)
		return rc;
	house->reclaim_at_ms = clock_ms() + reclaim_every_ms;
	return reclaim(house, error);
}

static void *settle(void *unused)
{
	(void)unused;
	struct house house = { 0 };
	bool fails = false;
	while (!stopping) {
		struct error error = { 0 };
		int rc = look(&house, &error);
		if (rc && !fails && !stopping)
			log_warning(
				"Jobs of worker hosts cannot be ended: %s It is tried again until it works.",
				error.text);
		else if (!rc && fails)
			log_info("Jobs of worker hosts are ended again.");
		fails = rc != 0;
		nanosleep(&(struct timespec){ .tv_nsec = look_every_ms * 1000000L }, NULL);
	}
	return NULL;
}

int settling_start(const struct config *config, struct error *error)
{
	db = database_lazy(config);
	lease_ms = config->lease_ms;
	int rc = pthread_create(&thread, NULL, settle, NULL);
	if (!rc)
		return 0;
	database_close(db);
	return fail(error, ERROR_SYSTEM, "Cannot start a thread: %s.", strerror(rc));
}

void settling_stop(void)
{
	stopping = true;
	database_suspend(db, true); /* it may be waiting for an answer */
	pthread_join(thread, NULL);
	database_close(db);
}
