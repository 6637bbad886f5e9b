/* Announcements: messages that the front page or a leaderboard's pages show for a limited time. The
 * caller checks who may make and end them. podium-hooks sends notifications about announcements on
 * leaderboards (hooks/announcement.h). */
#ifndef PODIUM_LIB_NEWS_ANNOUNCEMENT_H
#define PODIUM_LIB_NEWS_ANNOUNCEMENT_H

#include "lib/account/audit.h"
#include "lib/base/arena.h"
#include "lib/base/error.h"
#include "lib/database/database.h"

#include <stddef.h>
#include <stdint.h>

struct announcement {
	int64_t id, leaderboard_id;     /* leaderboard_id SQL_NULL_INTEGER: for the whole site */
	int64_t from_ms, until_ms;      /* until_ms TIME_NULL: no end is set */
	const char *text, *leaderboard; /* leaderboard NULL: for the whole site */
	const char *made_by;
};

/* For a statement whose rows are struct announcement: the columns of the struct, and the fields to
 * select. The statement reads announcements a LEFT JOIN leaderboards l. */
#define ANNOUNCEMENT_MEMBERS \
	INTEGER(struct announcement, id), TIME(struct announcement, from_ms), \
		TIME(struct announcement, until_ms), TEXT(struct announcement, text), \
		TEXT(struct announcement, leaderboard), TEXT(struct announcement, made_by)
#define SQL_ANNOUNCEMENT_FIELDS \
	"a.id, a.from_at AS from_ms, a.until_at AS until_ms, a.text, l.name AS leaderboard, " \
	"a.made_by "

/* An announcement to make. Names as in struct announcement; from_ms TIME_NULL: now. */
struct announcement_order {
	int64_t leaderboard_id, from_ms, until_ms;
	const char *leaderboard, *text;
	const struct actor *by;
};

/* Each of these returns ERROR_INPUT with the field text, from or until. */
int announcement_check_text(const char *text, struct error *error);
int announcement_parse_time(
	const char *field, const char *text, int64_t *time_ms, struct error *error); /* "": TIME_NULL */
int announcement_check_end(const struct announcement_order *order, struct error *error);

/* Stores an order that passed these checks. */
int announcement_store(
	struct database *db, const struct announcement_order *order, int64_t *id, struct error *error);

/* ERROR_CONFLICT: the announcement has ended already. */
int announcement_stop(struct database *db, const struct announcement *one, const struct actor *by,
	struct error *error);

/* For podium-admin, which may end every announcement. announcements_open reads those that have not
 * ended. */
int announcements_open(struct database *db, struct arena *arena, struct announcement **rows,
	size_t *count, struct error *error);
int announcement_by_id(struct database *db, struct arena *arena, int64_t id,
	struct announcement *one, struct error *error);

#endif
