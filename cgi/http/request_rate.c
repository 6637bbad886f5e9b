#include "cgi/http/request_rate.h"

#include "lib/base/format.h"
#include "lib/base/log.h"
#include "lib/base/scope.h"
#include "lib/database/database.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

/* A counter is in one of `chain` consecutive slots, starting at its hash. If counters of the
 * current minute fill all these slots, a new counter replaces the one with the fewest hits. */
enum { window_s = 60, table_size = 8192, chain = 8, share_every_ms = 1000 };

struct counter {
	char whom[64];
	int64_t window;    /* minutes since 1970; 0: unused */
	int64_t hits;      /* counted by this process */
	int64_t shared;    /* hits already added to the database */
	int64_t elsewhere; /* hits in other processes, as of the last exchange */
};

static struct counter table[table_size];
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

/* ---- counting ---- */

/* FNV-1a. Clients with colliding names can only evict counters, and a client without its counter
 * may send more requests, not fewer. */
static size_t rate_slot(const char *whom)
{
	uint64_t hash = 14695981039346656037u;
	for (; *whom; whom++)
		hash = (hash ^ (unsigned char)*whom) * 1099511628211u;
	return (size_t)((hash ^ hash >> 32) % table_size);
}

static struct counter *find_counter(const char *whom, int64_t window)
{
	struct counter *found = NULL;
	size_t first = rate_slot(whom);
	for (size_t i = 0; i < chain; i++) {
		struct counter *counter = &table[(first + i) % table_size];
		if (counter->window == window
			&& strncmp(counter->whom, whom, sizeof counter->whom - 1) == 0)
			return counter;
		if (!found
			|| (found->window == window
				&& (counter->window != window || counter->hits < found->hits)))
			found = counter;
	}
	*found = (struct counter){ .window = window };
	snprintf(found->whom, sizeof found->whom, "%s", whom);
	return found;
}

void request_rate_take(int64_t most, const char *whom, struct request_rate *allowance)
{
	*allowance = (struct request_rate){ .most = most };
	if (!most)
		return;
	int64_t second = now_ms() / 1000;
	pthread_mutex_lock(&lock);
	struct counter *counter = find_counter(whom, second / window_s);
	int64_t used = ++counter->hits + counter->elsewhere;
	pthread_mutex_unlock(&lock);
	allowance->left = used < most ? most - used : 0;
	allowance->renewed_in_s = window_s - second % window_s;
	allowance->is_used_up = used > most;
}

/* ---- sharing ---- */

struct total {
	int64_t hits;
};
static const struct column TOTAL_COLUMNS[] = { INTEGER(struct total, hits) };
static const struct statement ADD =
	COMMAND("INSERT INTO api_requests (window_start, subject, hits) "
			"VALUES (?, ?, ?) ON DUPLICATE KEY UPDATE hits = hits + VALUES(hits)");
/* MariaDB 10.11 cannot prepare INSERT ... RETURNING, so a second statement reads the sum. */
static const struct statement TOTAL = SELECT(struct total, TOTAL_COLUMNS,
	"SELECT hits FROM api_requests WHERE window_start = ? AND subject = ?");
static const struct statement FORGET =
	COMMAND("DELETE FROM api_requests WHERE window_start < ? LIMIT 1000");

/* A counter with `fresh` hits that are not in the database yet, and the database's `total` over all
 * hosts. */
struct share {
	size_t index;
	struct counter counter;
	int64_t fresh, total;
};
struct shares {
	struct share *list;
	size_t count;
};

static struct database *sharer;
static pthread_t sharing;
static pthread_mutex_t waiting = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t ending = PTHREAD_COND_INITIALIZER;
static bool stopping;

static void collect_shares(struct shares *shares, int64_t window)
{
	shares->count = 0;
	pthread_mutex_lock(&lock);
	for (size_t i = 0; i < table_size; i++)
		if (table[i].window >= window - 1 && table[i].hits > table[i].shared)
			shares->list[shares->count++] = (struct share){
				.index = i, .counter = table[i], .fresh = table[i].hits - table[i].shared
			};
	pthread_mutex_unlock(&lock);
}

static int store_shares(struct database *db, void *context, struct error *error)
{
	struct shares *shares = context;
	cleanup_arena struct arena *arena = arena_new();
	struct total total;
	for (size_t i = 0; i < shares->count; i++) {
		struct share *share = &shares->list[i];
		int rc = database_execute(
			db, &ADD, error, "isi", share->counter.window, share->counter.whom, share->fresh);
		if (!rc)
			rc = database_row(
				db, arena, &TOTAL, &total, error, "is", share->counter.window, share->counter.whom);
		if (rc)
			return rc;
		share->total = total.hits;
	}
	return 0;
}

/* Stores the totals in the counters. Skips counters that were evicted while the database
 * answered. */
static void take_totals(const struct shares *shares)
{
	pthread_mutex_lock(&lock);
	for (size_t i = 0; i < shares->count; i++) {
		const struct share *share = &shares->list[i];
		struct counter *counter = &table[share->index];
		if (counter->window != share->counter.window
			|| strcmp(counter->whom, share->counter.whom) != 0)
			continue;
		counter->shared += share->fresh;
		counter->elsewhere = share->total - counter->shared;
	}
	pthread_mutex_unlock(&lock);
}

/* Adds the new counts to the database. After an error, the next call adds the same counts. */
static void share_once(struct shares *shares, int64_t *forgotten)
{
	struct error error = { 0 };
	int64_t window = now_ms() / 1000 / window_s;
	collect_shares(shares, window);
	int rc = shares->count ? database_transaction(sharer, store_shares, shares, &error) : 0;
	if (!rc)
		take_totals(shares);
	else if (database_is_connected(sharer))
		log_warning("Cannot share request counts with other hosts: %s", error.text);
	if (*forgotten != window && database_execute(sharer, &FORGET, NULL, "i", window - 1) == 0)
		*forgotten = window;
}

static bool wait_to_share(void)
{
	int64_t until_ms = now_ms() + share_every_ms;
	const struct timespec until = { .tv_sec = until_ms / 1000,
		.tv_nsec = until_ms % 1000 * 1000000 };
	pthread_mutex_lock(&waiting);
	while (!stopping && pthread_cond_timedwait(&ending, &waiting, &until) == 0)
		;
	bool continues = !stopping;
	pthread_mutex_unlock(&waiting);
	return continues;
}

static void *share_counts(void *unused)
{
	(void)unused;
	int64_t forgotten = 0;
	cleanup_free struct share *list = calloc(table_size, sizeof *list);
	struct shares shares = { list, 0 };
	while (list && wait_to_share())
		share_once(&shares, &forgotten);
	return NULL;
}

int request_rate_start(const struct config *config, struct error *error)
{
	struct config impatient = *config;
	impatient.database_timeout_s = 1; /* so that stopping never waits for a lost database */
	sharer = database_lazy(&impatient);
	int rc = pthread_create(&sharing, NULL, share_counts, NULL);
	if (!rc)
		return 0;
	database_close(sharer);
	return fail(error, ERROR_SYSTEM, "Cannot start a thread: %s.", strerror(rc));
}

void request_rate_stop(void)
{
	pthread_mutex_lock(&waiting);
	stopping = true;
	pthread_cond_signal(&ending);
	pthread_mutex_unlock(&waiting);
	database_suspend(sharer, true); /* the thread may be waiting for an answer */
	pthread_join(sharing, NULL);
	database_close(sharer);
}
