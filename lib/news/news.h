/* The news of a contest: answers for everybody and announcements on its problems. To a contestant,
 * also to each member of a registered team, they are new until marked as read. */
#ifndef PODIUM_LIB_NEWS_NEWS_H
#define PODIUM_LIB_NEWS_NEWS_H

#include "lib/base/error.h"
#include "lib/database/database.h"

#include <stddef.h>
#include <stdint.h>

struct news_item {
	const char *leaderboard;
	int64_t question_id;         /* SQL_NULL_INTEGER: an announcement */
	const char *text, *question; /* question NULL: an announcement */
	int64_t at_ms, is_new;
};

/* The newest news of a contest on problems that the viewer sees, as a part of a bundle. Its
 * parameters: twice the viewer (0: not signed in), the contest, these three once more, and how many
 * at most. Each row is a struct news_item. */
extern const struct statement news_reading;

/* The contestant has read the news of a leaderboard up to a time, at most now. Writes nothing for
 * others. */
int news_mark_read(struct database *db, int64_t leaderboard_id, int64_t user_id, int64_t until_ms,
	struct error *error);

/* A contest of a user that is not final and has unread news, as a part of a bundle. Its parameter:
 * the user. The row is a struct news_contest. */
struct news_contest {
	const char *name; /* NULL: none */
};
extern const struct statement news_contest_reading;

/* Parts of a statement. The first: the person, an expression of users.id, is a contestant of the
 * contest to which the leaderboard, an expression of leaderboards.id, belongs. */
#define SQL_IS_CONTESTANT(person, leaderboard_id) \
	"EXISTS (SELECT 1 FROM contest_problems told JOIN contest_entrants entrant " \
	"ON entrant.contest_id = told.contest_id AND entrant.user_id = COALESCE((SELECT pal.team_id " \
	"FROM team_members pal WHERE pal.contest_id = told.contest_id AND pal.user_id = " person \
	"), " person ") WHERE told.leaderboard_id = " leaderboard_id ")"
#define SQL_SEEN_UNTIL(person, leaderboard_id) \
	"COALESCE((SELECT seen.seen_until FROM news_seen seen WHERE seen.user_id = " person \
	" AND seen.leaderboard_id = " leaderboard_id "), '1000-01-01')"
/* Every contestant is told of the question, a row of questions. */
#define SQL_IS_NEWS(question, person) \
	"(" question ".for_all AND " question ".user_id <> " person " AND NOT " question \
	".answered_by <=> " person ")"
/* The answer is unread news for the user, a row of users. */
#define SQL_IS_UNREAD(question, user, leaderboard) \
	"(" SQL_IS_NEWS(question, user ".id") " AND " question ".answered_at > " SQL_SEEN_UNTIL(user \
		".id", \
		leaderboard ".id") " AND " SQL_IS_CONTESTANT(user ".id", leaderboard ".id") ")"
/* The announcement, a row of announcements, has begun and has not ended. */
#define SQL_IS_ANNOUNCED(announcement) \
	"(" announcement ".from_at <= UTC_TIMESTAMP(3) AND COALESCE(" announcement \
	".until_at > UTC_TIMESTAMP(3), TRUE))"
/* How many unread news a leaderboard has for a contestant. */
#define SQL_UNREAD_NEWS(person, leaderboard_id) \
	"((SELECT COUNT(*) FROM questions fresh WHERE fresh.leaderboard_id = " leaderboard_id \
	" AND fresh.answered_at > " SQL_SEEN_UNTIL(person, leaderboard_id) " AND " SQL_IS_NEWS( \
		"fresh", person) ") + (SELECT COUNT(*) FROM announcements fresh WHERE " \
						 "fresh.leaderboard_id = " leaderboard_id \
						 " AND fresh.from_at > " SQL_SEEN_UNTIL( \
							 person, leaderboard_id) " AND " SQL_IS_ANNOUNCED("fresh") "))"
/* The person, an expression of users.id, is registered for a contest that is not final. Members of
 * teams are not: see SQL_IN_TEAMS. */
#define SQL_IN_CONTESTS(person) \
	"EXISTS (SELECT 1 FROM contest_entrants entry JOIN contests held ON held.id = " \
	"entry.contest_id AND held.final_at IS NULL WHERE entry.user_id = " person ")"

#endif
