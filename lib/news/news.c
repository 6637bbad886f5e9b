#include "lib/news/news.h"

#include "lib/base/format.h"
#include "lib/leaderboard/visibility.h"

static const struct column NEWS_COLUMNS[] = {
	TEXT(struct news_item, leaderboard),
	INTEGER(struct news_item, question_id),
	TEXT(struct news_item, text),
	TEXT(struct news_item, question),
	TIME(struct news_item, at_ms),
	INTEGER(struct news_item, is_new),
};
#define IS_NEW(at) \
	"COALESCE(viewer.id IS NOT NULL AND " at " > " SQL_SEEN_UNTIL( \
		"viewer.id", "l.id") " AND " SQL_IS_CONTESTANT("viewer.id", "l.id") ", FALSE)"
#define OF_CONTEST \
	"FROM contest_problems p JOIN leaderboards l ON l.id = p.leaderboard_id AND " SQL_MAY_SEE( \
		"l") " LEFT JOIN users viewer ON viewer.id = ? "
const struct statement news_reading = SELECT(struct news_item, NEWS_COLUMNS,
	"SELECT l.name AS leaderboard, q.id AS question_id, q.answer AS text, q.text AS question, "
	"q.answered_at AS at_ms, COALESCE(" SQL_IS_NEWS("q", "viewer.id") ", FALSE) AND " IS_NEW(
		"q.answered_at") " AS is_new " OF_CONTEST
						 "JOIN questions q ON q.leaderboard_id = l.id AND q.for_all "
						 "AND q.answered_at IS NOT NULL WHERE p.contest_id = ? "
						 "UNION ALL SELECT l.name, NULL, a.text, NULL, a.from_at, " IS_NEW(
							 "a.from_at") " " OF_CONTEST
										  "JOIN announcements a ON a.leaderboard_id = l.id "
										  "AND " SQL_IS_ANNOUNCED(
											  "a") " WHERE p.contest_id = ? "
												   "ORDER BY at_ms DESC, question_id DESC LIMIT ?");

/* ---- what is unread ---- */

/* SQL expression: the name of a contest of the person whose standings are not final and that has
 * unread news; NULL: there is none. */
#define NEWS_FROM(person, entrants, is_own) \
	"(SELECT STRAIGHT_JOIN c.name FROM " entrants \
	" JOIN contests c ON c.id = e.contest_id AND c.final_at IS NULL " \
	"JOIN contest_problems p ON p.contest_id = c.id JOIN leaderboards l " \
	"ON l.id = p.leaderboard_id AND l.visibility <> 'hidden' WHERE " is_own \
	" AND " SQL_UNREAD_NEWS(person, "l.id") " > 0 LIMIT 1)"
#define CONTEST_WITH_NEWS(person) \
	"COALESCE(" NEWS_FROM(person, "contest_entrants e", "e.user_id = " person) ", " NEWS_FROM( \
		person, \
		"team_members pal JOIN contest_entrants e ON e.contest_id = pal.contest_id " \
		"AND e.user_id = pal.team_id", \
		"pal.user_id = " person) ")"

static const struct column CONTEST_COLUMNS[] = { TEXT(struct news_contest, name) };
const struct statement news_contest_reading = SELECT(struct news_contest, CONTEST_COLUMNS,
	"SELECT " CONTEST_WITH_NEWS("u.id") " AS name FROM users u WHERE u.id = ?");

/* ---- marking as read ---- */

static const struct statement MARK_READ =
	COMMAND("INSERT INTO news_seen (user_id, leaderboard_id, seen_until) "
			"SELECT u.id, l.id, LEAST(UTC_TIMESTAMP(3), ?) FROM users u JOIN leaderboards l "
			"ON l.id = ? WHERE u.id = ? AND " SQL_IS_CONTESTANT(
				"u.id", "l.id") " ON DUPLICATE KEY UPDATE seen_until = GREATEST(seen_until, "
								"VALUES(seen_until))");

int news_mark_read(struct database *db, int64_t leaderboard_id, int64_t user_id, int64_t until_ms,
	struct error *error)
{
	return database_execute(db, &MARK_READ, error, "tii", until_ms, leaderboard_id, user_id);
}
