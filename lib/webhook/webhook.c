#include "lib/webhook/webhook.h"

#include "lib/account/audit.h"
#include "lib/account/user.h"
#include "lib/base/buffer.h"
#include "lib/base/format.h"
#include "lib/base/scope.h"
#include "lib/base/text.h"
#include "lib/leaderboard/right.h"
#include "lib/webhook/address.h"

#include <sodium.h>
#include <string.h>

const struct webhook_event_kind webhook_event_kinds[] = {
	{ "Results", "record", "a result set a record", HEARS_RECORD, NULL },
	{ "Results", "ranked", "a result entered the ranking", HEARS_RANKED, NULL },
	{ "Results", "job", "a job of any mode got its verdict", HEARS_JOB, NULL },
	{ "Leaderboards", "opened", "a leaderboard opened for submissions", HEARS_OPENED,
		"this leaderboard opened for submissions" },
	{ "Leaderboards", "ended", "a leaderboard ended or was closed", HEARS_ENDED,
		"this leaderboard ended or was closed" },
	{ "Leaderboards", "announced", "an announcement on a leaderboard began", HEARS_ANNOUNCED,
		"an announcement on this leaderboard began" },
	{ "Contests", "contest_started", "a contest started", HEARS_CONTEST_STARTED,
		"a contest started whose first problem this is" },
	{ "Contests", "contest_ended", "a contest ended", HEARS_CONTEST_ENDED,
		"a contest ended whose first problem this is" },
	{ "Contests", "standings_final", "a contest’s standings became final", HEARS_STANDINGS_FINAL,
		"the standings of a contest became final whose first problem this is" },
	{ "Questions", "asked", "a participant asked a question", HEARS_ASKED, NULL },
	{ "Questions", "answered", "a question was answered for everybody", HEARS_ANSWERED, NULL },
};
const size_t webhook_event_kind_count = COUNT(webhook_event_kinds);

int64_t webhook_event_named(const char *name)
{
	for (size_t i = 0; i < webhook_event_kind_count; i++)
		if (strcmp(webhook_event_kinds[i].name, name) == 0)
			return webhook_event_kinds[i].bit;
	return 0;
}

/* ---- rows ---- */

static const struct column WEBHOOK_COLUMNS[] = {
	INTEGER(struct webhook, id),
	INTEGER(struct webhook, leaderboard_id),
	TEXT(struct webhook, leaderboard),
	TEXT(struct webhook, name),
	TEXT(struct webhook, address),
	TEXT(struct webhook, form),
	INTEGER(struct webhook, events),
	TEXT(struct webhook, state),
	TEXT(struct webhook, reason),
	INTEGER(struct webhook, failures),
	TIME(struct webhook, retry_at_ms),
	INTEGER(struct webhook, waiting),
	TEXT(struct webhook, creator),
	TIME(struct webhook, created_at_ms),
	TIME(struct webhook, old_secret_until_ms),
};
#define WEBHOOKS \
	"SELECT h.id, h.leaderboard_id, l.name AS leaderboard, " \
	"h.name, h.address, h.form, " \
	"CAST(h.events AS UNSIGNED) AS events, h.state, h.reason, h.failures, " \
	"h.retry_at AS retry_at_ms, " \
	"(SELECT COUNT(*) " SQL_DELIVERIES_THAT_WAIT ") AS waiting, " \
	"u.name AS creator, h.created_at AS created_at_ms, " \
	"IF(h.old_secret_until > UTC_TIMESTAMP(3), h.old_secret_until, NULL) " \
	"  AS old_secret_until_ms " \
	"FROM webhooks h LEFT JOIN leaderboards l ON l.id = h.leaderboard_id " \
	"LEFT JOIN users u ON u.id = h.created_by "
static const struct statement LIST =
	SELECT(struct webhook, WEBHOOK_COLUMNS, WEBHOOKS "WHERE h.leaderboard_id <=> ? ORDER BY h.id");
static const struct statement FIND =
	SELECT(struct webhook, WEBHOOK_COLUMNS, WEBHOOKS "WHERE h.id = ?");

