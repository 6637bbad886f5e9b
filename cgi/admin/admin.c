/* The admin panel: an overview for creators and admins, and the audit log for admins. */
#include "cgi/admin/admin.h"

#include "cgi/http/notice.h"
#include "cgi/http/paging.h"
#include "cgi/page/pages.h"
#include "lib/base/format.h"
#include "lib/base/scope.h"
#include "lib/base/text.h"
#include "lib/fleet/fleet.h"
#include "lib/fleet/quarantine.h"
#include "lib/intake/intake.h"
#include "lib/judging/internal_error.h"
#include "lib/leaderboard/freeze.h"
#include "lib/leaderboard/leaderboard.h"
#include "lib/leaderboard/publication.h"
#include "lib/leaderboard/visibility.h"
#include "lib/question/question.h"
#include "lib/webhook/webhook.h"
#include "templates/admin.h"
#include "templates/admin_audit.h"

#include <string.h>

enum { most_looked = 10000 };

/* ---- the overview ---- */

static const struct column LEADERBOARD_COLUMNS[] = {
	INTEGER(struct admin_leaderboard, id),
	TEXT(struct admin_leaderboard, name),
	TEXT(struct admin_leaderboard, creator),
	INTEGER(struct admin_leaderboard, right),
	TIME(struct admin_leaderboard, deadline_ms),
	INTEGER(struct admin_leaderboard, ended),
	INTEGER(struct admin_leaderboard, accepting),
	INTEGER(struct admin_leaderboard, practice),
	INTEGER(struct admin_leaderboard, is_frozen),
	INTEGER(struct admin_leaderboard, archived),
	TEXT(struct admin_leaderboard, visibility),
	INTEGER(struct admin_leaderboard, version),
	INTEGER(struct admin_leaderboard, submissions),
	TEXT(struct admin_leaderboard, gpus),
	TEXT(struct admin_leaderboard, missing),
};
#define RIGHT SQL_RIGHT("l")
#define IS_FROZEN SQL_IS_FROZEN("l")
#define MAY_SEE_LEADERBOARD SQL_MAY_SEE("l")
static const struct statement LEADERBOARDS = SELECT(struct admin_leaderboard, LEADERBOARD_COLUMNS,
	"SELECT l.id, l.name, u.name AS creator, " RIGHT " AS `right`, l.deadline AS deadline_ms, "
	"COALESCE(l.deadline <= UTC_TIMESTAMP(3), 0) AS ended, l.accepting, l.practice, " IS_FROZEN
	" AS is_frozen, l.archived_at IS NOT NULL "
	"AS archived, l.visibility, v.number AS version, "
	"COALESCE(c.submissions, 0) AS submissions, "
	"(SELECT GROUP_CONCAT(g.gpu ORDER BY g.position SEPARATOR ', ') FROM leaderboard_gpus g "
	"WHERE g.leaderboard_id = l.id) AS gpus, "
	"(SELECT GROUP_CONCAT(g.gpu ORDER BY g.position SEPARATOR ', ') FROM leaderboard_gpus g "
	"WHERE g.leaderboard_id = l.id AND NOT EXISTS (SELECT 1 FROM gpus o WHERE o.model = g.gpu "
	"AND o.seen_at" SQL_IS_ONLINE ")) AS missing "
	"FROM leaderboards l JOIN task_versions v ON v.id = l.task_version_id "
	"LEFT JOIN users u ON u.id = l.creator_id "
	"LEFT JOIN leaderboard_counts c ON c.leaderboard_id = l.id WHERE " MAY_SEE_LEADERBOARD
	" ORDER BY ended, `right` >= 2 DESC, l.name");

