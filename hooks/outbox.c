#include "hooks/outbox.h"

#include "lib/base/format.h"
#include "lib/news/news.h"
#include "lib/webhook/event.h"
#include "lib/webhook/webhook.h"

#include <math.h>
#include <sodium.h>
#include <stdio.h>

enum { longest_pause_ms = 3600 * 1000 };

/* ---- claiming ---- */

/* SQL condition: a delivery of the webhook is due, and no sender has claimed the webhook. Ignores a
 * lease that is longer than any valid one: such a lease dates from before the clock was set
 * back. */
#define WEBHOOK_IS_DUE \
	"h.state = 'active' AND (h.retry_at IS NULL OR h.retry_at <= UTC_TIMESTAMP(3)) " \
	"AND (h.lease_expires IS NULL OR h.lease_expires <= UTC_TIMESTAMP(3) " \
	"  OR h.lease_expires > UTC_TIMESTAMP(3) + INTERVAL 601 SECOND) " \
	"AND EXISTS (SELECT 1 " SQL_DELIVERIES_THAT_WAIT " AND d.next_at <= UTC_TIMESTAMP(3)) "

struct found {
	int64_t id;
};
static const struct column FOUND_COLUMNS[] = { INTEGER(struct found, id) };
static const struct statement FIND_DUE = SELECT(
	struct found, FOUND_COLUMNS, "SELECT h.id FROM webhooks h WHERE " WEBHOOK_IS_DUE "LIMIT 1");
/* Takes the webhook whose last attempt ended earliest. After an attempt, lease_expires is the time
 * at which the attempt ended. */
static const struct statement LOCK_WEBHOOK = SELECT(struct found, FOUND_COLUMNS,
	"SELECT h.id FROM webhooks h WHERE " WEBHOOK_IS_DUE
	"ORDER BY h.lease_expires, h.id LIMIT 1 FOR UPDATE SKIP LOCKED");
static const struct statement LEASE_WEBHOOK =
	COMMAND("UPDATE webhooks SET fence = fence + 1, "
			"lease_expires = UTC_TIMESTAMP(3) + INTERVAL ? * 1000 MICROSECOND WHERE id = ?");
static const struct statement COUNT_ATTEMPT =
	COMMAND("UPDATE webhook_deliveries SET attempts = attempts + 1, tried_at = UTC_TIMESTAMP(3) "
			"WHERE id = ?");

static const struct column DELIVERY_COLUMNS[] = {
	INTEGER(struct delivery, id),
	INTEGER(struct delivery, webhook_id),
	INTEGER(struct delivery, fence),
	INTEGER(struct delivery, attempts),
	INTEGER(struct delivery, failures),
	INTEGER(struct delivery, event_id),
	TIME(struct delivery, at_ms),
	INTEGER(struct delivery, age_s),
	TEXT(struct delivery, event),
	TEXT(struct delivery, data),
	TEXT(struct delivery, webhook),
	TEXT(struct delivery, form),
	TEXT(struct delivery, address),
	TEXT(struct delivery, secret),
	TEXT(struct delivery, old_secret),
	INTEGER(struct delivery, creator_may),
	INTEGER(struct delivery, may_be_told),
};
#define MAY_BE_SENT \
	SQL_MAY_HEAR("h", "l") \
	" AND (e.job_id IS NULL OR (" SQL_MAY_BE_TOLD("s") " AND (" SQL_IS_RANKED( \
		"s", "j") " OR (e.event = 'job' AND NOT (" SQL_IS_WITHHELD("l", \
		"j") " AND JSON_VALUE(e.data, '$.verdict') IS NOT NULL))))) " \
			 "AND (e.event <> 'answered' OR EXISTS (SELECT 1 FROM questions q " \
			 "WHERE q.id = JSON_VALUE(e.data, '$.question') AND q.for_all)) " \
			 "AND (e.event <> 'announced' OR EXISTS (SELECT 1 FROM announcements n " \
			 "WHERE n.id = JSON_VALUE(e.data, '$.announcement') AND " SQL_IS_ANNOUNCED("n") "))"
#define CREATOR_RIGHT SQL_RIGHT_OF("m", "o")
/* Reads a webhook's next delivery, and whether Podium may still send it. Since the event, the
 * event's subject may have been hidden, or the webhook's creator may have lost the right to see it.
 */