#define IS_CREATOR SQL_IS_CREATOR("l")
const struct statement webhooks_failing = SELECT(struct webhook, WEBHOOK_COLUMNS,
	WEBHOOKS "WHERE (h.state = 'off' OR (h.state = 'active' AND h.failures >= 3)) "
			 "AND (" IS_CREATOR " OR ?) ORDER BY h.state, h.failures DESC LIMIT 50");

struct counted {
	int64_t webhooks;
};
static const struct column COUNTED_COLUMNS[] = { INTEGER(struct counted, webhooks) };
static const struct statement COUNT_ALL = SELECT(struct counted, COUNTED_COLUMNS,
	"SELECT COUNT(*) AS webhooks FROM webhooks WHERE leaderboard_id <=> ?");
static const struct statement INSERT = COMMAND(
	"INSERT INTO webhooks (leaderboard_id, name, address, form, events, secret, created_by) "
	"VALUES (?, ?, ?, ?, ?, ?, ?)");
static const struct statement PAUSE =
	COMMAND("UPDATE webhooks SET state = 'paused' WHERE id = ? AND state = 'active'");
static const struct statement RESUME =
	COMMAND("UPDATE webhooks SET state = 'active', reason = NULL, failures = 0, retry_at = NULL "
			"WHERE id = ? AND state <> 'active'");
static const struct statement CHANGE =
	COMMAND("UPDATE webhooks SET name = ?, events = ? WHERE id = ?");
/* MariaDB assigns from left to right, so old_secret gets the secret before it is replaced. */
static const struct statement ROTATE =
	COMMAND("UPDATE webhooks SET old_secret = IF(? > 0, secret, NULL), "
			"old_secret_until = IF(? > 0, UTC_TIMESTAMP(3) + INTERVAL ? HOUR, NULL), secret = ? "
			"WHERE id = ?");
static const struct statement DELETE = COMMAND("DELETE FROM webhooks WHERE id = ?");
static const struct statement DELETE_DELIVERIES =
	COMMAND("DELETE FROM webhook_deliveries WHERE webhook_id = ?");

struct secret {
	const char *secret;
};
static const struct column SECRET_COLUMNS[] = { TEXT(struct secret, secret) };
static const struct statement SECRET =
	SELECT(struct secret, SECRET_COLUMNS, "SELECT secret FROM webhooks WHERE id = ?");

static const struct statement CLEAR_RETRY =
	COMMAND("UPDATE webhooks SET retry_at = NULL WHERE id = ? AND state = 'active'");
static const struct statement INSERT_TEST_EVENT = COMMAND(
	"INSERT INTO webhook_events (event, leaderboard_id, data) "
	"SELECT 'test', h.leaderboard_id, JSON_OBJECT('leaderboard', l.name, 'webhook', h.name) "
	"FROM webhooks h LEFT JOIN leaderboards l ON l.id = h.leaderboard_id WHERE h.id = ?");
static const struct statement INSERT_TEST_DELIVERY =
	COMMAND("INSERT INTO webhook_deliveries (webhook_id, event_id, next_at) "
			"VALUES (?, ?, UTC_TIMESTAMP(3) - INTERVAL 1 DAY)"); /* due before all others */

static const struct column DELIVERY_COLUMNS[] = {
	INTEGER(struct webhook_delivery, id),
	INTEGER(struct webhook_delivery, event_id),
	TIME(struct webhook_delivery, at_ms),
	TEXT(struct webhook_delivery, event),
	TEXT(struct webhook_delivery, state),
	INTEGER(struct webhook_delivery, attempts),
	INTEGER(struct webhook_delivery, status),
	TEXT(struct webhook_delivery, sentence),
	TIME(struct webhook_delivery, tried_at_ms),
	TIME(struct webhook_delivery, next_at_ms),
};
static const struct statement DELIVERIES = SELECT(struct webhook_delivery, DELIVERY_COLUMNS,
	"SELECT d.id, d.event_id, e.at AS at_ms, e.event, d.state, d.attempts, d.status, "
	"d.sentence, d.tried_at AS tried_at_ms, d.next_at AS next_at_ms "
	"FROM webhook_deliveries d JOIN webhook_events e ON e.id = d.event_id "
	"WHERE d.webhook_id = ? AND d.event_id < ? ORDER BY d.event_id DESC LIMIT ?");

