/* The queue of deliveries: the tables webhooks, webhook_events and webhook_deliveries.
 *
 * A sender claims a webhook, so a receiver gets one delivery at a time and occupies at most one
 * sender. A claim ends with the outcome or when its lease expires. After an expired lease
 * another sender repeats the delivery. Each delivery therefore arrives at least once, under the
 * same id. The fence identifies an outcome after the lease, which then changes nothing. */
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
	/* attempts include this one; failures are the webhook's consecutive failures before it */
	int64_t attempts, failures;
	int64_t event_id, at_ms, age_s;
	const char *event, *data; /* data: JSON */
	const char *webhook, *form, *address, *secret;
	/* whether the webhook's creator may still see it; whether anybody may be told */
	int64_t creator_may, may_be_told;
};

/* The outcome of an attempt. */
struct outcome {
	enum {
		ARRIVED,
		FAILED,
		REFUSED_FOR_EVER,
		WITHHELD
	} kind;          /* REFUSED_FOR_EVER: the receiver wants no further deliveries */
	int64_t status;  /* HTTP status; SQL_NULL_INTEGER: no answer */
	int64_t wait_ms; /* the delay that the receiver asked for; 0: none */
	char sentence[400];
};

/* Whether outbox_claim would find a delivery. Locks nothing. */
int outbox_is_due(struct database *db, bool *answer, struct error *error);

/* Claims a webhook and fills its next delivery, which counts as an attempt. ERROR_NOT_FOUND:
 * nothing is due, or other senders have it. */
int outbox_claim(struct database *db, struct arena *arena, int64_t lease_ms,
	struct delivery *delivery, struct error *error);

/* Stores the outcome and ends the claim. ERROR_CONFLICT: the claim had expired. */
int outbox_note(struct database *db, const struct config *config, const struct delivery *delivery,
	const struct outcome *outcome, struct error *error);

/* The delay after `failures` consecutive failures, one or more. Starts at first_ms, doubles each
 * time up to an hour, and varies by a quarter. */
int64_t outbox_pause_ms(int64_t first_ms, int64_t failures);

/* Gives up deliveries older than most_s. lib/database/retention.h removes old rows. */
int outbox_clean(struct database *db, int64_t most_s, struct error *error);

#endif