static const struct statement NEXT_DELIVERY = SELECT(struct delivery, DELIVERY_COLUMNS,
	"SELECT d.id, h.id AS webhook_id, h.fence, d.attempts + 1 AS attempts, h.failures, "
	"  e.id AS event_id, e.at AS at_ms, "
	"  TIMESTAMPDIFF(SECOND, e.at, UTC_TIMESTAMP(3)) AS age_s, e.event, e.data, "
	"  h.name AS webhook, h.form, h.address, h.secret, "
	"  IF(h.old_secret_until > UTC_TIMESTAMP(3), h.old_secret, NULL) AS old_secret, "
	"  COALESCE(m.banned_at IS NULL AND m.deleted_at IS NULL AND " CREATOR_RIGHT " >= 2, FALSE) "
	"    AS creator_may, "
	"  e.event = 'test' OR COALESCE(" MAY_BE_SENT ", FALSE) AS may_be_told "
	"FROM webhook_deliveries d FORCE INDEX (webhook_deliveries_due) "
	"JOIN webhook_events e ON e.id = d.event_id JOIN webhooks h ON h.id = d.webhook_id "
	"LEFT JOIN users m ON m.id = h.created_by "
	"LEFT JOIN leaderboards o ON o.id = h.leaderboard_id "
	"LEFT JOIN leaderboards l ON l.id = e.leaderboard_id "
	"LEFT JOIN jobs j ON j.id = e.job_id LEFT JOIN submissions s ON s.id = j.submission_id "
	"WHERE d.webhook_id = ? AND d.state = 'waiting' AND d.next_at <= UTC_TIMESTAMP(3) "
	"ORDER BY d.next_at, d.id LIMIT 1");

int outbox_is_due(struct database *db, bool *answer, struct error *error)
{
	cleanup_arena struct arena *arena = arena_new();
	struct found webhook;
	int rc = database_row(db, arena, &FIND_DUE, &webhook, error, "");
	*answer = rc == 0;
	return rc == ERROR_NOT_FOUND ? 0 : rc;
}

struct claim {
	struct arena *arena;
	int64_t lease_ms;
	struct delivery *delivery;
};

static int claim_webhook(struct database *db, void *context, struct error *error)
{
	const struct claim *claim = context;
	struct found webhook;
	int rc = database_row(db, claim->arena, &LOCK_WEBHOOK, &webhook, error, "");
	if (!rc)
		rc = database_execute(db, &LEASE_WEBHOOK, error, "ii", claim->lease_ms, webhook.id);
	if (!rc)
		rc =
			database_row(db, claim->arena, &NEXT_DELIVERY, claim->delivery, error, "i", webhook.id);
	return rc ? rc : database_execute(db, &COUNT_ATTEMPT, error, "i", claim->delivery->id);
}

int outbox_claim(struct database *db, struct arena *arena, int64_t lease_ms,
	struct delivery *delivery, struct error *error)
{
	struct claim claim = { .arena = arena, .lease_ms = lease_ms, .delivery = delivery };
	return database_transaction(db, claim_webhook, &claim, error);
}

/* ---- outcome ---- */

static const struct statement RELEASE_WEBHOOK =
	COMMAND("UPDATE webhooks SET lease_expires = UTC_TIMESTAMP(3), failures = ?, "
			"retry_at = UTC_TIMESTAMP(3) + INTERVAL ? * 1000 MICROSECOND "
			"WHERE id = ? AND fence = ?");
static const struct statement SWITCH_OFF =
	COMMAND("UPDATE webhooks SET state = 'off', reason = ? WHERE id = ? AND state = 'active'");
static const struct statement UPDATE_DELIVERY =
	COMMAND("UPDATE webhook_deliveries "
			"SET state = ?, status = ?, sentence = ?, "
			"next_at = UTC_TIMESTAMP(3) + INTERVAL ? * 1000 MICROSECOND WHERE id = ?");

int64_t outbox_pause_ms(int64_t first_ms, int64_t failures)
{
	double whole_ms = first_ms * exp2((double)(failures < 40 ? failures - 1 : 40));
	whole_ms = whole_ms < longest_pause_ms ? whole_ms : longest_pause_ms;
	return (int64_t)(whole_ms * (0.75 + randombytes_uniform(501) / 1000.0));
}

struct completion {
	const struct config *config;
	const struct delivery *delivery;
	const struct outcome *outcome;
};

static bool has_failed(const struct outcome *outcome)
{
	return outcome->kind == FAILED || outcome->kind == REFUSED_FOR_EVER;
}

static int64_t retry_pause_ms(const struct completion *completion, int64_t failures)
{
	int64_t pause_ms = outbox_pause_ms(completion->config->webhook_retry_ms, failures),
			asked_ms = completion->outcome->wait_ms;
	asked_ms = asked_ms < longest_pause_ms ? asked_ms : longest_pause_ms;
	return pause_ms > asked_ms ? pause_ms : asked_ms;
}

