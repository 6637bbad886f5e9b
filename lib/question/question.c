#include "lib/question/question.h"

#include "lib/base/scope.h"
#include "lib/leaderboard/visibility.h"
#include "lib/mail/mail.h"
#include "lib/webhook/event.h"

#include <string.h>

/* ---- reading ---- */

static const struct column QUESTION_COLUMNS[] = {
	INTEGER(struct question, id),
	INTEGER(struct question, leaderboard_id),
	TEXT(struct question, leaderboard),
	TEXT(struct question, asker),
	TEXT(struct question, text),
	TIME(struct question, asked_at_ms),
	TEXT(struct question, answer),
	TEXT(struct question, answerer),
	TIME(struct question, answered_at_ms),
	INTEGER(struct question, for_all),
	INTEGER(struct question, is_own),
	INTEGER(struct question, is_unseen),
	INTEGER(struct question, may_answer),
};
#define FIELDS(asker, is_own, is_unseen, may_answer) \
	"SELECT q.id, q.leaderboard_id, l.name AS leaderboard, " asker \
	" AS asker, q.text, q.asked_at AS asked_at_ms, q.answer, w.name AS answerer, " \
	"q.answered_at AS answered_at_ms, q.for_all, " is_own " AS is_own, " is_unseen \
	" AS is_unseen, " may_answer " AS may_answer "
#define FROM_QUESTIONS \
	"FROM questions q JOIN leaderboards l ON l.id = q.leaderboard_id " \
	"JOIN users u ON u.id = q.user_id LEFT JOIN users w ON w.id = q.answered_by "
/* Joins the viewer's row, so that the statement needs only one `?` for it. For a visitor who is not
 * signed in, the row is NULL. */
#define JOIN_VIEWER "LEFT JOIN users viewer ON viewer.id = ? "
#define ANSWERS "COALESCE(" SQL_ANSWERS("viewer", "l") ", FALSE)"
#define IS_OWN "COALESCE(q.user_id = viewer.id, FALSE)"
#define IS_UNSEEN \
	"COALESCE((" IS_OWN " AND q.unseen) OR " SQL_IS_UNREAD("q", "viewer", "l") ", FALSE)"
#define FOR_VIEWER \
	FIELDS("IF(" ANSWERS " OR " IS_OWN ", u.name, NULL)", IS_OWN, IS_UNSEEN, ANSWERS) \
	FROM_QUESTIONS JOIN_VIEWER
#define MAY_READ "(q.for_all OR " IS_OWN " OR " ANSWERS ")"
#define LIST(condition) \
	SELECT(struct question, QUESTION_COLUMNS, \
		FOR_VIEWER "WHERE q.leaderboard_id = ? AND q.id < ? AND " MAY_READ condition \
				   " ORDER BY q.id DESC LIMIT ?")
static const struct statement LISTS[] = {
	[QUESTIONS_ALL] = LIST(""),
	[QUESTIONS_OPEN] = LIST(" AND q.answered_at IS NULL"),
	[QUESTIONS_ANSWERED] = LIST(" AND q.answered_at IS NOT NULL"),
};

int questions_list(struct database *db, struct arena *arena, int64_t leaderboard_id,
	int64_t viewer_id, enum questions_chosen chosen, int64_t before, int64_t most,
	struct question **questions, size_t *count, struct error *error)
{
	return database_rows(db, arena, &LISTS[chosen], questions, count, error, "iiii", viewer_id,
		leaderboard_id, before, most);
}

static const struct statement ONE = SELECT(struct question, QUESTION_COLUMNS,
	FOR_VIEWER "WHERE q.id = ? AND " MAY_READ " AND " SQL_MAY_SEE("l"));

int question_find(struct database *db, struct arena *arena, int64_t id, int64_t viewer_id,
	struct question *question, struct error *error)
{
	int rc = database_row(db, arena, &ONE, question, error, "iii", viewer_id, id, viewer_id);
	return rc == ERROR_NOT_FOUND ? fail(error, rc, "There is no question with this number.") : rc;
}

struct question_place {
	const char *leaderboard;
};
static const struct column PLACE_COLUMNS[] = { TEXT(struct question_place, leaderboard) };
static const struct statement PLACE = SELECT(struct question_place, PLACE_COLUMNS,
	"SELECT l.name AS leaderboard FROM questions q JOIN leaderboards l ON l.id = q.leaderboard_id "
	"WHERE q.id = ?");

int question_leaderboard(struct database *db, struct arena *arena, int64_t id,
	const char **leaderboard, struct error *error)
{
	struct question_place place;
	int rc = database_row(db, arena, &PLACE, &place, error, "i", id);
	if (rc)
		return rc == ERROR_NOT_FOUND ? fail(error, rc, "There is no question with this number.")
									 : rc;
	*leaderboard = place.leaderboard;
	return 0;
}

static const struct column OPEN_COLUMNS[] = {
	TEXT(struct open_questions, leaderboard),
	INTEGER(struct open_questions, count),
	TIME(struct open_questions, since_ms),
};
const struct statement questions_open_reading = SELECT(struct open_questions, OPEN_COLUMNS,
	"SELECT l.name AS leaderboard, COUNT(*) AS count, MIN(q.asked_at) AS since_ms "
	"FROM users viewer JOIN leaderboards l ON " SQL_ANSWERS(
		"viewer", "l") " JOIN questions q FORCE INDEX (questions_open) ON q.leaderboard_id = l.id "
					   "AND q.answered_at IS NULL WHERE viewer.id = ? GROUP BY l.id ORDER BY "
					   "since_ms LIMIT 100");

