/* Questions of participants about a leaderboard, and the answers of those who run it (SQL_ANSWERS
 * in lib/leaderboard/visibility.h). An answer is either for the asker alone or for everybody who
 * sees the leaderboard. Only the asker and those who run the leaderboard learn who asked. The
 * leaderboard's page "Questions", /api/v1 and podium-admin use these functions. */
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
	/* NULL: there is no answer. answerer is also NULL if podium-admin answered. */
	const char *answer, *answerer;
	int64_t answered_at_ms; /* TIME_NULL: there is no answer */
	/* is_unseen: an answer that the viewer has not read, to the viewer's own question or as news
	 * (lib/news/news.h) */
	int64_t for_all, is_own, is_unseen, may_answer;
};

enum questions_chosen { QUESTIONS_ALL, QUESTIONS_OPEN, QUESTIONS_ANSWERED };

/* Lists the questions of a leaderboard that the viewer may read, newest first. Reads at most
 * `most`, with numbers below `before` (INT64_MAX: from the newest). `viewer_id` 0: not signed in.
 * The caller checks that the viewer sees the leaderboard. */
int questions_list(struct database *db, struct arena *arena, int64_t leaderboard_id,
	int64_t viewer_id, enum questions_chosen chosen, int64_t before, int64_t most,
	struct question **questions, size_t *count, struct error *error);

/* Reads a question. ERROR_NOT_FOUND also if the viewer may not read it. */
int question_find(struct database *db, struct arena *arena, int64_t id, int64_t viewer_id,
	struct question *question, struct error *error);

/* Finds the name of a question's leaderboard, for podium-admin, which has no viewer.
 * ERROR_NOT_FOUND: there is no such question. */
int question_leaderboard(struct database *db, struct arena *arena, int64_t id,
	const char **leaderboard, struct error *error);

/* For each leaderboard whose questions a user may answer: the number of open questions, and since
 * when the oldest waits. Sorted by that time. A statement for a bundle with one parameter, the
 * user. Each row is a struct open_questions. */
struct open_questions {
	const char *leaderboard;
	int64_t count, since_ms;
};
extern const struct statement questions_open_reading;

/* Lists the questions without an answer, for podium-admin: of one leaderboard, or of all if
 * `leaderboard` is "". */
int questions_open(struct database *db, struct arena *arena, const char *leaderboard,
	struct question **questions, size_t *count, struct error *error);

/* Stores a question of `asker`, and notifies those who may answer. ERROR_INPUT with the field
 * `text`. ERROR_LIMIT: the asker has question_most_open open questions there. ERROR_CONFLICT: the
 * leaderboard is archived. */
int question_send(struct database *db, const struct leaderboard *leaderboard, const char *text,
	const struct actor *asker, int64_t *id, struct error *error);

struct question_answering {
	int64_t id;
	const char *leaderboard;
	const char *text;
	bool for_all;
	/* answered_at_ms of the answer that this one replaces; TIME_NULL: there was none. Not used if
	 * replaces_any. */
	int64_t replaces_ms;
	bool replaces_any;
	const struct actor *by;
};

/* Stores an answer, notifies the asker, and writes an audit entry. If the answer is for all, also
 * notifies contestants and webhooks. The caller checks the right. ERROR_INPUT with the field
 * `answer`. ERROR_CONFLICT: somebody else has answered meanwhile. */
int question_answer(
	struct database *db, const struct question_answering *answering, struct error *error);

/* Marks as read, up to a time: the answers to the user's own questions on this leaderboard, and its
 * news (lib/news/news.h). */
int questions_mark_read(struct database *db, int64_t leaderboard_id, int64_t user_id,
	int64_t until_ms, struct error *error);

/* SQL expressions. SQL_UNSEEN_ANSWERS is the number of unread answers to the viewer's own questions
 * on a leaderboard; SQL_UNSEEN_BY is the same for another person. SQL_UNREAD_QUESTIONS adds unread
 * news, and open questions that the viewer may answer; it costs more. Each `?` is the viewer: one
 * in SQL_UNSEEN_ANSWERS, two in SQL_UNREAD_QUESTIONS. */
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