static const struct column WORKER_COLUMNS[] = {
	INTEGER(struct admin_worker, id),
	TEXT(struct admin_worker, name),
	TEXT(struct admin_worker, version),
	TIME(struct admin_worker, started_at_ms),
	TIME(struct admin_worker, seen_at_ms),
	INTEGER(struct admin_worker, online),
	INTEGER(struct admin_worker, running),
	INTEGER(struct admin_worker, warnings),
	INTEGER(struct admin_worker, faults),
	TEXT(struct admin_worker, faulty),
	INTEGER(struct admin_worker, pause),
	INTEGER(struct admin_worker, full_disks),
};
#define WORKER_PAUSE SQL_PAUSE("w.name", "''")
static const struct statement WORKERS = SELECT(struct admin_worker, WORKER_COLUMNS,
	"SELECT w.id, w.name, w.version, w.started_at AS started_at_ms, w.seen_at AS seen_at_ms, "
	"w.seen_at" SQL_IS_ONLINE "AS online, "
	"(SELECT COUNT(*) FROM jobs j WHERE j.state = 'running' "
	"AND j.lease_owner = w.name) AS running, "
	"JSON_LENGTH(JSON_SEARCH(w.checks, 'all', 'warning', NULL, '$[*].state')) AS warnings, "
	"JSON_LENGTH(JSON_SEARCH(w.checks, 'all', 'fault', NULL, '$[*].state')) "
	"AS faults, "
	"(SELECT GROUP_CONCAT(t.name ORDER BY t.name SEPARATOR ', ') FROM JSON_TABLE(w.checks, '$[*]' "
	"COLUMNS (name VARCHAR(64) PATH '$.name', state VARCHAR(16) PATH '$.state')) t "
	"WHERE t.state = 'fault') AS faulty, " WORKER_PAUSE " AS pause, "
	"CAST(COALESCE(JSON_VALUE(w.figures, '$.full_disks'), 0) AS SIGNED) AS full_disks "
	"FROM workers w ORDER BY online DESC, w.name LIMIT 200");

static const struct column DEVICE_COLUMNS[] = {
	INTEGER(struct admin_device, worker_id),
	TEXT(struct admin_device, model),
	TEXT(struct admin_device, product),
	TEXT(struct admin_device, driver),
	TEXT(struct admin_device, compute_capability),
	INTEGER(struct admin_device, memory_bytes),
	INTEGER(struct admin_device, count),
};
static const struct statement DEVICES = SELECT(struct admin_device, DEVICE_COLUMNS,
	"SELECT worker_id, model, product, driver, compute_capability, memory_bytes, "
	"COUNT(*) AS count FROM gpus "
	"GROUP BY worker_id, model, product, driver, compute_capability, memory_bytes "
	"ORDER BY worker_id, model");

static const struct column AUDIT_COLUMNS[] = {
	INTEGER(struct audit_row, id),
	TIME(struct audit_row, at_ms),
	TEXT(struct audit_row, actor),
	TEXT(struct audit_row, address),
	TEXT(struct audit_row, action),
	TEXT(struct audit_row, subject),
	TEXT(struct audit_row, detail),
	TEXT(struct audit_row, page),
};
/* Names are ASCII. Without the conversion, MariaDB would not use the index on the name. */
#define NAMED(table, path, suffix) \
	"(SELECT CONCAT('" path "', n.name, '" suffix "') FROM " table \
	" n WHERE n.name = CONVERT(subject USING ascii)) "
#define AUDIT_FIELDS \
	"id, at AS at_ms, actor, address, action, subject, detail, CASE " \
	"WHEN action IN ('contest.register', 'contest.unregister', 'contest.leave') " \
	"OR action LIKE 'user.%' THEN " NAMED( \
		"users", "/user/", "") "WHEN action LIKE 'leaderboard.%' THEN " NAMED("leaderboards", \
		"/leaderboard/", "") "WHEN action LIKE 'question.%' THEN " NAMED("leaderboards", \
		"/leaderboard/", "/questions") "WHEN action LIKE 'contest.%' THEN " NAMED("contests", \
		"/contest/", "") "WHEN action LIKE 'webhook.%' THEN COALESCE(" NAMED("leaderboards", \
		"/admin/leaderboard/", \
		"/hooks") ", '/admin/hooks') " \
				  "WHEN subject LIKE 'submission %' THEN (SELECT CONCAT('/submission/', s.id) " \
				  "FROM submissions s WHERE s.id = SUBSTRING_INDEX(SUBSTRING(subject, 12), ' ', " \
				  "1)) " \
				  "WHEN action LIKE 'invite.%' THEN '/admin/invites' " \
				  "WHEN action LIKE 'announcement.%' THEN '/admin/announcements' " \
				  "WHEN action LIKE 'rejudging.%' THEN '/admin/rejudgings' " \
				  "WHEN action LIKE 'worker.%' OR action LIKE 'gpu.%' THEN '/admin/workers' END " \
				  "AS page "
static const struct statement RECENT_CHANGES = SELECT(struct audit_row, AUDIT_COLUMNS,
	"SELECT " AUDIT_FIELDS "FROM audit_log "
	"ORDER BY id DESC LIMIT 5");