static const struct statement OPEN = SELECT(struct question, QUESTION_COLUMNS,
	FIELDS("u.name", "FALSE", "FALSE", "TRUE") FROM_QUESTIONS
	"WHERE ? IN ('', l.name) AND q.answered_at IS NULL ORDER BY q.id LIMIT 1000");

int questions_open(struct database *db, struct arena *arena, const char *leaderboard,
	struct question **questions, size_t *count, struct error *error)
{
	return database_rows(db, arena, &OPEN, questions, count, error, "s", leaderboard);
}

/* ---- asking ---- */

/* Counts the user's open questions in the same statement. Two questions that arrive at the same
 * moment may exceed the limit by one, which does no harm. */
static const struct statement ASK =
	COMMAND("INSERT INTO questions (leaderboard_id, user_id, text) SELECT ?, u.id, ? FROM users u "
			"WHERE u.id = ? AND (SELECT COUNT(*) FROM questions q FORCE INDEX (questions_open) "
			"  WHERE q.leaderboard_id = ? AND q.answered_at IS NULL AND q.user_id = u.id) < ?");

struct asking {
	const struct leaderboard *leaderboard;
	const char *text;
	const struct actor *asker;
	int64_t id;
};

static int ask(struct database *db, void *context, struct error *error)
{
	struct asking *asking = context;
	int64_t leaderboard_id = asking->leaderboard->id;
	int rc = database_execute(db, &ASK, error, "isiii", leaderboard_id, asking->text,
		asking->asker->id, leaderboard_id, (int64_t)question_most_open);
	if (!rc && !database_affected(db))
		rc = fail(error, ERROR_LIMIT,
			"%d of your questions wait for an answer on this leaderboard. Wait until one is "
			"answered.",
			question_most_open);
	asking->id = (int64_t)database_insert_id(db);
	if (!rc)
		rc = mail_tell_asked(db, asking->id, error);
	return rc ? rc : webhook_tell_asked(db, asking->id, error);
}

static int check_text(const char *field, const char *what, const char *text, struct error *error)
{
	size_t length = strlen(text);
	if (!text[strspn(text, " \t\r\n")])
		return fail_field(error, field, "Write the %s.", what);
	return length <= question_most_bytes
		? 0
		: fail_field(error, field, "The %s is %zu bytes long. %d are allowed.", what, length,
			question_most_bytes);
}

int question_send(struct database *db, const struct leaderboard *leaderboard, const char *text,
	const struct actor *asker, int64_t *id, struct error *error)
{
	struct asking asking = { leaderboard, text, asker, 0 };
	int rc = check_text("text", "question", text, error);
	if (!rc && leaderboard->archived_at_ms != TIME_NULL)
		rc = fail(error, ERROR_CONFLICT,
			"The leaderboard is archived, and nobody answers questions about it any more.");
	if (!rc)
		rc = database_transaction(db, ask, &asking, error);
	*id = asking.id;
	return rc;
}

/* ---- answering ---- */

static const struct statement ANSWER =
	COMMAND("UPDATE questions SET answer = ?, answered_at = GREATEST(UTC_TIMESTAMP(3), "
			"COALESCE(answered_at + INTERVAL 1000 MICROSECOND, UTC_TIMESTAMP(3))), "
			"answered_by = ?, for_all = ?, unseen = TRUE "
			"WHERE id = ? AND (? OR answered_at <=> ?)");

static int answer(struct database *db, void *context, struct error *error)
{
	const struct question_answering *answering = context;
	const struct actor *by = answering->by;
	int rc = database_execute(db, &ANSWER, error, "siiiit", answering->text,
		by->id ? by->id : SQL_NULL_INTEGER, (int64_t)answering->for_all, answering->id,
		(int64_t)answering->replaces_any, answering->replaces_ms);
	if (!rc && !database_affected(db))
		rc = fail(error, ERROR_CONFLICT,
			"Somebody else has answered this question meanwhile. Read that answer first.");
	if (!rc)
		rc = mail_tell_answered(db, answering->id, error);
	if (!rc && answering->for_all)
		rc = webhook_tell_answered(db, answering->id, error);
	if (rc)
		return rc;
	cleanup_arena struct arena *arena = arena_new();
	return audit(db, by->id, by->name, by->address, "question.answer", answering->leaderboard,
		arena_printf(arena, "Question %lld, %s: %s", (long long)answering->id,
			answering->for_all ? "for all" : "for who asked", answering->text),
		error);
}

int question_answer(
	struct database *db, const struct question_answering *answering, struct error *error)
{
	struct question_answering copy = *answering;
	int rc = check_text("answer", "answer", answering->text, error);
	return rc ? rc : database_transaction(db, answer, &copy, error);
}

static const struct statement MARK_READ =
	COMMAND("UPDATE questions SET unseen = FALSE WHERE leaderboard_id = ? AND user_id = ? "
			"AND answered_at <= ?");

int questions_mark_read(struct database *db, int64_t leaderboard_id, int64_t user_id,
	int64_t until_ms, struct error *error)
{
	int rc = database_execute(db, &MARK_READ, error, "iit", leaderboard_id, user_id, until_ms);
	return rc ? rc : news_mark_read(db, leaderboard_id, user_id, until_ms, error);
}
