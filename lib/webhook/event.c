#include "lib/webhook/event.h"

#include "lib/base/arena.h"
#include "lib/base/scope.h"

/* A time in JSON's usual form (ISO 8601). */
#define ISO(time) "CONCAT(LEFT(DATE_FORMAT(" time ", '%Y-%m-%dT%H:%i:%s.%f'), 23), 'Z')"

/* The active webhooks `h` that receive this event of leaderboard `l`. */
#define SUBSCRIBERS(event) \
	"webhooks h WHERE h.state = 'active' AND FIND_IN_SET('" event \
	"', h.events) AND " SQL_MAY_HEAR("h", "l")

#define OF_JOB \
	"FROM jobs j JOIN submissions s ON s.id = j.submission_id " \
	"JOIN leaderboards l ON l.id = s.leaderboard_id JOIN users u ON u.id = s.user_id "
#define TELL(event, leaderboard, job, data, from) \
	COMMAND("INSERT INTO webhook_events (event, leaderboard_id, job_id, data) SELECT '" event \
			"', " leaderboard ", " job ", JSON_OBJECT(" data ") " from \
			"AND EXISTS (SELECT 1 FROM " SUBSCRIBERS(event) ")")
#define DELIVER(event) \
	COMMAND("INSERT INTO webhook_deliveries (webhook_id, event_id) SELECT h.id, e.id " \
			"FROM webhook_events e JOIN leaderboards l ON l.id = e.leaderboard_id " \
			"JOIN " SUBSCRIBERS(event) " AND e.id = ?")

/* The statements for one event. `tell` writes the event if a webhook wants it. `deliver` then
 * queues the deliveries of this event. */
struct event_statements {
	struct statement tell, deliver;
};

/* Anybody may read what a webhook sends, so the event leaves out a verdict that a freeze withholds.
 */
#define IS_WITHHELD SQL_IS_WITHHELD("l", "j")
static const struct event_statements JOB_DONE = {
	TELL("job", "l.id", "j.id",
		"'leaderboard', l.name, 'submission', s.id, 'user', u.name, 'mode', s.mode, 'gpu', j.gpu, "
		"'verdict', IF(" IS_WITHHELD ", NULL, j.verdict), 'practice', IF(s.practice, TRUE, FALSE)",
		OF_JOB "WHERE j.id = ? AND j.state IN ('done', 'failed') AND " SQL_MAY_BE_TOLD("s") " "),
	DELIVER("job"),
};

#define JOIN_RANKING \
	"JOIN ranking r ON r.leaderboard_id = s.leaderboard_id " \
	"AND r.task_version_id = s.task_version_id AND r.gpu = j.gpu AND r.user_id = s.user_id "
/* Joins the time of the result's file, which counts as the time of the result
 * (lib/ranking/file_time.h). */
#define JOIN_FILE \
	"JOIN file_times f ON f.task_version_id = s.task_version_id AND f.gpu = j.gpu " \
	"AND f.sha256 = s.file_sha256 "
#define FILE_DATA "'score_ns', f.score_ns, 'score_err_ns', f.score_err_ns, 'results', f.results"
static const struct event_statements RANKED = {
	TELL("ranked", "l.id", "j.id",
		"'leaderboard', l.name, 'submission', s.id, 'user', u.name, 'gpu', j.gpu, " FILE_DATA
		", 'rank', r.place, "
		"'tie', IF(r.tied, TRUE, FALSE), 'rank_before', j.place_before, "
		"'best_before_ns', j.best_before_ns, "
		"'is_personal_best', IF(r.file_id = f.id, TRUE, FALSE)",
		OF_JOB JOIN_RANKING JOIN_FILE "WHERE j.id = ? AND " SQL_IS_RANKED("s", "j") " "),
	DELIVER("ranked"),
};

/* BEFORE finds the record before this job's. In line 0 of the table `records`, times fall from
 * record to record, so the fastest row of another job is the previous record. */
#define LINE(record) \
	record ".leaderboard_id = s.leaderboard_id AND " record \
		   ".task_version_id = s.task_version_id AND " record ".gpu = j.gpu AND " record \
		   ".line = 0 "
