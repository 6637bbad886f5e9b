#include "cgi/allowance.h"

#include "lib/database.h"
#include "lib/format.h"
#include "lib/log.h"
#include "lib/scope.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

/* When all places of a chain are taken by others in this minute, the one that asked least is
 * forgotten. */
enum { window_s = 60, places = 8192, chain = 8, share_every_ms = 1000 };

struct place {
	char whom[64];
	int64_t window;       /* minutes since 1970; 0: nobody's */
	int64_t hits, shared; /* of this process; of these, what the database knows */
	int64_t elsewhere;    /* of others, when it was last asked */
};

static struct place table[places];
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

/* ---- counting ---- */

/* FNV-1a: whoever finds names that collide has his own addresses or tokens forgotten. */
static size_t place_of(const char *whom)
{
	uint64_t hash = 14695981039346656037u;
	for (; *whom; whom++)
		hash = (hash ^ (unsigned char)*whom) * 1099511628211u;
	return (size_t)((hash ^ hash >> 32) % places);
}

static struct place *find_place(const char *whom, int64_t window)
{
	struct place *found = NULL;
	size_t first = place_of(whom);
	for (size_t i = 0; i < chain; i++) {
		struct place *place = &table[(first + i) % places];
		if (place->window == window && strncmp(place->whom, whom, sizeof place->whom - 1) == 0)
			return place;
		if (!found
			|| (found->window == window && (place->window != window || place->hits < found->hits)))
			found = place;
	}
	*found = (struct place){ .window = window };
	snprintf(found->whom, sizeof found->whom, "%s", whom);
	return found;
}

void allowance_take(int64_t most, const char *whom, struct allowance *allowance)
{
	*allowance = (struct allowance){ .most = most };
	if (!most)
		return;
	int64_t second = now_ms() / 1000;
	pthread_mutex_lock(&lock);
	struct place *place = find_place(whom, second / window_s);
	int64_t used = ++place->hits + place->elsewhere;
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
	COMMAND("INSERT INTO api_requests (window_start, subject, hits) VALUES (?, ?, ?) ON DUPLICATE "
            "KEY UPDATE hits = hits + VALUES(hits)");
/* MariaDB 10.11 does not say what an INSERT returns when it prepares one, so the sum is asked for.
 */
static const struct statement TOTAL = SELECT(struct total, TOTAL_COLUMNS,
	"SELECT hits FROM api_requests WHERE window_start = ? AND subject = ?");
static const struct statement FORGET =
	COMMAND("DELETE FROM api_requests WHERE window_start < ? LIMIT 1000");

/* What is told of a place: so many hits more, of which the database says how many there are with
 * those of others. */
struct share {
	size_t index;
	struct place place;
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

static void collect(struct shares *shares, int64_t window)
{
	shares->count = 0;
	pthread_mutex_lock(&lock);
	for (size_t i = 0; i < places; i++)
		if (table[i].window >= window - 1 && table[i].hits > table[i].shared)
			shares->list[shares->count++] =
				(struct share){ i, table[i], table[i].hits - table[i].shared, 0 };
	pthread_mutex_unlock(&lock);
}

static int store(struct database *db, void *context, struct error *error)
{
	struct shares *shares = context;
	cleanup_arena struct arena *arena = arena_new();
	struct total total;
	for (size_t i = 0; i < shares->count; i++) {
		struct share *share = &shares->list[i];
		int rc = database_execute(
			db, &ADD, error, "isi", share->place.window, share->place.whom, share->fresh);
		if (!rc)
			rc = database_row(
				db, arena, &TOTAL, &total, error, "is", share->place.window, share->place.whom);
		if (rc)
			return rc;
		share->total = total.hits;
	}
	return 0;
}

/* Those that were forgotten meanwhile stay so. */
static void take_totals(const struct shares *shares)
{
	pthread_mutex_lock(&lock);
	for (size_t i = 0; i < shares->count; i++) {
		const struct share *share = &shares->list[i];
		struct place *place = &table[share->index];
		if (place->window != share->place.window || strcmp(place->whom, share->place.whom) != 0)
			continue;
		place->shared += share->fresh;
		place->elsewhere = share->total - place->shared;
	}
	pthread_mutex_unlock(&lock);
}

/* What cannot be stored now is stored later. */
static void share_once(struct shares *shares, int64_t *forgotten)
{
	struct error error = { 0 };
	int64_t window = now_ms() / 1000 / window_s;
	collect(shares, window);
	int rc = shares->count ? database_transaction(sharer, store, shares, &error) : 0;
	if (!rc)
		take_totals(shares);
	else if (database_is_connected(sharer))
		log_warning("requests could not be counted with those of other hosts: %s", error.text);
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
	bool goes_on = !stopping;
	pthread_mutex_unlock(&waiting);
	return goes_on;
}

static void *share(void *unused)
{
	(void)unused;
	int64_t forgotten = 0;
	cleanup_free struct share *list = calloc(places, sizeof *list);
	struct shares shares = { list, 0 };
	while (list && wait_to_share())
		share_once(&shares, &forgotten);
	return NULL;
}

int allowance_start(const struct config *config, struct error *error)
{
	struct config impatient = *config;
	impatient.database_timeout_s = 1; /* so that stopping never waits for a database that is away */
	sharer = database_lazy(&impatient);
	int rc = pthread_create(&sharing, NULL, share, NULL);
	if (!rc)
		return 0;
	database_close(sharer);
	return fail(error, ERROR_SYSTEM, "Cannot start a thread: %s.", strerror(rc));
}

void allowance_stop(void)
{
	pthread_mutex_lock(&waiting);
	stopping = true;
	pthread_cond_signal(&ending);
	pthread_mutex_unlock(&waiting);
	database_suspend(sharer, true); /* it may be waiting for an answer */
	pthread_join(sharing, NULL);
	database_close(sharer);
}
