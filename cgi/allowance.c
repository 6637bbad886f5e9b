#include "cgi/allowance.h"

#include "lib/database.h"
#include "lib/format.h"
#include "lib/log.h"
#include "lib/scope.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

/* When all places of a chain are taken by others in this minute, the one that asked least is forgotten. */
enum { window_s = 60, places = 8192, chain = 8, share_every_ms = 1000 };

struct place {
	char whom[64];
	int64_t window;           /* minutes since 1970; 0: nobody's */
	int64_t hits, shared;     /* of this process; of these, what the database knows */
	int64_t elsewhere;        /* of others, when it was last asked */
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
		if (!found || (found->window == window && (place->window != window || place->hits < found->hits)))
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