#define BEFORE(what, from) \
	"(SELECT " what " FROM records b " from \
	"WHERE " LINE("b") "AND b.job_id <> j.id ORDER BY b.score_ns LIMIT 1)"
#define USER_BEFORE BEFORE("w.name", "JOIN users w ON w.id = b.user_id ")
#define SCORE_BEFORE BEFORE("b.score_ns", "")
#define ERR_BEFORE \
	BEFORE("p.score_err_ns", \
		"JOIN submissions o ON o.id = b.submission_id JOIN file_times p " \
		"ON p.task_version_id = o.task_version_id AND p.gpu = b.gpu AND p.sha256 = " \
		"o.file_sha256 ")
/* The user of a record is the first one who sent the file. */
#define JOIN_RECORD \
	"JOIN records e ON e.job_id = j.id AND e.line = 0 JOIN users holder ON holder.id = e.user_id "
static const struct event_statements RECORD = {
	TELL("record", "l.id", "j.id",
		"'leaderboard', l.name, 'submission', COALESCE(e.held_id, e.submission_id), 'user', "
		"holder.name, 'gpu', "
		"j.gpu, " FILE_DATA ", 'user_before', " USER_BEFORE ", "
		"'score_before_ns', " SCORE_BEFORE ", 'score_err_before_ns', " ERR_BEFORE,
		OF_JOB JOIN_FILE JOIN_RECORD "WHERE j.id = ? AND " SQL_IS_RANKED("s", "j") " "),
	DELIVER("record"),
};

#define DEADLINE "IF(l.deadline IS NULL, NULL, " ISO("l.deadline") ")"
#define LEADERBOARD_DATA \
	"'leaderboard', l.name, 'deadline', " DEADLINE ", " \
	"'gpus', COALESCE((SELECT JSON_ARRAYAGG(g.gpu ORDER BY g.position) " \
	"FROM leaderboard_gpus g WHERE g.leaderboard_id = l.id), JSON_ARRAY())"
#define REASON_OF_END \
	", 'because', CASE WHEN l.deadline <= UTC_TIMESTAMP(3) THEN 'deadline' " \
	"WHEN l.archived_at IS NOT NULL THEN 'archived' ELSE 'closed' END"
static const struct event_statements OPENED = {
	TELL("opened", "l.id", "NULL", LEADERBOARD_DATA, "FROM leaderboards l WHERE l.id = ? "),
	DELIVER("opened"),
}, ENDED = {
	TELL("ended", "l.id", "NULL",
		LEADERBOARD_DATA REASON_OF_END,
		"FROM leaderboards l WHERE l.id = ? "),
	DELIVER("ended"),
};

static int write_event(struct database *db, const struct event_statements *event,
	int64_t subject_id, struct error *error)
{
	int rc = database_execute(db, &event->tell, error, "i", subject_id);
	if (rc || !database_affected(db))
		return rc;
	return database_execute(db, &event->deliver, error, "i", (int64_t)database_insert_id(db));
}

int webhook_tell_job(struct database *db, int64_t job_id, struct error *error)
{
	return write_event(db, &JOB_DONE, job_id, error);
}

int webhook_tell_ranked(struct database *db, int64_t job_id, struct error *error)
{
	int rc = write_event(db, &RANKED, job_id, error);
	return rc ? rc : write_event(db, &RECORD, job_id, error);
}

/* ---- questions ---- */

#define OF_QUESTION "FROM questions q JOIN leaderboards l ON l.id = q.leaderboard_id "
static const struct event_statements ASKED = {
	TELL("asked", "l.id", "NULL", "'leaderboard', l.name, 'question', q.id",
		OF_QUESTION "WHERE q.id = ? "),
	DELIVER("asked"),
}, ANSWERED = {
	TELL("answered", "l.id", "NULL",
		"'leaderboard', l.name, 'question', q.id, 'text', q.text, 'answer', q.answer",
		OF_QUESTION "WHERE q.id = ? AND q.for_all "),
	DELIVER("answered"),
};

int webhook_tell_asked(struct database *db, int64_t question_id, struct error *error)
{
	return write_event(db, &ASKED, question_id, error);
}

int webhook_tell_answered(struct database *db, int64_t question_id, struct error *error)
{
	return write_event(db, &ANSWERED, question_id, error);
}

