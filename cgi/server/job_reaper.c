#include "cgi/server/job_reaper.h"

#include "lib/base/arena.h"
#include "lib/base/clock.h"
#include "lib/base/log.h"
#include "lib/contest/contest.h"
#include "lib/database/database.h"
#include "lib/job/lease_grace.h"
#include "lib/judging/job_completion.h"
#include "lib/leaderboard/baseline_run.h"
#include "lib/leaderboard/publication.h"
#include "lib/ranking/ranking.h"

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

/* lease_grace: whether the database has answered long enough to reclaim leases. reclaim_at_ms: when
 * to reclaim expired leases next (clock_ms). */
struct schedule {
	struct lease_grace lease_grace;
	int64_t reclaim_at_ms;
};

static int reclaim_leases(struct schedule *schedule, struct error *error)
{
	cleanup_arena struct arena *arena = arena_new();
	struct time_row now;
	size_t count = 0;
	int rc = database_row(db, arena, &NOW, &now, error, "");
	if (rc)
		return rc;
	lease_grace_note(&schedule->lease_grace, clock_ms(), now.now_ms, lease_ms);
	if (lease_grace_is_over(&schedule->lease_grace, lease_ms))
		rc = job_leases_reclaim(db, &count, error);
	if (count && !rc)
		log_warning("The workers of %zu running jobs stopped answering. Each job was queued again, "
					"or failed after its last attempt.",
			count);
	return rc;
}

static int settle_and_reclaim(struct schedule *schedule, struct error *error)
{
	size_t count;
	struct error unwanted;
	int rc = job_completions_settle(db, &count, error);
	if (rc || clock_ms() < schedule->reclaim_at_ms)
		return rc;
	schedule->reclaim_at_ms = clock_ms() + reclaim_every_ms;
	rc = reclaim_leases(schedule, error);
	int published = publications_advance(db, rc ? &unwanted : error);
	rc = rc ? rc : published;
	int contests = contests_advance(db, rc ? &unwanted : error);
	rc = rc ? rc : contests;
	int ranked = rankings_settle(db, rc ? &unwanted : error);
	rc = rc ? rc : ranked;
	int timed = baseline_runs_start(db, rc ? &unwanted : error);
	return rc ? rc : timed;
}

static void *reap_jobs(void *unused)
{
	(void)unused;
	struct schedule schedule = { 0 };
	bool fails = false;
	while (!stopping) {
		struct error error = { 0 };
		int rc = settle_and_reclaim(&schedule, &error);
		if (rc && !fails && !stopping)
			log_warning(
				"Cannot settle jobs or publish leaderboards: %s Podium retries until it works.",
				error.text);
		else if (!rc && fails)
			log_info("Jobs are settled and leaderboards published again.");
		fails = rc != 0;
		nanosleep(&(struct timespec){ .tv_nsec = look_every_ms * 1000000L }, NULL);
	}
	return NULL;
}

int job_reaper_start(const struct config *config, struct error *error)
{
	db = database_lazy(config);
	lease_ms = config->lease_ms;
	int rc = pthread_create(&thread, NULL, reap_jobs, NULL);
	if (!rc)
		return 0;
	database_close(db);
	return fail(error, ERROR_SYSTEM, "Cannot start a thread: %s.", strerror(rc));
}

void job_reaper_stop(void)
{
	stopping = true;
	database_suspend(db, true); /* the thread may be waiting for an answer */
	pthread_join(thread, NULL);
	database_close(db);
}
