#include "lib/news/announcement.h"

#include "lib/base/clock.h"
#include "lib/base/format.h"

#include <string.h>

enum { most_bytes = 1000 };

/* ---- checks ---- */

int announcement_check_text(const char *text, struct error *error)
{
	size_t length = strlen(text);
	if (!text[strspn(text, " \t\r\n")])
		return fail_field(error, "text", "Write the announcement.");
	return length <= most_bytes
		? 0
		: fail_field(
			error, "text", "The text is %zu bytes long. %d are allowed.", length, most_bytes);
}

int announcement_parse_time(
	const char *field, const char *text, int64_t *time_ms, struct error *error)
{
	*time_ms = TIME_NULL;
	return !*text || !parse_utc(text, time_ms)
		? 0
		: fail_field(error, field,
			"Type a date and time as 2026-11-21 06:10, in UTC, or leave the field empty.");
}

int announcement_check_end(const struct announcement_order *order, struct error *error)
{
	return order->until_ms != TIME_NULL
			&& (order->until_ms <= order->from_ms || order->until_ms <= now_ms())
		? fail_field(error, "until",
			"The announcement would end before anybody sees it. Choose a later time.")
		: 0;
}

/* ---- making one ---- */

/* the subject in the audit log of an announcement for all pages */
static const char SITE[] = "the whole site";

static const struct statement STORE =
	COMMAND("INSERT INTO announcements (leaderboard_id, text, from_at, until_at, made_by) "
			"VALUES (?, ?, COALESCE(?, UTC_TIMESTAMP(3)), ?, ?)");

struct storing {
	const struct announcement_order *order;
	int64_t id;
};

static int store(struct database *db, void *context, struct error *error)
{
	struct storing *storing = context;
	const struct announcement_order *order = storing->order;
	const struct actor *by = order->by;
	int rc = database_execute(db, &STORE, error, "istts", order->leaderboard_id, order->text,
		order->from_ms, order->until_ms, by->name);
	storing->id = (int64_t)database_insert_id(db);
	return rc ? rc
			  : audit(db, by->id, by->name, by->address, "announcement.make",
				  order->leaderboard ? order->leaderboard : SITE, order->text, error);
}

int announcement_store(
	struct database *db, const struct announcement_order *order, int64_t *id, struct error *error)
{
	struct storing storing = { order, 0 };
	int rc = database_transaction(db, store, &storing, error);
	*id = storing.id;
	return rc;
}

/* ---- ending one ---- */

static const struct statement END =
	COMMAND("UPDATE announcements SET until_at = UTC_TIMESTAMP(3) WHERE id = ? "
			"AND COALESCE(until_at > UTC_TIMESTAMP(3), TRUE)");

struct stopping {
	const struct announcement *one;
	const struct actor *by;
};

static int stop(struct database *db, void *context, struct error *error)
{
	const struct stopping *stopping = context;
	const struct announcement *one = stopping->one;
	const struct actor *by = stopping->by;
	int rc = database_execute(db, &END, error, "i", one->id);
	if (!rc && !database_affected(db))
		rc = fail(error, ERROR_CONFLICT, "This announcement has ended already.");
	return rc ? rc
			  : audit(db, by->id, by->name, by->address, "announcement.end",
				  one->leaderboard ? one->leaderboard : SITE, one->text, error);
}

int announcement_stop(struct database *db, const struct announcement *one, const struct actor *by,
	struct error *error)
{
	struct stopping stopping = { one, by };
	return database_transaction(db, stop, &stopping, error);
}

/* ---- reading all ---- */

static const struct column COLUMNS[] = { ANNOUNCEMENT_MEMBERS };
#define ALL(condition) \
	SELECT(struct announcement, COLUMNS, \
		"SELECT " SQL_ANNOUNCEMENT_FIELDS "FROM announcements a " \
		"LEFT JOIN leaderboards l ON l.id = a.leaderboard_id WHERE " condition)
static const struct statement OPEN =
	ALL("COALESCE(a.until_at > UTC_TIMESTAMP(3), TRUE) ORDER BY a.id LIMIT 1000");
static const struct statement BY_ID = ALL("a.id = ?");

int announcements_open(struct database *db, struct arena *arena, struct announcement **rows,
	size_t *count, struct error *error)
{
	return database_rows(db, arena, &OPEN, rows, count, error, "");
}

int announcement_by_id(struct database *db, struct arena *arena, int64_t id,
	struct announcement *one, struct error *error)
{
	int rc = database_row(db, arena, &BY_ID, one, error, "i", id);
	return rc == ERROR_NOT_FOUND ? fail(error, rc, "There is no such announcement.") : rc;
}