enum { most_waiting = 10000 };
static const struct column WAITING_COLUMNS[] = {
	TEXT(struct waiting_jobs, gpu),
	INTEGER(struct waiting_jobs, jobs),
};
static const struct statement WAITING = SELECT(struct waiting_jobs, WAITING_COLUMNS,
	"SELECT gpu, COUNT(*) AS jobs FROM (SELECT gpu FROM jobs WHERE state = 'queued' LIMIT ?) first "
	"GROUP BY gpu");

/* The last answer is only for admins; OVERVIEW_OF_CREATOR omits it. */
enum {
	ANSWER_LEADERBOARDS,
	ANSWER_WORKERS,
	ANSWER_DEVICES,
	ANSWER_QUARANTINE,
	ANSWER_INTERNAL_ERRORS,
	ANSWER_CHECKS,
	ANSWER_WEBHOOKS,
	ANSWER_QUESTIONS,
	ANSWER_STOP,
	ANSWER_WAITING,
	ANSWER_CHANGES
};
static const struct statement *const OVERVIEW_PARTS[] = {
	[ANSWER_LEADERBOARDS] = &LEADERBOARDS,
	[ANSWER_WORKERS] = &WORKERS,
	[ANSWER_DEVICES] = &DEVICES,
	[ANSWER_QUARANTINE] = &gpus_quarantine,
	[ANSWER_INTERNAL_ERRORS] = &internal_errors_reading,
	[ANSWER_CHECKS] = &stuck_checks_reading,
	[ANSWER_WEBHOOKS] = &webhooks_failing,
	[ANSWER_QUESTIONS] = &questions_open_reading,
	[ANSWER_STOP] = &intake_reading,
	[ANSWER_WAITING] = &WAITING,
	[ANSWER_CHANGES] = &RECENT_CHANGES,
};
static const struct bundle OVERVIEW = BUNDLE(OVERVIEW_PARTS),
						   OVERVIEW_OF_CREATOR = { OVERVIEW_PARTS, ANSWER_CHANGES };

static int read_overview(struct request *request, struct admin_view *view)
{
	struct database_answer answers[COUNT(OVERVIEW_PARTS)] = { 0 };
	const int64_t viewer = request->viewer.id, is_admin = view->is_admin;
	int rc = database_answers(request->db, request->arena,
		view->is_admin ? &OVERVIEW : &OVERVIEW_OF_CREATOR, answers, request->error, "iiiiiiiiiiiii",
		viewer, viewer, viewer, is_admin, (int64_t) true, viewer, is_admin, viewer, is_admin,
		viewer, is_admin, viewer, (int64_t)most_waiting);
	if (rc)
		return rc;
	view->leaderboards = answers[ANSWER_LEADERBOARDS].rows,
	view->leaderboard_count = answers[ANSWER_LEADERBOARDS].count;
	view->workers = answers[ANSWER_WORKERS].rows,
	view->worker_count = answers[ANSWER_WORKERS].count;
	view->devices = answers[ANSWER_DEVICES].rows,
	view->device_count = answers[ANSWER_DEVICES].count;
	view->audit = answers[ANSWER_CHANGES].rows, view->audit_count = answers[ANSWER_CHANGES].count;
	view->stop = answers[ANSWER_STOP].count ? answers[ANSWER_STOP].rows : NULL;
	const struct attention_source source = {
		.leaderboards = view->leaderboards,
		.leaderboard_count = view->leaderboard_count,
		.workers = view->workers,
		.worker_count = view->worker_count,
		.quarantine = &answers[ANSWER_QUARANTINE],
		.internal_errors = &answers[ANSWER_INTERNAL_ERRORS],
		.checks = &answers[ANSWER_CHECKS],
		.webhooks = &answers[ANSWER_WEBHOOKS],
		.questions = &answers[ANSWER_QUESTIONS],
		.waiting = answers[ANSWER_WAITING].rows,
		.waiting_count = answers[ANSWER_WAITING].count,
	};
	view->attention_count = attention_list(request, &source, &view->attention);
	return 0;
}

int page_admin(struct request *request)
{
	struct admin_view view = { .is_admin = request->viewer.role == ROLE_ADMIN,
		.is_creator = request->viewer.role != ROLE_PARTICIPANT };
	int rc = read_overview(request, &view);
	if (!rc)
		rc = home_site_read(request, &view.site);
	if (rc)
		return rc;
	struct page page = page_make(request, "Panel", "admin");
	admin_page(&request->body, &page, &view);
	return 0;
}