static int note_webhook(
	struct database *db, const struct completion *completion, struct error *error)
{
	const struct delivery *delivery = completion->delivery;
	const struct outcome *outcome = completion->outcome;
	int64_t failures = has_failed(outcome) ? delivery->failures + 1
		: outcome->kind == WITHHELD        ? delivery->failures
										   : 0;
	int64_t pause_ms =
		has_failed(outcome) ? retry_pause_ms(completion, failures) : SQL_NULL_INTEGER;
	char reason[500];
	int rc = database_execute(db, &RELEASE_WEBHOOK, error, "iiii", failures, pause_ms,
		delivery->webhook_id, delivery->fence);
	if (!rc && !database_affected(db))
		return fail(error, ERROR_CONFLICT, "The claim on webhook %lld has expired.",
			(long long)delivery->webhook_id);
	if (rc || (outcome->kind != REFUSED_FOR_EVER && failures < webhook_most_failures))
		return rc;
	if (outcome->kind == REFUSED_FOR_EVER)
		snprintf(reason, sizeof reason, "%s", outcome->sentence);
	else
		snprintf(reason, sizeof reason, "The last %lld attempts failed. The latest error: %s",
			(long long)failures, outcome->sentence);
	return database_execute(db, &SWITCH_OFF, error, "si", reason, delivery->webhook_id);
}

static int note_delivery(
	struct database *db, const struct completion *completion, struct error *error)
{
	static const char *const states[] = { [ARRIVED] = "delivered",
		[FAILED] = "waiting",
		[REFUSED_FOR_EVER] = "failed",
		[WITHHELD] = "withheld" };
	const struct delivery *delivery = completion->delivery;
	const struct outcome *outcome = completion->outcome;
	int64_t pause_ms = outcome->kind == FAILED ? retry_pause_ms(completion, delivery->attempts) : 0;
	bool is_last = outcome->kind == FAILED
		&& delivery->age_s + pause_ms / 1000 >= completion->config->webhook_most_s;
	char sentence[500];
	if (is_last)
		snprintf(sentence, sizeof sentence,
			"Podium gave up after %lld attempts. The latest error: %s",
			(long long)delivery->attempts, outcome->sentence);
	else
		snprintf(sentence, sizeof sentence, "%s", outcome->sentence);
	return database_execute(db, &UPDATE_DELIVERY, error, "sisii",
		is_last ? "failed" : states[outcome->kind], outcome->status, sentence, pause_ms,
		delivery->id);
}

static int note_outcome(struct database *db, void *context, struct error *error)
{
	int rc = note_webhook(db, context, error);
	return rc ? rc : note_delivery(db, context, error);
}

int outbox_note(struct database *db, const struct config *config, const struct delivery *delivery,
	const struct outcome *outcome, struct error *error)
{
	struct completion completion = { .config = config, .delivery = delivery, .outcome = outcome };
	return database_transaction(db, note_outcome, &completion, error);
}

/* ---- cleaning ---- */

/* Starts from the webhooks, which are few, and joins their waiting deliveries, because a scan of
 * all past deliveries would be slow. */
static const struct statement GIVE_UP = COMMAND(
	"UPDATE webhooks h STRAIGHT_JOIN webhook_deliveries d FORCE INDEX "
	"(webhook_deliveries_due) ON d.webhook_id = h.id AND d.state = 'waiting' "
	"STRAIGHT_JOIN webhook_events e ON e.id = d.event_id SET d.state = 'failed', d.sentence = "
	"  CONCAT('Podium gave up after ', d.attempts, IF(d.attempts = 1, ' attempt', ' attempts'), "
	"    ', because the webhook was paused or off, or nothing could be sent. ', d.sentence) "
	"WHERE e.at < UTC_TIMESTAMP(3) - INTERVAL ? SECOND AND (h.lease_expires IS NULL "
	"OR h.lease_expires < UTC_TIMESTAMP(3))");
static const struct statement FORGET_TOLD =
	COMMAND("DELETE t FROM webhook_told t LEFT JOIN leaderboards l ON l.id = t.leaderboard_id "
			"WHERE l.id IS NULL");

static const struct statement FORGET_OLD_SECRETS =
	COMMAND("UPDATE webhooks SET old_secret = NULL, old_secret_until = NULL "
			"WHERE old_secret_until <= UTC_TIMESTAMP(3)");

int outbox_clean(struct database *db, int64_t most_s, struct error *error)
{
	int rc = database_execute(db, &GIVE_UP, error, "i", most_s);
	if (!rc)
		rc = database_execute(db, &FORGET_OLD_SECRETS, error, "");
	return rc ? rc : database_execute(db, &FORGET_TOLD, error, "");
}
