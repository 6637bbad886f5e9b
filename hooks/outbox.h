/* What waits to be sent: the tables webhooks, webhook_events and webhook_deliveries.
 *
 * A claim is on a webhook, so one receiver gets one delivery at a time and never keeps more than
 * one sender. It ends with the outcome, or with its lease: then another sender makes the delivery
 * again. So each arrives at least once, under the same id; an outcome that comes after the lease is
 * known by its fence and changes nothing. */
#ifndef PODIUM_HOOKS_OUTBOX_H
#define PODIUM_HOOKS_OUTBOX_H

#include "lib/arena.h"
#include "lib/config.h"
#include "lib/database.h"
#include "lib/error.h"

#include <stdbool.h>
#include <stdint.h>

struct delivery {
	int64_t id, webhook_id, fence;
	int64_t attempts, failures; /* with the one that begins; of the webhook before it, in a row */
	int64_t event_id, at_ms, age_s;
	const char *event, *data; /* data: JSON */
	const char *webhook, *form, *address, *secret;
	int64_t creator_may, may_be_told; /* whether whoever made the webhook may still know it; whether
	                                     anybody may be told */
};

/* What came of an attempt. */
struct outcome {
	enum {
		ARRIVED,
		FAILED,
		REFUSED_FOR_EVER,
		WITHHELD
	} kind;          /* REFUSED_FOR_EVER: the receiver wants nothing any more */
	int64_t status;  /* of HTTP; SQL_NULL_INTEGER: there was no answer */
	int64_t wait_ms; /* as the receiver asks for; 0: it does not */
	char sentence[400];
};

/* Whether outbox_claim would find anything. Locks nothing. */
int outbox_is_due(struct database *db, bool *answer, struct error *error);

/* ERROR_NOT_FOUND when nothing is due that no other sender has. Counts as an attempt. */
int outbox_claim(struct database *db, struct arena *arena, int64_t lease_ms,
	struct delivery *delivery, struct error *error);

/* Ends the claim. ERROR_CONFLICT: it was over already. */
int outbox_note(struct database *db, const struct config *config, const struct delivery *delivery,
	const struct outcome *outcome, struct error *error);

/* After so many failures in a row, 1 or more: the first time, then twice as late each time, an hour
 * at most; a quarter more or less. */
int64_t outbox_pause_ms(int64_t first_ms, int64_t failures);

/* Gives up what has waited for too long. What is old lib/retention.h removes. */
int outbox_clean(struct database *db, int64_t most_s, struct error *error);

#endif
