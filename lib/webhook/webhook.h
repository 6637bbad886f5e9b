/* Webhooks: addresses to which Podium tells what happens on a leaderboard, or on all public ones.
 * Their creators and admins make them; podium-hooks sends (hooks/). What is told is written by
 * lib/webhook_event.h. */
#ifndef PODIUM_LIB_WEBHOOK_H
#define PODIUM_LIB_WEBHOOK_H

#include "lib/arena.h"
#include "lib/database.h"
#include "lib/error.h"
#include "lib/leaderboard.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
	webhook_name_most_characters = 64,
	webhooks_most = 20,
	webhook_deliveries_shown = 50,
	webhook_most_failures = 30
};

/* What one may hear of, as the bits of webhooks.events. */
enum webhook_event_bit {
	HEARS_RECORD = 1,
	HEARS_RANKED = 2,
	HEARS_JOB = 4,
	HEARS_OPENED = 8,
	HEARS_ENDED = 16,
	HEARS_ALL = 31
};
struct webhook_event_kind {
	const char *name, *meaning;
	enum webhook_event_bit bit;
};
extern const struct webhook_event_kind webhook_event_kinds[];
extern const size_t webhook_event_kind_count;
int64_t webhook_event_named(const char *name); /* its bit; 0: there is none */

/* "whsec_" and 256 random bits in base64url. */
typedef char webhook_secret[6 + 43 + 1];

struct webhook {
	int64_t id, leaderboard_id; /* leaderboard_id SQL_NULL_INTEGER: of the whole site */
	const char *leaderboard;    /* its name; NULL: of the whole site */
	int64_t leaderboard_creator_id;
	const char *name, *address, *form; /* form: "json", "discord" */
	int64_t events;
	const char *state;  /* "active", "paused", "off" */
	const char *reason; /* why it is off: a sentence; or NULL */
	int64_t failures,
		retry_at_ms; /* attempts that failed in a row; when the next is made, TIME_NULL: at once */
	int64_t waiting; /* deliveries that have not arrived yet */
	const char *creator; /* NULL: the account is gone */
	int64_t created_at_ms;
};

/* Those of a leaderboard, SQL_NULL_INTEGER: of the whole site; the oldest first. */
int webhook_list(struct database *db, struct arena *arena, int64_t leaderboard_id,
	struct webhook **webhooks, size_t *count, struct error *error);
/* ERROR_NOT_FOUND. Who may see it is for the caller to say. */
int webhook_find(struct database *db, struct arena *arena, int64_t id, struct webhook *webhook,
	struct error *error);

/* Its address without what may be as good as a password: "https://chat.example.org/…". */
const char *webhook_shown_address(struct arena *arena, const char *address);

struct webhook_order {
	const struct leaderboard *leaderboard; /* NULL: the whole site */
	const char *name, *address, *form;
	int64_t events;
	const char *allowed; /* the setting webhook_allowed */
};

/* All of these write an audit entry in their transaction. Makes one and fills `secret`, which no
 * page shows again. The error's field is name, address, form or event; ERROR_LIMIT where there are
 * webhooks_most already. */
int webhook_create(struct database *db, struct arena *arena, const struct webhook_order *order,
	const struct actor *actor, webhook_secret secret, int64_t *id, struct error *error);

/* A paused one collects nothing; what waits is kept for as long as it would be tried. Resuming one
 * also forgets its failures. */
int webhook_pause(struct database *db, struct arena *arena, const struct webhook *webhook,
	const struct actor *actor, struct error *error);
int webhook_resume(struct database *db, struct arena *arena, const struct webhook *webhook,
	const struct actor *actor, struct error *error);
int webhook_delete(struct database *db, struct arena *arena, const struct webhook *webhook,
	const struct actor *actor, struct error *error);

/* Whether this is its secret: a page shows it once, and only what is true. */
int webhook_has_secret(struct database *db, struct arena *arena, int64_t id, const char *secret,
	bool *answer, struct error *error);

/* Another name or other events. */
int webhook_change(struct database *db, struct arena *arena, const struct webhook *webhook,
	const char *name, int64_t events, const struct actor *actor, struct error *error);

/* A delivery that says no more than that it is one, made at once. ERROR_CONFLICT unless the webhook
 * is active. */
int webhook_test(struct database *db, struct arena *arena, const struct webhook *webhook,
	const struct actor *actor, struct error *error);

struct webhook_delivery {
	int64_t id, event_id, at_ms;
	const char *event, *state; /* "waiting", "delivered", "failed", "withheld" */
	int64_t attempts, status;  /* status of HTTP; SQL_NULL_INTEGER: no answer */
	const char *sentence;      /* what came of the last attempt; "" before the first */
	int64_t tried_at_ms, next_at_ms;
};

/* The newest, at most webhook_deliveries_shown of those before delivery `before` (INT64_MAX: the
 * last). */
int webhook_deliveries(struct database *db, struct arena *arena, int64_t webhook_id, int64_t before,
	struct webhook_delivery **deliveries, size_t *count, struct error *error);

#endif
