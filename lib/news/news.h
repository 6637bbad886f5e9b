/* The news of a contest: answers for everybody, and announcements on its problems. For a
 * contestant, news are new until the contestant has marked them as read. Each member of a
 * registered team counts as a contestant here. */
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

/* The newest news of a contest, on problems that the viewer may see, as a statement for a bundle.
 * The parameters are viewer, viewer, contest, viewer, viewer, contest, and the most rows to read. A
 * viewer who is not signed in is 0. Each row is a struct news_item. */
extern const struct statement news_reading;

/* Marks the news of a leaderboard up to a time (at most now) as read by a contestant. Does nothing
 * for other users. */
int news_mark_read(struct database *db, int64_t leaderboard_id, int64_t user_id, int64_t until_ms,
	struct error *error);

/* A contest in which a user takes part, which has unread news for the user, and whose standings are
 * not final: a statement for a bundle. The parameter is the user. The row is a struct news_contest.
 */
struct news_contest {
	const char *name; /* name of the contest; NULL: there is none */
};
extern const struct statement news_contest_reading;

/* SQL condition: the person takes part in the contest of the leaderboard, alone or in a team. Both
 * parameters are expressions, of users.id and leaderboards.id. */
#define SQL_IS_CONTESTANT(person, leaderboard_id) \
	"EXISTS (SELECT 1 FROM contest_problems told JOIN contest_entrants entrant " \
	"ON entrant.contest_id = told.contest_id AND entrant.user_id = COALESCE((SELECT pal.team_id " \
	"FROM team_members pal WHERE pal.contest_id = told.contest_id AND pal.user_id = " person \
	"), " person ") WHERE told.leaderboard_id = " leaderboard_id ")"
#define SQL_SEEN_UNTIL(person, leaderboard_id) \
	"COALESCE((SELECT seen.seen_until FROM news_seen seen WHERE seen.user_id = " person \
	" AND seen.leaderboard_id = " leaderboard_id "), '1000-01-01')"
/* SQL condition: the answer to the question, a row of questions, is news for the person. It is for
 * everybody, and the person neither asked nor answered. */
#define SQL_IS_NEWS(question, person) \
	"(" question ".for_all AND " question ".user_id <> " person " AND NOT " question \
	".answered_by <=> " person ")"
/* SQL condition: the answer is unread news for the user, a row of users. */
#define SQL_IS_UNREAD(question, user, leaderboard) \
	"(" SQL_IS_NEWS(question, user ".id") " AND " question ".answered_at > " SQL_SEEN_UNTIL(user \
		".id", \
		leaderboard ".id") " AND " SQL_IS_CONTESTANT(user ".id", leaderboard ".id") ")"
/* SQL condition: the announcement, a row of announcements, has begun and has not ended. */
#define SQL_IS_ANNOUNCED(announcement) \
	"(" announcement ".from_at <= UTC_TIMESTAMP(3) AND COALESCE(" announcement \
	".until_at > UTC_TIMESTAMP(3), TRUE))"
/* SQL expression: the number of unread news that a leaderboard has for a contestant. */
#define SQL_UNREAD_NEWS(person, leaderboard_id) \
	"((SELECT COUNT(*) FROM questions fresh WHERE fresh.leaderboard_id = " leaderboard_id \
	" AND fresh.answered_at > " SQL_SEEN_UNTIL(person, leaderboard_id) " AND " SQL_IS_NEWS( \
		"fresh", person) ") + (SELECT COUNT(*) FROM announcements fresh WHERE " \
						 "fresh.leaderboard_id = " leaderboard_id \
						 " AND fresh.from_at > " SQL_SEEN_UNTIL( \
							 person, leaderboard_id) " AND " SQL_IS_ANNOUNCED("fresh") "))"
/* SQL condition: the person, an expression of users.id, is registered for a contest whose standings
 * are not final. Does not find a person who takes part in a team; use SQL_IN_TEAMS for that. */
#define SQL_IN_CONTESTS(person) \
	"EXISTS (SELECT 1 FROM contest_entrants entry JOIN contests held ON held.id = " \
	"entry.contest_id AND held.final_at IS NULL WHERE entry.user_id = " person ")"

#endif
