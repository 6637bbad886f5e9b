#include "cgi/server/database_health.h"

#include "lib/base/clock.h"
#include "lib/base/log.h"

#include <pthread.h>
#include <stdatomic.h>
#include <string.h>
#include <time.h>

/* A ping that fails sooner than prompt_ms was refused; one that fails later was not answered. */
enum { ping_every_ms = 200, prompt_ms = 200, check_every_ms = 50, silent_after_ms = 2000 };

static struct database *ping_db;
static struct database *const *watched;
static size_t watched_count;
static pthread_t ping_thread, watch_thread;
static atomic_bool stopping;
static atomic_bool awaits_answer; /* no ping since the last answer was answered or refused */
static atomic_bool last_failed;   /* the last ping returned an error */

static void pause_ms(long ms)
{
	nanosleep(&(struct timespec){ .tv_nsec = ms * 1000000 }, NULL);
}

static void *send_pings(void *unused)
{
	(void)unused;
	while (!stopping) {
		struct error error = { 0 };
		int64_t began_ms = clock_ms();
		awaits_answer = true;
		bool failed = database_ping(ping_db, &error) != 0;
		last_failed = failed;
		awaits_answer = failed && clock_ms() - began_ms >= prompt_ms;
		pause_ms(ping_every_ms);
	}
	return NULL;
}

static void suspend_all(bool suspended)
{
	for (size_t i = 0; i < watched_count; i++)
		database_suspend(watched[i], suspended);
}

bool database_is_silent(struct database_silence *silence, bool awaits, uint64_t answers)
{
	if (!awaits || answers != silence->answers)
		silence->ms = 0;
	else
		silence->ms += check_every_ms;
	silence->answers = answers;
	return silence->ms >= silent_after_ms;
}

/* Suspends the connections while the database is silent. A ping that is refused suspends nothing,
 * because the pages' own statements then fail in the same way. */
static void *watch_pings(void *unused)
{
	(void)unused;
	bool away = false;
	struct database_silence silence = { 0 };
	while (!stopping) {
		struct database_figures figures = database_figures();
		bool silent =
			database_is_silent(&silence, awaits_answer, figures.questions - figures.failures);
		bool answered = !awaits_answer && !last_failed;
		if (silent && !away) {
			log_warning(
				"The database has not answered for %d ms; the pages answer 503 until it does.",
				silent_after_ms);
			away = true;
			suspend_all(true);
		} else if (away && answered) {
			log_info("The database answers again.");
			away = false;
			suspend_all(false);
		}
		pause_ms(check_every_ms);
	}
	return NULL;
}

int database_health_start(const struct config *config, struct database *const *databases,
	size_t count, struct error *error)
{
	watched = databases;
	watched_count = count;
	struct config impatient = *config;
	impatient.database_timeout_s = 3; /* the connection is soon replaced if it is silently dead */
	ping_db = database_lazy(&impatient);
	int rc = pthread_create(&ping_thread, NULL, send_pings, NULL);
	if (rc)
		return fail(error, ERROR_SYSTEM, "Cannot start a thread: %s.", strerror(rc));
	rc = pthread_create(&watch_thread, NULL, watch_pings, NULL);
	if (!rc)
		return 0;
	stopping = true;
	pthread_join(ping_thread, NULL);
	database_close(ping_db);
	return fail(error, ERROR_SYSTEM, "Cannot start a thread: %s.", strerror(rc));
}

void database_health_stop(void)
{
	stopping = true;
	pthread_join(watch_thread, NULL);
	database_suspend(ping_db, true); /* the thread may be waiting for an answer */
	pthread_join(ping_thread, NULL);
	database_close(ping_db);
}