int action_gpu_release(struct request *request)
{
	const struct actor by = actor_of(request);
	const char *uuid = request_form_or(request, "uuid", "");
	int rc = gpu_release(request->db, uuid, &by, request->error);
	if (rc)
		return rc;
	notice_leave(request,
		"%s was released. Its worker tests it before the next job, and quarantines it again if it "
		"still fails.",
		uuid);
	return redirect(request, "/admin/workers");
}

/* ---- the audit log ---- */

/* An empty filter matches anything. The filters for user and action match the whole name, through
 * an index. The search text may match anywhere in subject and detail, where no index helps. A
 * search by text therefore reads only the most_looked newest rows that match the other filters; the
 * next page continues with older rows.
 *
 * Each combination of filters has its own statements. They name their index, because MariaDB often
 * picks a worse one for ORDER BY with LIMIT. */
struct audit_edge {
	int64_t id;
};
static const struct column EDGE_COLUMNS[] = { INTEGER(struct audit_edge, id) };
#define ROWS "SELECT " AUDIT_FIELDS "FROM "
#define LOOKED(key, condition) \
	"audit_log FORCE INDEX (" key ") WHERE id < ? AND id > ? AND " condition
#define ON_DAYS \
	" at >= COALESCE(?, '1970-01-01') AND at < COALESCE(? + INTERVAL 1 DAY, '9999-01-01') "
#define SEARCH(actor, action, key, condition) \
	{ \
		actor, action, \
			SELECT(struct audit_row, AUDIT_COLUMNS, \
				ROWS LOOKED(key, condition) " AND" ON_DAYS "ORDER BY id DESC LIMIT ?"), \
			SELECT(struct audit_row, AUDIT_COLUMNS, \
				ROWS LOOKED(key, condition) " AND" ON_DAYS "AND (LOCATE(?, subject) OR LOCATE(?, " \
											"detail)) ORDER BY id DESC LIMIT ?"), \
			SELECT(struct audit_edge, EDGE_COLUMNS, \
				"SELECT id FROM " LOOKED(key, condition) " ORDER BY id DESC LIMIT 1 OFFSET ?") \
	}
static const struct audit_search {
	bool actor, action;
	struct statement all, words, edge;
} AUDIT_SEARCHES[] = {
	SEARCH(false, false, "PRIMARY", "'' IN (?) AND '' IN (?)"),
	SEARCH(true, false, "audit_log_actor", "actor = ? AND '' IN (?)"),
	SEARCH(false, true, "audit_log_action", "'' IN (?) AND action = ?"),
	SEARCH(true, true, "audit_log_actor_action", "actor = ? AND action = ?"),
};
/* Later rows have higher IDs, except rows written at almost the same moment. The days of a search
 * are therefore turned into a range of IDs, which is `slack` IDs wider at both ends. */
enum { slack = 1000 };
struct audit_range {
	int64_t first, last;
};
static const struct column RANGE_COLUMNS[] = { INTEGER(struct audit_range, first),
	INTEGER(struct audit_range, last) };
static const struct statement RANGE = SELECT(struct audit_range, RANGE_COLUMNS,
	"SELECT (SELECT id FROM audit_log WHERE at >= ? ORDER BY at, id LIMIT 1) AS first, "
	"  (SELECT id FROM audit_log WHERE at < ? + INTERVAL 1 DAY ORDER BY at DESC, id DESC "
	"LIMIT 1) AS last");
static const struct column ACTION_COLUMNS[] = { TEXT(struct audit_action, name) };
static const struct statement ACTIONS =
	SELECT(struct audit_action, ACTION_COLUMNS, "SELECT name FROM audit_actions ORDER BY name");

static int read_day(const char *text, int64_t *day_ms, const char **wrong)
{
	*day_ms = TIME_NULL;
	if (*text && parse_utc(text, day_ms))
		*wrong = "Type a day as 2026-11-21.";
	return *wrong != NULL;
}

/* What to search: IDs between `after` and `before` (both excluded), and the first and last day;
 * TIME_NULL: any. */
struct audit_question {
	int64_t before, after, from_ms, to_ms;
};