/* ---- announcements ---- */

static const struct event_statements ANNOUNCED = {
	TELL("announced", "l.id", "NULL", "'leaderboard', l.name, 'announcement', n.id, 'text', n.text",
		"FROM announcements n JOIN leaderboards l ON l.id = n.leaderboard_id WHERE n.id = ? "),
	DELIVER("announced"),
};

int webhook_tell_announced(struct database *db, int64_t announcement_id, struct error *error)
{
	return write_event(db, &ANNOUNCED, announcement_id, error);
}

/* ---- opened and ended ---- */

struct changed {
	int64_t id, is_open, is_hidden;
};
static const struct column CHANGED_COLUMNS[] = {
	INTEGER(struct changed, id),
	INTEGER(struct changed, is_open),
	INTEGER(struct changed, is_hidden),
};
#define IS_OPEN SQL_IS_OPEN("l")
static const struct statement CHANGED_LEADERBOARDS = SELECT(struct changed, CHANGED_COLUMNS,
	"SELECT l.id, " IS_OPEN " AS is_open, l.visibility = 'hidden' AS is_hidden "
	"FROM leaderboards l LEFT JOIN webhook_told t ON t.leaderboard_id = l.id "
	"WHERE COALESCE(t.is_open, FALSE) <> " IS_OPEN " LIMIT 100");
static const struct statement INSERT_STATE =
	COMMAND("INSERT IGNORE INTO webhook_told (leaderboard_id, is_open) VALUES (?, FALSE)");
static const struct statement UPDATE_STATE =
	COMMAND("UPDATE webhook_told SET is_open = ? WHERE leaderboard_id = ? AND is_open <> ?");

/* Hiding a leaderboard writes no event, because it has not ended. If several programs check, only
 * one of them sees the UPDATE change the row. */
static int tell_change(struct database *db, void *context, struct error *error)
{
	const struct changed *changed = context;
	int rc = database_execute(db, &INSERT_STATE, error, "i", changed->id);
	if (!rc)
		rc = database_execute(
			db, &UPDATE_STATE, error, "iii", changed->is_open, changed->id, changed->is_open);
	if (rc || changed->is_hidden || !database_affected(db))
		return rc;
	return write_event(db, changed->is_open ? &OPENED : &ENDED, changed->id, error);
}

int webhook_tell_changes(struct database *db, struct error *error)
{
	cleanup_arena struct arena *arena = arena_new();
	struct changed *changed;
	size_t count = 0;
	int rc = database_rows(db, arena, &CHANGED_LEADERBOARDS, &changed, &count, error, "");
	for (size_t i = 0; i < count && !rc; i++)
		rc = database_transaction(db, tell_change, &changed[i], error);
	return rc;
}

/* ---- contests ---- */

#define CONTEST_DATA \
	"'contest', c.name, 'title', c.title, 'starts_at', " ISO("c.starts_at") ", 'ends_at', " ISO( \
		"c.ends_at")
/* Chooses the problem that stands for the contest: the first public one, else the first that is not
 * hidden. */
#define FROM_CONTEST \
	"FROM contests c JOIN leaderboards l ON l.id = (SELECT p.leaderboard_id " \
	"FROM contest_problems p JOIN leaderboards b ON b.id = p.leaderboard_id " \
	"WHERE p.contest_id = c.id AND b.visibility <> 'hidden' " \
	"ORDER BY b.visibility <> 'public', p.position LIMIT 1) WHERE c.id = ? "
#define CONTEST_EVENT(event) \
	{ \
		TELL(event, "l.id", "NULL", CONTEST_DATA, FROM_CONTEST), DELIVER(event) \
	}
static const struct event_statements CONTEST_EVENTS[] = {
	[WEBHOOK_CONTEST_STARTED] = CONTEST_EVENT("contest_started"),
	[WEBHOOK_CONTEST_ENDED] = CONTEST_EVENT("contest_ended"),
	[WEBHOOK_STANDINGS_FINAL] = CONTEST_EVENT("standings_final"),
};

int webhook_tell_contest(
	struct database *db, enum webhook_contest_event event, int64_t contest_id, struct error *error)
{
	return write_event(db, &CONTEST_EVENTS[event], contest_id, error);
}