int webhook_list(struct database *db, struct arena *arena, int64_t leaderboard_id,
	struct webhook **webhooks, size_t *count, struct error *error)
{
	return database_rows(db, arena, &LIST, webhooks, count, error, "i", leaderboard_id);
}

int webhook_find(struct database *db, struct arena *arena, int64_t id, struct webhook *webhook,
	struct error *error)
{
	int rc = database_row(db, arena, &FIND, webhook, error, "i", id);
	return rc == ERROR_NOT_FOUND ? fail(error, rc, "There is no webhook with this number.") : rc;
}

int webhook_deliveries(struct database *db, struct arena *arena, int64_t webhook_id, int64_t before,
	struct webhook_delivery **deliveries, size_t *count, struct error *error)
{
	return database_rows(db, arena, &DELIVERIES, deliveries, count, error, "iii", webhook_id,
		before, (int64_t)webhook_deliveries_shown);
}

int webhook_has_secret(struct database *db, struct arena *arena, int64_t id, const char *secret,
	bool *answer, struct error *error)
{
	struct secret row;
	int rc = database_row(db, arena, &SECRET, &row, error, "i", id);
	*answer = !rc && strlen(row.secret) == strlen(secret)
		&& sodium_memcmp(row.secret, secret, strlen(secret)) == 0;
	return rc == ERROR_NOT_FOUND ? 0 : rc;
}

const char *webhook_shown_address(struct arena *arena, const char *address)
{
	const char *host = strstr(address, "://");
	size_t length = host ? (size_t)(host + 3 - address) + strcspn(host + 3, "/?") : strlen(address);
	return arena_printf(arena, "%.*s%s", (int)length, address,
		address[length] && strcmp(address + length, "/") != 0 ? "/…" : "");
}

/* ---- checks ---- */

static int check_name(const char *name, struct error *error)
{
	if (!name[strspn(name, " ")])
		return fail_field(error, "name",
			"Give the webhook a name by which you recognize it, such as: our channel.");
	if (!text_is_line(name, webhook_name_most_characters * 4)
		|| text_count_characters(name) > webhook_name_most_characters)
		return fail_field(error, "name",
			"A name has at most %d characters and no control characters.",
			webhook_name_most_characters);
	return 0;
}

static int check_events(int64_t events, struct error *error)
{
	return events && !(events & ~(int64_t)HEARS_ALL)
		? 0
		: fail_field(error, "event", "Choose at least one event.");
}

static int check_form(const char *form, struct error *error)
{
	return strcmp(form, "json") == 0 || strcmp(form, "discord") == 0
		? 0
		: fail_field(error, "form", "Choose the form json or discord.");
}

int webhook_check(struct arena *arena, const struct webhook_order *order, enum webhook_field field,
	struct error *error)
{
	struct webhook_address address;
	switch (field) {
	case WEBHOOK_NAME: return check_name(order->name, error);
	case WEBHOOK_ADDRESS:
		return webhook_address_read(arena, order->address, order->allowed, &address, error);
	case WEBHOOK_FORM: return check_form(order->form, error);
	default: return check_events(order->events, error);
	}
}

static int check_order(struct arena *arena, const struct webhook_order *order, struct error *error)
{
	int rc = 0;
	for (int field = 0; field < webhook_field_count && !rc; field++)
		rc = webhook_check(arena, order, (enum webhook_field)field, error);
	return rc;
}

static const char *event_names(struct arena *arena, int64_t events)
{
	cleanup_buffer struct buffer names = { 0 };
	for (size_t i = 0; i < webhook_event_kind_count; i++)
		if (events & webhook_event_kinds[i].bit)
			buffer_printf(&names, "%s%s", names.length ? ", " : "", webhook_event_kinds[i].name);
	return arena_strdup(arena, buffer_string(&names));
}