/* Narrows the range of IDs to the days of the search. */
static void narrow_to_days(const struct audit_range *range, struct audit_question *question)
{
	if (question->from_ms != TIME_NULL)
		question->after = range->first == SQL_NULL_INTEGER ? INT64_MAX
			: range->first > slack                         ? range->first - slack
														   : 0;
	if (question->to_ms != TIME_NULL && range->last == SQL_NULL_INTEGER)
		question->before = 0;
	else if (question->to_ms != TIME_NULL && question->before > range->last + slack)
		question->before = range->last + slack;
}

enum { ANSWER_RANGE, ANSWER_ACTIONS };
static const struct statement *const CHOICE_PARTS[] = {
	[ANSWER_RANGE] = &RANGE, [ANSWER_ACTIONS] = &ACTIONS
};
static const struct bundle CHOICES = BUNDLE(CHOICE_PARTS);

static int read_choices(
	struct request *request, struct audit_view *view, struct audit_question *question)
{
	struct database_answer answers[COUNT(CHOICE_PARTS)];
	int rc = database_answers(request->db, request->arena, &CHOICES, answers, request->error, "tt",
		question->from_ms, question->to_ms);
	if (rc)
		return rc;
	narrow_to_days(answers[ANSWER_RANGE].rows, question);
	view->actions = answers[ANSWER_ACTIONS].rows,
	view->action_count = answers[ANSWER_ACTIONS].count;
	return 0;
}

/* Finds the oldest row that a search by text may read. ERROR_NOT_FOUND: fewer rows match the other
 * filters, so the search may read all of them. */
static int find_last_candidate(struct request *request, const struct audit_search *search,
	const struct audit_view *view, const struct audit_question *question, struct audit_edge *edge)
{
	struct error none;
	int rc = database_row(request->db, request->arena, &search->edge, edge, &none, "iissi",
		question->before, question->after, view->actor, view->action, (int64_t)most_looked - 1);
	if (rc && rc != ERROR_NOT_FOUND)
		*request->error = none;
	return rc;
}

static int find_audit_words(struct request *request, const struct audit_search *search,
	struct audit_view *view, const struct audit_question *question)
{
	struct audit_edge edge;
	int rc = find_last_candidate(request, search, view, question, &edge);
	if (rc && rc != ERROR_NOT_FOUND)
		return rc;
	bool is_whole = rc == ERROR_NOT_FOUND;
	rc = database_rows(request->db, request->arena, &search->words, &view->rows, &view->count,
		request->error, "iissttssi", question->before, is_whole ? question->after : edge.id - 1,
		view->actor, view->action, question->from_ms, question->to_ms, view->words, view->words,
		(int64_t)audit_page_rows + 1);
	view->looked_at_all = is_whole || view->count > audit_page_rows;
	view->before = view->looked_at_all ? 0 : edge.id;
	return rc;
}

int audit_find(struct request *request, struct audit_view *view, int64_t before)
{
	const struct audit_search *search = AUDIT_SEARCHES;
	struct audit_question question = { .before = before, .from_ms = TIME_NULL, .to_ms = TIME_NULL };
	view->looked_at_all = true;
	bool is_known = text_is_ascii(view->actor) && text_is_ascii(view->action)
		&& !read_day(view->from, &question.from_ms, &view->error)
		&& !read_day(view->to, &question.to_ms, &view->error);
	int rc = read_choices(request, view, &question);
	if (rc || !is_known)
		return rc;
	while (search->actor != (*view->actor != 0) || search->action != (*view->action != 0))
		search++;
	if (*view->words)
		return find_audit_words(request, search, view, &question);
	return database_rows(request->db, request->arena, &search->all, &view->rows, &view->count,
		request->error, "iisstti", question.before, question.after, view->actor, view->action,
		question.from_ms, question.to_ms, (int64_t)audit_page_rows + 1);
}

int page_admin_audit(struct request *request)
{
	int64_t before = query_number(request, "before", INT64_MAX);
	struct audit_view view = {
		.is_first = before == INT64_MAX,
		.actor = request_query_or(request, "who", ""),
		.action = request_query_or(request, "what", ""),
		.words = request_query_or(request, "q", ""),
		.from = request_query_or(request, "from", ""),
		.to = request_query_or(request, "to", ""),
	};
	int rc = audit_find(request, &view, before);
	if (rc)
		return rc;
	if (view.count > audit_page_rows) {
		view.count = audit_page_rows;
		view.before = view.rows[view.count - 1].id;
	}
	struct page page = page_make(request, "Audit log", "admin");
	admin_audit_page(&request->body, &page, &view);
	return 0;
}
