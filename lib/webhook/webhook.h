/* Webhooks: addresses to which Podium reports what happens on a leaderboard, or on all public
 * ones. A leaderboard's creator and admins create them. lib/webhook/event.h writes the events,
 * and podium-hooks sends them (hooks/). */
#ifndef PODIUM_LIB_WEBHOOK_WEBHOOK_H
#define PODIUM_LIB_WEBHOOK_WEBHOOK_H

#include "lib/base/arena.h"
#include "lib/base/error.h"
#include "lib/database/database.h"
#include "lib/leaderboard/leaderboard.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
	webhook_name_most_characters = 64,
	webhooks_most = 20,
	webhook_deliveries_shown = 50,
	webhook_most_failures = 30
};

/* The events to which a webhook may subscribe, as bits of webhooks.events. */
enum webhook_event_bit {
	HEARS_RECORD = 1,
	HEARS_RANKED = 2,
	HEARS_JOB = 4,
	HEARS_OPENED = 8,
	HEARS_ENDED = 16,
	HEARS_CONTEST_STARTED = 32,
	HEARS_CONTEST_ENDED = 64,
	HEARS_STANDINGS_FINAL = 128,
	HEARS_ASKED = 256,
	HEARS_ANSWERED = 512,
	HEARS_ANNOUNCED = 1024,
	HEARS_ALL = 2047
};
struct webhook_event_kind {
	const char *group, *name, *meaning; /* kinds of one group are next to each other */
	enum webhook_event_bit bit;
	const char *here; /* the meaning for a webhook of one leaderboard; NULL: the same */
};
extern const struct webhook_event_kind webhook_event_kinds[];
extern const size_t webhook_event_kind_count;
int64_t webhook_event_named(const char *name); /* its bit; 0: unknown name */

/* "whsec_" and 256 random bits in base64, as the Standard Webhooks specification wants. */
typedef char webhook_secret[6 + 44 + 1];
enum { webhook_old_secret_most_hours = 7 * 24, webhook_old_secret_usual_hours = 24 };

struct webhook {
	int64_t id, leaderboard_id;        /* leaderboard_id SQL_NULL_INTEGER: the whole site */
	const char *leaderboard;           /* its name; NULL: the whole site */
	const char *name, *address, *form; /* form: "json", "discord" */
	int64_t events;
	const char *state;  /* "active", "paused", "off" */
	const char *reason; /* why it is off, as a sentence; or NULL */
	/* consecutive failed attempts; time of the next attempt, TIME_NULL: immediately */
	int64_t failures, retry_at_ms;
	int64_t waiting;     /* deliveries that wait to be sent */
	const char *creator; /* NULL: the account was deleted */
	int64_t created_at_ms;
	int64_t old_secret_until_ms; /* TIME_NULL: there is only one secret */
};

/* SQL: the waiting deliveries `d` of the webhook `h`. The index is forced, because MariaDB with
 * outdated statistics might read the whole table. */
#define SQL_DELIVERIES_THAT_WAIT \
	"FROM webhook_deliveries d FORCE INDEX (webhook_deliveries_due) " \
	"WHERE d.webhook_id = h.id AND d.state = 'waiting'"

/* Lists the webhooks of a leaderboard, oldest first. SQL_NULL_INTEGER: the whole site. */
int webhook_list(struct database *db, struct arena *arena, int64_t leaderboard_id,
	struct webhook **webhooks, size_t *count, struct error *error);
/* Finds a webhook or returns ERROR_NOT_FOUND. The caller checks who may see it. */
int webhook_find(struct database *db, struct arena *arena, int64_t id, struct webhook *webhook,
	struct error *error);

/* The webhooks that are off or whose last three attempts failed, on the leaderboards that a user
 * created; an admin gets all. A statement for a bundle with two parameters: the user, and whether
 * the user is an admin. */
extern const struct statement webhooks_failing;

/* The address without its secret part: "https://chat.example.org/…". */
const char *webhook_shown_address(struct arena *arena, const char *address);

struct webhook_order {
	const struct leaderboard *leaderboard; /* NULL: the whole site */
	const char *name, *address, *form;
	int64_t events;
	const char *allowed; /* the setting webhook_allowed */
};

/* Checks one field of an order, so that a form can report all errors together. The error's field is
 * name, address, form or event. */
enum webhook_field {
	WEBHOOK_NAME,
	WEBHOOK_ADDRESS,
	WEBHOOK_FORM,
	WEBHOOK_EVENT,
	webhook_field_count
};
int webhook_check(struct arena *arena, const struct webhook_order *order, enum webhook_field field,
	struct error *error);

/* Creates a webhook and fills `secret`, which no page shows again. This function, and each one
 * below that takes an actor, writes an audit entry in its transaction. Fails like webhook_check.
 * ERROR_LIMIT: there are webhooks_most already. */
int webhook_create(struct database *db, struct arena *arena, const struct webhook_order *order,
	const struct actor *actor, webhook_secret secret, int64_t *id, struct error *error);

/* A paused webhook collects no new deliveries. Waiting ones are kept until they are too old to
 * retry. Resuming also resets the failures. */
int webhook_pause(struct database *db, struct arena *arena, const struct webhook *webhook,
	const struct actor *actor, struct error *error);
int webhook_resume(struct database *db, struct arena *arena, const struct webhook *webhook,
	const struct actor *actor, struct error *error);
int webhook_delete(struct database *db, struct arena *arena, const struct webhook *webhook,
	const struct actor *actor, struct error *error);

/* Replaces the secret and fills `secret`. For `hours`, deliveries also carry a signature by the
 * secret that was replaced; a still older one is forgotten. ERROR_INPUT, field `hours`: it is not 0
 * to webhook_old_secret_most_hours. */
int webhook_rotate(struct database *db, struct arena *arena, const struct webhook *webhook,
	int64_t hours, const struct actor *actor, webhook_secret secret, struct error *error);

/* *answer: whether `secret` is the webhook's. The page that shows a new secret gets it from a
 * cookie, and checks it with this function. */
int webhook_has_secret(struct database *db, struct arena *arena, int64_t id, const char *secret,
	bool *answer, struct error *error);

/* Changes the name and the events. */
int webhook_change(struct database *db, struct arena *arena, const struct webhook *webhook,
	const char *name, int64_t events, const struct actor *actor, struct error *error);

/* Queues a test delivery, which is sent immediately. ERROR_CONFLICT: the webhook is not active. */
int webhook_test(struct database *db, struct arena *arena, const struct webhook *webhook,
	const struct actor *actor, struct error *error);

struct webhook_delivery {
	int64_t id, event_id, at_ms;
	const char *event, *state; /* "waiting", "delivered", "failed", "withheld" */
	int64_t attempts, status;  /* HTTP status; SQL_NULL_INTEGER: no answer */
	const char *sentence;      /* the outcome of the last attempt; "" before the first */
	int64_t tried_at_ms, next_at_ms;
};

/* Lists the newest deliveries before delivery `before` (INT64_MAX: all), at most
 * webhook_deliveries_shown. */
int webhook_deliveries(struct database *db, struct arena *arena, int64_t webhook_id, int64_t before,
	struct webhook_delivery **deliveries, size_t *count, struct error *error);

#endif
