/* Questions of participants about a leaderboard, and the answers of those who run it (SQL_ANSWERS
 * in lib/leaderboard/visibility.h). An answer is for who asked, or for everybody who sees the
 * leaderboard; then nobody else learns who asked. The leaderboard's page "Questions", /api/v1 and
 * podium-admin use these functions. */
#ifndef PODIUM_LIB_QUESTION_QUESTION_H
#define PODIUM_LIB_QUESTION_QUESTION_H

#include "lib/account/audit.h"
#include "lib/base/arena.h"
#include "lib/base/error.h"
#include "lib/database/database.h"
#include "lib/leaderboard/leaderboard.h"
#include "lib/news/news.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
	question_most_bytes = 2000,
	question_most_open = 5, /* of one user on one leaderboard */
	questions_per_page = 50
};

struct question {
	int64_t id, leaderboard_id;
	const char *leaderboard;
	const char *asker; /* NULL: the viewer may not know it */
	const char *text;
	int64_t asked_at_ms;
	const char *answer, *answerer; /* NULL: there is no answer; answerer NULL: podium-admin */
	int64_t answered_at_ms;        /* TIME_NULL: there is no answer */
	int64_t for_all, is_own, is_unseen, may_answer; /* is_unseen: see news.h, too */
};

enum questions_chosen { QUESTIONS_ALL, QUESTIONS_OPEN, QUESTIONS_ANSWERED };

/* Reads the questions of a leaderboard that the viewer (0: not signed in) may read, newest first,
 * before question `before` (INT64_MAX: all), at most `most`. The caller checks that the viewer sees
 * the leaderboard. */
int questions_list(struct database *db, struct arena *arena, int64_t leaderboard_id,
	int64_t viewer_id, enum questions_chosen chosen, int64_t before, int64_t most,
	struct question **questions, size_t *count, struct error *error);

/* Reads a question. ERROR_NOT_FOUND also if the viewer may not read it. */
int question_find(struct database *db, struct arena *arena, int64_t id, int64_t viewer_id,
	struct question *question, struct error *error);

/* The name of a question's leaderboard, without a viewer: for podium-admin. */
int question_leaderboard(struct database *db, struct arena *arena, int64_t id,
	const char **leaderboard, struct error *error);

/* The questions without an answer of the leaderboards that a user may answer, the oldest first: a
 * part of a bundle with one parameter, the user. Each row is a struct open_questions. */
struct open_questions {
	const char *leaderboard;
	int64_t count, since_ms;
};
extern const struct statement questions_open_reading;

/* The same without a viewer, for podium-admin, of one leaderboard or ("") of all. */
int questions_open(struct database *db, struct arena *arena, const char *leaderboard,
	struct question **questions, size_t *count, struct error *error);

/* Asks in the name of `asker`, and tells those who answer. ERROR_INPUT with the field `text`;
 * ERROR_LIMIT: question_most_open questions wait already; ERROR_CONFLICT: the leaderboard is
 * archived. */
int question_send(struct database *db, const struct leaderboard *leaderboard, const char *text,
	const struct actor *asker, int64_t *id, struct error *error);

struct question_answering {
	int64_t id;
	const char *leaderboard;
	const char *text;
	bool for_all;
	/* The time of the answer that this one replaces; TIME_NULL: none. Ignored if replaces_any. */
	int64_t replaces_ms;
	bool replaces_any;
	const struct actor *by;
};

/* Stores an answer, tells who asked, and writes an audit entry. The caller checks who may.
 * ERROR_INPUT with the field `answer`; ERROR_CONFLICT: somebody else answered meanwhile. */
int question_answer(
	struct database *db, const struct question_answering *answering, struct error *error);

/* The user has read the answers to the own questions on this leaderboard, and its news
 * (lib/news/news.h), up to a time. */
int questions_mark_read(struct database *db, int64_t leaderboard_id, int64_t user_id,
	int64_t until_ms, struct error *error);

/* Parts of a statement: how many things wait for the viewer on a leaderboard, as answers to read,
 * and also as news to read or questions to answer. The second costs more. SQL_UNSEEN_ANSWERS has
 * one `?`, the other two, all of them the viewer. */
#define SQL_UNSEEN_BY(person, leaderboard) \
	"(SELECT COUNT(*) FROM questions asked WHERE asked.user_id = " person " AND asked.unseen " \
	"AND asked.leaderboard_id = " leaderboard ".id)"
#define SQL_UNSEEN_ANSWERS(leaderboard) SQL_UNSEEN_BY("?", leaderboard)
#define SQL_UNREAD_QUESTIONS(leaderboard) \
	"(COALESCE((SELECT " SQL_UNSEEN_BY("me.id", leaderboard) " + IF(" SQL_IS_CONTESTANT( \
		"me.id", leaderboard ".id") ", " SQL_UNREAD_NEWS("me.id", \
		leaderboard \
		".id") ", 0) " \
			   "FROM users me WHERE me.id = ?), 0) + IF(" SQL_MAY_ANSWER( \
				   leaderboard) ", (SELECT COUNT(*) " \
								"FROM questions open WHERE open.leaderboard_id = " leaderboard \
								".id " \
								"AND open.answered_at IS NULL), 0))"

#endif