/* ---- changes ---- */

struct edit {
	struct arena *arena;
	const char *action, *leaderboard, *detail; /* leaderboard NULL: the whole site */
	const struct actor *actor;
	const struct webhook *webhook;     /* NULL while it is created */
	const struct webhook_order *order; /* set only to create one */
	/* statement that changes an existing webhook by its ID, or NULL */
	const struct statement *change;
	const char *unchanged; /* sentence for a change without effect; or NULL */
	const char *name;      /* new name; used only if events is not 0 */
	int64_t events;        /* new events; 0: unchanged */
	const char *secret;
	int64_t hours; /* for which the old secret stays in use */
	int64_t id;
};

static int write_audit(struct database *db, const struct edit *edit, struct error *error)
{
	const struct actor *actor = edit->actor;
	return audit(db, actor->id, actor->name, actor->address, edit->action,
		edit->leaderboard ? edit->leaderboard : "the whole site", edit->detail, error);
}

static int insert_webhook(struct database *db, void *context, struct error *error)
{
	struct edit *edit = context;
	const struct webhook_order *order = edit->order;
	int64_t leaderboard = order->leaderboard ? order->leaderboard->id : SQL_NULL_INTEGER;
	struct counted counted;
	int rc = database_row(db, edit->arena, &COUNT_ALL, &counted, error, "i", leaderboard);
	if (!rc && counted.webhooks >= webhooks_most)
		return fail(error, ERROR_LIMIT,
			"There are %d webhooks here already, which is the limit; delete one first.",
			webhooks_most);
	if (!rc)
		rc = database_execute(db, &INSERT, error, "isssisi", leaderboard, order->name,
			order->address, order->form, order->events, edit->secret,
			edit->actor->id ? edit->actor->id : SQL_NULL_INTEGER);
	edit->id = (int64_t)database_insert_id(db);
	return rc ? rc : write_audit(db, edit, error);
}

static int change_webhook(struct database *db, void *context, struct error *error)
{
	const struct edit *edit = context;
	int rc = edit->events
		? database_execute(db, &CHANGE, error, "sii", edit->name, edit->events, edit->webhook->id)
		: database_execute(db, edit->change, error, "i", edit->webhook->id);
	if (!rc && !database_affected(db))
		return edit->unchanged ? fail(error, ERROR_CONFLICT, "%s", edit->unchanged)
							   : fail(error, ERROR_NOT_FOUND, "The webhook was deleted meanwhile.");
	if (!rc && edit->change == &DELETE)
		rc = database_execute(db, &DELETE_DELIVERIES, error, "i", edit->webhook->id);
	return rc ? rc : write_audit(db, edit, error);
}

static struct edit describe_change(struct arena *arena, const char *action,
	const struct webhook *webhook, const struct actor *actor, const char *what)
{
	return (struct edit){
		.arena = arena,
		.action = action,
		.leaderboard = webhook->leaderboard,
		.actor = actor,
		.webhook = webhook,
		.detail = arena_printf(arena, "%s (%s) %s", webhook->name,
			webhook_shown_address(arena, webhook->address), what),
	};
}

static void make_secret(webhook_secret secret)
{
	unsigned char random[32];
	randombytes_buf(random, sizeof random);
	memcpy(secret, "whsec_", 6);
	sodium_bin2base64(secret + 6, sizeof(webhook_secret) - 6, random, sizeof random,
		sodium_base64_VARIANT_ORIGINAL);
	sodium_memzero(random, sizeof random);
}

int webhook_create(struct database *db, struct arena *arena, const struct webhook_order *order,
	const struct actor *actor, webhook_secret secret, int64_t *id, struct error *error)
{
	struct edit edit = { .arena = arena,
		.action = "webhook.create",
		.leaderboard = order->leaderboard ? order->leaderboard->name : NULL,
		.actor = actor,
		.order = order,
		.secret = secret };
	int rc = check_order(arena, order, error);
	if (rc)
		return rc;
	make_secret(secret);
	edit.detail =
		arena_printf(arena, "%s: %s to %s, as %s", order->name, event_names(arena, order->events),
			webhook_shown_address(arena, order->address), order->form);
	rc = database_transaction(db, insert_webhook, &edit, error);
	*id = edit.id;
	return rc;
}

