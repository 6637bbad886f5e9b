/* The queue of deliveries: the tables webhooks, webhook_events and webhook_deliveries.
 *
 * A sender claims a webhook, so a receiver gets one delivery at a time and occupies at most one
 * sender. A claim ends when its outcome is stored or its lease expires. After an expired lease
 * another sender repeats the delivery. A delivery may therefore arrive more than once, always with
 * the same event ID. Each claim has its own fence. If an outcome comes after the next claim,
 * outbox_note sees the old fence and changes nothing. */
#ifndef PODIUM_HOOKS_OUTBOX_H
#define PODIUM_HOOKS_OUTBOX_H

#include "lib/base/arena.h"
#include "lib/base/config.h"
#include "lib/base/error.h"
#include "lib/database/database.h"

#include <stdbool.h>
#include <stdint.h>

struct delivery {
	int64_t id, webhook_id, fence;
	/* attempts: of this delivery, including this one. failures: the webhook's consecutive failures
	 * before this attempt. */
	int64_t attempts, failures;
	int64_t event_id, at_ms, age_s;
	const char *event, *data;                      /* data: JSON */
	const char *webhook, *form, *address, *secret; /* webhook: its name */
	const char *old_secret;                        /* NULL: none */
	/* creator_may: the webhook's creator may still manage it. may_be_told: its receiver may still
	 * learn of the event's subject, which may have been hidden or withdrawn. */
	int64_t creator_may, may_be_told;
};

/* The outcome of an attempt. */
struct outcome {
	enum {
		ARRIVED,
		FAILED,           /* to be retried, unless the event is too old */
		REFUSED_FOR_EVER, /* the receiver wants no further deliveries */
		WITHHELD          /* not sent: !creator_may or !may_be_told */
	} kind;
	int64_t status;  /* HTTP status; SQL_NULL_INTEGER: no answer */
	int64_t wait_ms; /* the delay that the receiver asked for; 0: none */
	char sentence[400];
};

/* Whether outbox_claim would find a delivery. Locks nothing. */
int outbox_is_due(struct database *db, bool *answer, struct error *error);

/* Claims a webhook, fills its next delivery and counts an attempt. ERROR_NOT_FOUND: no delivery is
 * due, except those of webhooks that other senders have claimed. */
int outbox_claim(struct database *db, struct arena *arena, int64_t lease_ms,
	struct delivery *delivery, struct error *error);

/* Stores the outcome and ends the claim. ERROR_CONFLICT: another sender has claimed the webhook
 * since, or somebody has deleted it. */
int outbox_note(struct database *db, const struct config *config, const struct delivery *delivery,
	const struct outcome *outcome, struct error *error);

/* Returns the delay after `failures` consecutive failures (at least 1). The delay starts at
 * first_ms, doubles with each failure up to an hour, and varies randomly by a quarter. */
int64_t outbox_pause_ms(int64_t first_ms, int64_t failures);

/* Gives up waiting deliveries of events older than most_s, and removes expired old secrets and the
 * webhook_told rows of deleted leaderboards. lib/database/retention.h removes other old rows. */
int outbox_clean(struct database *db, int64_t most_s, struct error *error);

#endif
