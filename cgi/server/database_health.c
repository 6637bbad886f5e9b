#include "cgi/pulse.h"

#include "lib/clock.h"
#include "lib/log.h"

#include <pthread.h>
#include <stdatomic.h>
#include <string.h>
#include <time.h>

/* An idle database answers in well under a millisecond, a busy one in a few. */
enum { ask_every_ms = 200, look_every_ms = 50, late_ms = 700 };

static struct database *asker;
static struct database *const *watched;
static size_t watched_count;
static pthread_t asking, looking;
static atomic_bool stopping;
static atomic_llong asked_at_ms; /* of the question that is open; 0: none is */
static atomic_bool last_failed;  /* the last question was answered with an error */

static void pause_ms(long ms)
{
	nanosleep(&(struct timespec){ .tv_nsec = ms * 1000000 }, NULL);
}

static void *ask(void *unused)
{
	(void)unused;
	while (!stopping) {
		struct error error = { 0 };
		asked_at_ms = clock_ms();
		last_failed = database_ping(asker, &error) != 0;
		asked_at_ms = 0;
		pause_ms(ask_every_ms);
	}
	return NULL;
}

static void suspend_all(bool suspended)
{
	for (size_t i = 0; i < watched_count; i++)
		database_suspend(watched[i], suspended);
}

/* A refusal is known at once and needs nobody here: the pages' own statements fail in the same way.
 */
static void *look(void *unused)
{
	(void)unused;
	bool away = false;
	while (!stopping) {
		long long asked = asked_at_ms;
		bool late = asked && clock_ms() - asked > late_ms;
		bool answered = !asked && !last_failed;
		if (late && !away) {
			log_warning(
				"The database has not answered for %d ms; the pages answer 503 until it does.",
				late_ms);
			away = true;
			suspend_all(true);
		} else if (away && answered) {
			log_info("The database answers again.");
			away = false;
			suspend_all(false);
		}
		pause_ms(look_every_ms);
	}
	return NULL;
}

int pulse_start(const struct config *config, struct database *const *databases, size_t count,
	struct error *error)
{
	watched = databases;
	watched_count = count;
	struct config impatient = *config;
	impatient.database_timeout_s = 1; /* a connection that died silently makes way for a new one */
	asker = database_lazy(&impatient);
	int rc = pthread_create(&asking, NULL, ask, NULL);
	if (rc)
		return fail(error, ERROR_SYSTEM, "Cannot start a thread: %s.", strerror(rc));
	rc = pthread_create(&looking, NULL, look, NULL);
	if (!rc)
		return 0;
	stopping = true;
	pthread_join(asking, NULL);
	database_close(asker);
	return fail(error, ERROR_SYSTEM, "Cannot start a thread: %s.", strerror(rc));
}

void pulse_stop(void)
{
	stopping = true;
	pthread_join(looking, NULL);
	database_suspend(asker, true); /* it may be waiting for an answer */
	pthread_join(asking, NULL);
	database_close(asker);
}