int webhook_pause(struct database *db, struct arena *arena, const struct webhook *webhook,
	const struct actor *actor, struct error *error)
{
	struct edit edit = describe_change(
		arena, "webhook.pause", webhook, actor, "receives no events until it is resumed");
	edit.change = &PAUSE;
	edit.unchanged = "This webhook is not active, so it cannot be paused.";
	return database_transaction(db, change_webhook, &edit, error);
}

int webhook_resume(struct database *db, struct arena *arena, const struct webhook *webhook,
	const struct actor *actor, struct error *error)
{
	struct edit edit = describe_change(arena, "webhook.resume", webhook, actor, "hears again");
	edit.change = &RESUME;
	edit.unchanged = "This webhook is active already.";
	return database_transaction(db, change_webhook, &edit, error);
}

int webhook_delete(struct database *db, struct arena *arena, const struct webhook *webhook,
	const struct actor *actor, struct error *error)
{
	struct edit edit = describe_change(arena, "webhook.delete", webhook, actor, "is gone");
	edit.change = &DELETE;
	return database_transaction(db, change_webhook, &edit, error);
}

int webhook_change(struct database *db, struct arena *arena, const struct webhook *webhook,
	const char *name, int64_t events, const struct actor *actor, struct error *error)
{
	struct edit edit = describe_change(arena, "webhook.change", webhook, actor,
		arena_printf(arena, "is named %s and receives %s", name, event_names(arena, events)));
	edit.name = name;
	edit.events = events;
	int rc = check_name(name, error);
	if (!rc)
		rc = check_events(events, error);
	return rc ? rc : database_transaction(db, change_webhook, &edit, error);
}

static int rotate_secret(struct database *db, void *context, struct error *error)
{
	const struct edit *edit = context;
	int rc = database_execute(db, &ROTATE, error, "iiisi", edit->hours, edit->hours, edit->hours,
		edit->secret, edit->webhook->id);
	if (!rc && !database_affected(db))
		return fail(error, ERROR_NOT_FOUND, "The webhook was deleted meanwhile.");
	return rc ? rc : write_audit(db, edit, error);
}

int webhook_rotate(struct database *db, struct arena *arena, const struct webhook *webhook,
	int64_t hours, const struct actor *actor, webhook_secret secret, struct error *error)
{
	if (hours < 0 || hours > webhook_old_secret_most_hours)
		return fail_field(error, "hours",
			"The old secret can stay in use for 0 to %d hours. Choose one of them.",
			webhook_old_secret_most_hours);
	struct edit edit = describe_change(arena, "webhook.rotate", webhook, actor,
		hours ? arena_printf(arena, "has a new secret; the old one stays in use for %s",
			plural(arena, hours, "hour"))
			  : "has a new secret; the old one is no longer in use");
	edit.hours = hours;
	edit.secret = secret;
	make_secret(secret);
	return database_transaction(db, rotate_secret, &edit, error);
}

static int queue_test(struct database *db, void *context, struct error *error)
{
	const struct edit *edit = context;
	int rc = database_execute(db, &CLEAR_RETRY, error, "i", edit->webhook->id);
	if (!rc && !database_affected(db))
		return fail(error, ERROR_CONFLICT, "This webhook is not active; resume it first.");
	if (!rc)
		rc = database_execute(db, &INSERT_TEST_EVENT, error, "i", edit->webhook->id);
	if (!rc)
		rc = database_execute(db, &INSERT_TEST_DELIVERY, error, "ii", edit->webhook->id,
			(int64_t)database_insert_id(db));
	return rc ? rc : write_audit(db, edit, error);
}

int webhook_test(struct database *db, struct arena *arena, const struct webhook *webhook,
	const struct actor *actor, struct error *error)
{
	struct edit edit =
		describe_change(arena, "webhook.test", webhook, actor, "gets a test delivery");
	return database_transaction(db, queue_test, &edit, error);
}
