#include "lib/judging/rejudging.h"

#include "lib/account/audit.h"
#include "lib/account/user.h"
#include "lib/base/format.h"
#include "lib/base/quote.h"
#include "lib/base/scope.h"
#include "lib/base/text.h"
#include "lib/database/job_count.h"
#include "lib/leaderboard/freeze.h"
#include "lib/leaderboard/role.h"
#include "lib/leaderboard/visibility.h"
#include "lib/ranking/ranking.h"

#include <math.h>
#include <string.h>

/* Lower priority than submissions and comparisons, see jobs.priority. */
enum { priority = 2 };

struct id_row {
	int64_t id;
};
static const struct column ID_COLUMNS[] = { INTEGER(struct id_row, id) };

/* ---- starting ---- */

/* This lock makes two rejudgings of the same results wait for each other, so that only the first
 * gets the results. */
static const struct statement LOCK_LEADERBOARD =
	SELECT(struct id_row, ID_COLUMNS, "SELECT id FROM leaderboards WHERE id = ? FOR UPDATE");
static const struct statement LOCK_LEADERBOARDS_OF = SELECT(struct id_row, ID_COLUMNS,
	"SELECT id FROM leaderboards WHERE id IN (SELECT leaderboard_id FROM submissions "
	"WHERE user_id = ?) ORDER BY id FOR UPDATE");
static const struct column NAME_COLUMNS[] = { TEXT(struct leaderboard, name) };
static const struct statement LEADERBOARD_OF = SELECT(struct leaderboard, NAME_COLUMNS,
	"SELECT l.name FROM submissions s JOIN leaderboards l ON l.id = s.leaderboard_id "
	"WHERE s.id = ?");
static const struct statement INSERT_REJUDGING =
	COMMAND("INSERT INTO rejudgings (leaderboard_id, user_id, scope, made_by) VALUES (?, ?, ?, ?)");

/* The LIMIT is one above the allowed number of results, so that insert_results can detect too
 * many. */
#define INSERT_RESULTS(from, scope, where) \
	"INSERT INTO rejudged_jobs (rejudging_id, submission_id, gpu, old_job_id) " \
	"SELECT ?, s.id, j.gpu, j.id FROM " from " " \
	"WHERE " scope " AND ? IN ('', j.gpu) AND " where " " \
	"AND j.state IN ('done', 'failed') AND NOT s.dry_run " \
	"AND NOT EXISTS (SELECT 1 FROM users u WHERE u.id = s.user_id AND u.deleted_at IS NOT NULL) " \
	"AND NOT EXISTS (SELECT 1 FROM rejudged_jobs r JOIN rejudgings g ON g.id = r.rejudging_id " \
	"  WHERE r.submission_id = s.id AND r.gpu = j.gpu AND g.state = 'open') " \
	"ORDER BY s.id, j.id LIMIT ?"
#define OF_SUBMISSIONS \
	"submissions s JOIN leaderboards l ON l.id = s.leaderboard_id " \
	"JOIN jobs j ON j.submission_id = s.id"
#define ON_ONE "s.leaderboard_id = ?"
#define ON_EVERY "0 = ?"
#define IS_CURRENT "s.task_version_id = l.task_version_id AND s.mode = 'ranked'"
static const struct statement INSERT_SUBMISSION =
	COMMAND(INSERT_RESULTS(OF_SUBMISSIONS, ON_ONE, "s.id = ?"));
static const struct statement INSERT_USER =
	COMMAND(INSERT_RESULTS(OF_SUBMISSIONS, ON_ONE, IS_CURRENT " AND s.user_id = ?"));
static const struct statement INSERT_EVERYWHERE =
	COMMAND(INSERT_RESULTS(OF_SUBMISSIONS, ON_EVERY, IS_CURRENT " AND s.user_id = ?"));
static const struct statement INSERT_ALL =
	COMMAND(INSERT_RESULTS(OF_SUBMISSIONS, ON_ONE, IS_CURRENT " AND ? = 0"));
static const struct statement INSERT_TOP = COMMAND(
	INSERT_RESULTS("ranking k JOIN leaderboards l ON l.id = k.leaderboard_id "
				   "AND l.task_version_id = k.task_version_id "
				   "JOIN submissions s ON s.id = k.submission_id JOIN jobs j ON j.id = k.job_id "
				   "AND j.submission_id = s.id",
		ON_ONE, "k.position <= ?"));

static const struct statement INSERT_JOBS =
	COMMAND("INSERT INTO jobs (rejudged_id, user_id, gpu, priority) SELECT id, 0, gpu, ? "
			"FROM rejudged_jobs WHERE rejudging_id = ? ORDER BY id");
static const struct statement COUNT_JOBS = COMMAND("UPDATE rejudgings SET jobs = ? WHERE id = ?");
static const struct statement LINK_JOBS =
	COMMAND("UPDATE rejudged_jobs r JOIN jobs j ON j.rejudged_id = r.id SET r.new_job_id = j.id "
			"WHERE r.rejudging_id = ?");

/* A planned rejudging: the statement `insert` that selects its results, its parameter `number` (a
 * submission, a user or a count), and the scope in words. */
struct plan {
	const struct rejudging_order *order;
	const struct statement *insert;
	int64_t number;
	const char *leaderboard; /* NULL: all */
	int64_t leaderboard_id;  /* 0: all that user_id has submitted to */
	int64_t user_id;
	const char *subject, *words; /* subject: of the entry in the audit log */
	int64_t id;                  /* of the rejudging, once it is stored */
};

static int plan_submission(
	struct database *db, struct arena *arena, struct plan *plan, struct error *error)
{
	int64_t id = plan->order->submission_id;
	struct leaderboard of = { 0 };
	int rc =
		id > 0 ? database_row(db, arena, &LEADERBOARD_OF, &of, error, "i", id) : ERROR_NOT_FOUND;
	if (rc)
		return rc == ERROR_NOT_FOUND
			? fail_field(error, "submission", "There is no submission with this number.")
			: rc;
	plan->leaderboard = of.name;
	plan->insert = &INSERT_SUBMISSION;
	plan->number = id;
	plan->words = arena_printf(arena, "submission %lld", (long long)id);
	return 0;
}

static int plan_user(
	struct database *db, struct arena *arena, struct plan *plan, struct error *error)
{
	const char *name = plan->order->user;
	struct user user;
	int rc =
		text_is_user_name(name) ? user_by_name(db, arena, name, &user, error) : ERROR_NOT_FOUND;
	if (rc)
		return rc == ERROR_NOT_FOUND
			? fail_field(error, "user", "There is no user named %s.", quote(arena, name))
			: rc;
	plan->insert = &INSERT_USER;
	plan->number = user.id;
	plan->subject = user.name;
	plan->words = arena_printf(arena, "every ranked result of %s", user.name);
	return 0;
}

static int plan_everywhere(
	struct database *db, struct arena *arena, struct plan *plan, struct error *error)
{
	int rc = plan_user(db, arena, plan, error);
	if (rc)
		return rc;
	plan->insert = &INSERT_EVERYWHERE;
	plan->user_id = plan->number;
	plan->leaderboard = NULL;
	plan->words = arena_printf(arena, "%s on every leaderboard", plan->words);
	return 0;
}

static int plan_top(
	struct database *db, struct arena *arena, struct plan *plan, struct error *error)
{
	(void)db;
	if (plan->order->top < 1 || plan->order->top > rejudging_most_jobs)
		return fail_field(
			error, "top", "The number of first entries must be from 1 to %d.", rejudging_most_jobs);
	if (!*plan->order->gpu)
		return fail_field(error, "gpu", "Choose the GPU whose first entries to rejudge.");
	plan->insert = &INSERT_TOP;
	plan->number = plan->order->top;
	plan->words = arena_printf(arena, "the top %lld", (long long)plan->number);
	return 0;
}

static int plan_all(
	struct database *db, struct arena *arena, struct plan *plan, struct error *error)
{
	(void)db, (void)arena, (void)error;
	plan->insert = &INSERT_ALL;
	plan->words = "every ranked result";
	return 0;
}

static const struct scope {
	const char *name;
	int (*plan)(struct database *db, struct arena *arena, struct plan *plan, struct error *error);
} SCOPES[] = {
	[REJUDGE_SUBMISSION] = { "submission", plan_submission },
	[REJUDGE_USER] = { "user", plan_user },
	[REJUDGE_EVERYWHERE] = { "everywhere", plan_everywhere },
	[REJUDGE_TOP] = { "top", plan_top },
	[REJUDGE_ALL] = { "all", plan_all },
};

int rejudging_scope_from_name(const char *name, enum rejudging_scope *scope)
{
	for (size_t i = 0; i < COUNT(SCOPES); i++)
		if (strcmp(SCOPES[i].name, name) == 0) {
			*scope = (enum rejudging_scope)i;
			return 0;
		}
	return -1;
}

static int insert_results(
	struct database *db, const struct plan *plan, int64_t *count, struct error *error)
{
	int rc = database_execute(db, plan->insert, error, "iisii", plan->id, plan->leaderboard_id,
		plan->order->gpu, plan->number, (int64_t)rejudging_most_jobs + 1);
	*count = (int64_t)database_affected(db);
	if (rc)
		return rc;
	if (!*count)
		return fail(error, ERROR_INPUT,
			"There is nothing to rejudge: %s is unfinished or in an open rejudging.", plan->words);
	if (*count > rejudging_most_jobs)
		return fail(error, ERROR_INPUT,
			"The rejudging would have more than %d results, which is the limit; choose a GPU, a "
			"user or the first entries of a ranking.",
			rejudging_most_jobs);
	return 0;
}

static int lock_leaderboards(
	struct database *db, struct arena *arena, const struct plan *plan, struct error *error)
{
	struct id_row *locked;
	size_t count;
	return database_rows(db, arena, plan->user_id ? &LOCK_LEADERBOARDS_OF : &LOCK_LEADERBOARD,
		&locked, &count, error, "i", plan->user_id ? plan->user_id : plan->leaderboard_id);
}

static int start_body(struct database *db, void *context, struct error *error)
{
	struct plan *plan = context;
	const struct actor *by = plan->order->by;
	cleanup_arena struct arena *arena = arena_new();
	int64_t count = 0;
	int rc = lock_leaderboards(db, arena, plan, error);
	if (!rc)
		rc = database_execute(db, &INSERT_REJUDGING, error, "iiss",
			plan->user_id ? SQL_NULL_INTEGER : plan->leaderboard_id,
			plan->user_id ? plan->user_id : SQL_NULL_INTEGER, plan->words, by->name);
	plan->id = (int64_t)database_insert_id(db);
	if (!rc)
		rc = insert_results(db, plan, &count, error);
	if (!rc)
		rc = database_execute(db, &COUNT_JOBS, error, "ii", count, plan->id);
	if (!rc)
		rc = database_execute(db, &INSERT_JOBS, error, "ii", (int64_t)priority, plan->id);
	if (!rc)
		rc = database_execute(db, &LINK_JOBS, error, "i", plan->id);
	return rc ? rc
			  : audit(db, by->id, by->name, by->address, "rejudging.start", plan->subject,
				  arena_printf(arena, "rejudging %lld: %s, %s", (long long)plan->id, plan->words,
					  plural(arena, count, "result")),
				  error);
}

static int find_leaderboard(
	struct database *db, struct arena *arena, struct plan *plan, struct error *error)
{
	struct leaderboard leaderboard;
	if (plan->user_id)
		return 0;
	int rc = text_is_leaderboard_name(plan->leaderboard)
		? leaderboard_by_name(db, arena, plan->leaderboard, &leaderboard, error)
		: ERROR_NOT_FOUND;
	if (rc)
		return rc == ERROR_NOT_FOUND ? fail_field(error, "leaderboard", "Choose a leaderboard.")
									 : rc;
	plan->subject = leaderboard.name;
	plan->leaderboard_id = leaderboard.id;
	return 0;
}

static int check_right(
	struct database *db, struct arena *arena, const struct plan *plan, struct error *error)
{
	enum leaderboard_right right = RIGHT_NONE;
	if (plan->order->may_all)
		return 0;
	int rc = leaderboard_right(db, arena, plan->order->by->id, plan->leaderboard_id, &right, error);
	return rc || right >= RIGHT_CHANGE
		? rc
		: fail(error, ERROR_FORBIDDEN,
			"You may only rejudge results of leaderboards whose creator or co-creator you are.");
}

int rejudging_start(struct database *db, struct arena *arena, const struct rejudging_order *order,
	int64_t *id, struct error *error)
{
	struct plan plan = { .order = order, .leaderboard = order->leaderboard };
	if (*order->gpu && !gpu_is_name(order->gpu))
		return fail_field(error, "gpu", "There is no GPU named %s.", quote(arena, order->gpu));
	int rc = SCOPES[order->scope].plan(db, arena, &plan, error);
	if (!rc)
		rc = find_leaderboard(db, arena, &plan, error);
	if (!rc)
		rc = check_right(db, arena, &plan, error);
	if (!rc && *order->gpu)
		plan.words = arena_printf(arena, "%s on %s", plan.words, order->gpu);
	if (!rc)
		rc = database_transaction(db, start_body, &plan, error);
	*id = plan.id;
	return rc;
}

/* ---- reading ---- */

static const struct column REJUDGING_COLUMNS[] = {
	INTEGER(struct rejudging, id),
	INTEGER(struct rejudging, leaderboard_id),
	TEXT(struct rejudging, leaderboard),
	TEXT(struct rejudging, subject),
	TEXT(struct rejudging, scope),
	TEXT(struct rejudging, state),
	TEXT(struct rejudging, made_by),
	TEXT(struct rejudging, ended_by),
	TIME(struct rejudging, made_at_ms),
	TIME(struct rejudging, ended_at_ms),
	INTEGER(struct rejudging, jobs),
	INTEGER(struct rejudging, waiting),
	INTEGER(struct rejudging, useless),
	TEXT(struct rejudging, frozen),
};
/* Reads rejudgings with the number of their new jobs that have not finished. In an applied or
 * discarded rejudging all have finished, so LIST joins only the jobs of open ones. */
#define REJUDGING(from, jobs, counted) \
	"SELECT g.id, g.leaderboard_id, l.name AS leaderboard, COALESCE(l.name, u.name) AS subject, " \
	"g.scope, g.state, " \
	"g.made_by, g.ended_by, g.made_at AS made_at_ms, " \
	"  g.ended_at AS ended_at_ms, " jobs \
	" AS jobs, COUNT(IF(j.state IN ('queued', 'running'), 1, NULL)) AS waiting, " \
	"  COUNT(IF(j.state IN ('failed', 'cancelled'), 1, NULL)) AS useless, " \
	"  MIN(IF(g.state = 'open' AND " SQL_IS_FROZEN( \
		"b") ", b.name, NULL)) AS frozen " \
			 "FROM " from " " \
			 "LEFT JOIN leaderboards l ON l.id = g.leaderboard_id " \
			 "LEFT JOIN users u ON u.id = g.user_id " \
			 "LEFT JOIN rejudged_jobs r ON r.rejudging_id = g.id AND " counted " " \
			 "LEFT JOIN jobs j ON j.id = r.new_job_id " \
			 "LEFT JOIN submissions s ON s.id = r.submission_id AND g.state = 'open' " \
			 "LEFT JOIN leaderboards b ON b.id = s.leaderboard_id "
#define MAY_CHANGE SQL_MAY_CHANGE("m")
static const struct statement LIST = SELECT(struct rejudging, REJUDGING_COLUMNS,
	REJUDGING("(SELECT o.* FROM rejudgings o LEFT JOIN leaderboards m ON m.id = o.leaderboard_id "
			  "WHERE ? = 0 OR " MAY_CHANGE " ORDER BY o.id DESC LIMIT ?) g",
		"g.jobs", "g.state = 'open'") "GROUP BY g.id ORDER BY g.id DESC");
static const struct statement FIND = SELECT(struct rejudging, REJUDGING_COLUMNS,
	REJUDGING("rejudgings g", "COUNT(r.id)", "TRUE") "WHERE g.id = ? GROUP BY g.id");

int rejudgings_list(struct database *db, struct arena *arena, int64_t user_id, int64_t most,
	struct rejudging **rejudgings, size_t *count, struct error *error)
{
	return database_rows(db, arena, &LIST, rejudgings, count, error, "iii", user_id, user_id, most);
}

int rejudging_find(struct database *db, struct arena *arena, int64_t id,
	struct rejudging *rejudging, struct error *error)
{
	int rc = database_row(db, arena, &FIND, rejudging, error, "i", id);
	return rc == ERROR_NOT_FOUND ? fail(error, rc, "There is no rejudging with this number.") : rc;
}

static const struct column RESULT_COLUMNS[] = {
	INTEGER(struct rejudged_result, id),
	INTEGER(struct rejudged_result, submission_id),
	TEXT(struct rejudged_result, leaderboard),
	TEXT(struct rejudged_result, user),
	TEXT(struct rejudged_result, gpu),
	TEXT(struct rejudged_result, old_verdict),
	REAL(struct rejudged_result, old_score_ns),
	REAL(struct rejudged_result, old_score_err_ns),
	TEXT(struct rejudged_result, state),
	TEXT(struct rejudged_result, verdict),
	TEXT(struct rejudged_result, reason),
	TEXT(struct rejudged_result, progress),
	REAL(struct rejudged_result, score_ns),
	REAL(struct rejudged_result, score_err_ns),
	INTEGER(struct rejudged_result, differs),
};
/* The inner query selects the rows to show before the joins read the rest. */
#define RESULTS_OF(which) \
	SELECT(struct rejudged_result, RESULT_COLUMNS, \
		"SELECT r.id, r.submission_id, l.name AS leaderboard, u.name AS user, r.gpu, " \
		"o.verdict AS old_verdict, o.score_ns AS old_score_ns, " \
		"o.score_err_ns AS old_score_err_ns, n.state, n.verdict, n.reason, n.progress, " \
		"n.score_ns, n.score_err_ns, shown.differs " \
		"FROM (SELECT r.id, n.state = 'done' AND NOT (n.verdict <=> o.verdict) AS differs " \
		"  FROM rejudged_jobs r JOIN jobs n ON n.id = r.new_job_id " \
		"  LEFT JOIN jobs o ON o.id = r.old_job_id WHERE r.rejudging_id = ? " which ") shown " \
		"JOIN rejudged_jobs r ON r.id = shown.id JOIN jobs n ON n.id = r.new_job_id " \
		"JOIN submissions s ON s.id = r.submission_id JOIN users u ON u.id = s.user_id " \
		"JOIN leaderboards l ON l.id = s.leaderboard_id " \
		"LEFT JOIN jobs o ON o.id = r.old_job_id " \
		"ORDER BY shown.differs DESC, r.id")
static const struct statement RESULTS = RESULTS_OF("ORDER BY differs DESC, r.id LIMIT ? OFFSET ?");
static const struct statement RESULT = RESULTS_OF("AND r.id = ?");

int rejudging_results(struct database *db, struct arena *arena, int64_t id, int64_t first,
	int64_t most, struct rejudged_result **results, size_t *count, struct error *error)
{
	return database_rows(db, arena, &RESULTS, results, count, error, "iii", id, most, first);
}

int rejudging_result(struct database *db, struct arena *arena, int64_t id, int64_t result_id,
	struct rejudged_result *result, struct error *error)
{
	int rc = database_row(db, arena, &RESULT, result, error, "ii", id, result_id);
	return rc == ERROR_NOT_FOUND ? fail(error, rc, "This rejudging has no such result.") : rc;
}

/* ---- applying ---- */

static const struct column STATE_COLUMNS[] = {
	INTEGER(struct rejudging, id),
	TEXT(struct rejudging, subject),
	TEXT(struct rejudging, scope),
	TEXT(struct rejudging, state),
};
/* Locks the rejudging: if two admins decide at the same time, the first one wins. */
static const struct statement LOCK = SELECT(struct rejudging, STATE_COLUMNS,
	"SELECT g.id, COALESCE(l.name, u.name) AS subject, g.scope, g.state "
	"FROM rejudgings g LEFT JOIN leaderboards l ON l.id = g.leaderboard_id "
	"LEFT JOIN users u ON u.id = g.user_id WHERE g.id = ? FOR UPDATE");
/* Reads and locks the leaderboards with results of the rejudging. Nobody can then freeze one of
 * them before the rejudging is applied. */
struct rejudged_leaderboard {
	int64_t id, is_frozen, frozen_at_ms;
	const char *name;
};
static const struct column LEADERBOARD_COLUMNS[] = {
	INTEGER(struct rejudged_leaderboard, id),
	INTEGER(struct rejudged_leaderboard, is_frozen),
	TIME(struct rejudged_leaderboard, frozen_at_ms),
	TEXT(struct rejudged_leaderboard, name),
};
static const struct statement LOCK_LEADERBOARDS =
	SELECT(struct rejudged_leaderboard, LEADERBOARD_COLUMNS,
		"SELECT l.id, " SQL_IS_FROZEN(
			"l") " AS is_frozen, "
				 "l.frozen_at AS frozen_at_ms, l.name FROM leaderboards l "
				 "WHERE l.id IN (SELECT s.leaderboard_id FROM rejudged_jobs r "
				 "JOIN submissions s ON s.id = r.submission_id WHERE r.rejudging_id = ?) "
				 "ORDER BY l.id FOR UPDATE");
static const struct statement WAITING = SELECT(struct id_row, ID_COLUMNS,
	"SELECT COUNT(*) AS id FROM rejudged_jobs r JOIN jobs j ON j.id = r.new_job_id "
	"WHERE r.rejudging_id = ? AND j.state IN ('queued', 'running')");
static const struct statement HELD = SELECT(struct id_row, ID_COLUMNS,
	"SELECT COUNT(*) AS id FROM rejudged_jobs r JOIN jobs o ON o.id = r.old_job_id "
	"WHERE r.rejudging_id = ? AND " SQL_WAITS_FOR_REVIEW(
		"o") " AND EXISTS (SELECT 1 FROM users u WHERE u.id = ? AND u.role <> 'admin')");
static const struct statement CLOSE = COMMAND(
	"UPDATE rejudgings SET state = ?, ended_by = ?, ended_at = UTC_TIMESTAMP(3) WHERE id = ?");

/* A submission has only one job per GPU, so the old job must leave the submission before the new
 * one joins it. */
static const struct statement DETACH_OLD = COMMAND(
	"UPDATE rejudged_jobs r JOIN jobs n ON n.id = r.new_job_id "
	"JOIN jobs o ON o.id = r.old_job_id AND o.submission_id = r.submission_id "
	"SET o.submission_id = NULL, o.rejudged_id = r.id, o.user_id = 0 WHERE r.rejudging_id = ? "
	"AND n.state = 'done'");
static const struct statement ATTACH_NEW = COMMAND(
	"UPDATE rejudged_jobs r JOIN jobs n ON n.id = r.new_job_id "
	"JOIN submissions s ON s.id = r.submission_id "
	"SET n.submission_id = s.id, n.rejudged_id = NULL, n.user_id = s.user_id, n.priority = 0 "
	"WHERE r.rejudging_id = ? AND n.state = 'done'");

static int lock_open(struct database *db, struct arena *arena, int64_t id,
	struct rejudging *rejudging, struct error *error)
{
	int rc = database_row(db, arena, &LOCK, rejudging, error, "i", id);
	if (rc == ERROR_NOT_FOUND)
		return fail(error, rc, "There is no rejudging with this number.");
	return rc || strcmp(rejudging->state, "open") == 0
		? rc
		: fail(error, ERROR_CONFLICT, "Rejudging %lld was %s already.", (long long)id,
			rejudging->state);
}

static int check_finished(struct database *db, struct arena *arena, int64_t id, struct error *error)
{
	struct id_row waiting;
	int rc = database_row(db, arena, &WAITING, &waiting, error, "i", id);
	return rc || !waiting.id ? rc
							 : fail(error, ERROR_CONFLICT,
								 "%lld of its jobs %s not finished. Apply the rejudging after all "
								 "have finished, or discard it.",
								 (long long)waiting.id, waiting.id == 1 ? "has" : "have");
}

static int check_thawed(
	const struct rejudged_leaderboard *leaderboards, size_t count, struct error *error)
{
	format_text since;
	for (size_t i = 0; i < count; i++)
		if (leaderboards[i].is_frozen == 1) {
			format_utc(since, leaderboards[i].frozen_at_ms);
			return fail(error, ERROR_CONFLICT,
				"The ranking of %s is frozen since %s, and the new results finished after that, so "
				"applying them would only remove entries. Lift the freeze first, or discard the "
				"rejudging.",
				leaderboards[i].name, since);
		}
	return 0;
}

/* Replaces the old results by the new ones and updates the rankings. */
static int swap_results(
	struct database *db, struct arena *arena, int64_t id, int64_t *swapped, struct error *error)
{
	struct rejudged_leaderboard *leaderboards;
	size_t count;
	int rc = database_rows(db, arena, &LOCK_LEADERBOARDS, &leaderboards, &count, error, "i", id);
	if (!rc)
		rc = check_thawed(leaderboards, count, error);
	if (!rc)
		rc = database_execute(db, &DETACH_OLD, error, "i", id);
	if (!rc)
		rc = database_execute(db, &ATTACH_NEW, error, "i", id);
	*swapped = (int64_t)database_affected(db);
	for (size_t i = 0; i < count && !rc; i++)
		rc = ranking_refresh_leaderboard(db, leaderboards[i].id, error);
	return rc;
}

int rejudging_check_name(const struct rejudging *rejudging, const char *typed, struct error *error)
{
	return strcmp(typed, rejudging->subject) == 0
		? 0
		: fail_field(error, "name", "This is not the %s’s name, so nothing was changed; type %s.",
			rejudging->leaderboard ? "leaderboard" : "user", rejudging->subject);
}

struct rejudging_end {
	int64_t id;
	const struct actor *by;
};

static int write_audit(struct database *db, const struct rejudging_end *end,
	const struct rejudging *rejudging, const char *action, const char *detail, struct error *error)
{
	const struct actor *by = end->by;
	return audit(db, by->id, by->name, by->address, action, rejudging->subject, detail, error);
}

/* Only admins may release held or rejected results, and applying the rejudging could put such
 * results into the ranking. */
static int check_held(
	struct database *db, struct arena *arena, const struct rejudging_end *end, struct error *error)
{
	struct id_row held;
	int rc = database_row(db, arena, &HELD, &held, error, "ii", end->id, end->by->id);
	return rc || !held.id
		? rc
		: fail(error, ERROR_FORBIDDEN,
			"An admin must apply this rejudging, because it has results that are held for review "
			"or were rejected.");
}

static int apply_body(struct database *db, void *context, struct error *error)
{
	cleanup_arena struct arena *arena = arena_new();
	const struct rejudging_end *end = context;
	struct rejudging rejudging;
	int64_t swapped = 0;
	int rc = lock_open(db, arena, end->id, &rejudging, error);
	if (!rc)
		rc = check_finished(db, arena, end->id, error);
	if (!rc)
		rc = check_held(db, arena, end, error);
	if (!rc)
		rc = swap_results(db, arena, end->id, &swapped, error);
	if (!rc)
		rc = database_execute(db, &CLOSE, error, "ssi", "applied", end->by->name, end->id);
	return rc ? rc
			  : write_audit(db, end, &rejudging, "rejudging.apply",
				  arena_printf(arena, "rejudging %lld: %s, %s replaced", (long long)end->id,
					  rejudging.scope, plural(arena, swapped, "result")),
				  error);
}

int rejudging_apply(struct database *db, int64_t id, const struct actor *by, struct error *error)
{
	struct rejudging_end end = { .id = id, .by = by };
	return database_transaction(db, apply_body, &end, error);
}

/* ---- discarding ---- */

/* CANCEL keeps the lease's owner, device and expiry: they name the worker that must stop a running
 * job. */
#define ITS_JOBS "rejudged_jobs r JOIN jobs j ON j.id = r.new_job_id "
#define NOT_ENDED "WHERE r.rejudging_id = ? AND j.state IN ('queued', 'running')"
static const struct statement COUNT_CANCELLED = COMMAND(SQL_COUNT_CANCELLED(ITS_JOBS NOT_ENDED));
static const struct statement CANCEL =
	COMMAND("UPDATE " ITS_JOBS "SET j.state = 'cancelled', j.verdict = 'cancelled', "
			"j.reason = 'The rejudging was discarded.', j.cancelled_by = ?, j.progress = '', "
			"j.finished_at = UTC_TIMESTAMP(3) " NOT_ENDED);

static int discard_body(struct database *db, void *context, struct error *error)
{
	cleanup_arena struct arena *arena = arena_new();
	const struct rejudging_end *end = context;
	struct rejudging rejudging;
	int rc = lock_open(db, arena, end->id, &rejudging, error);
	if (!rc)
		rc = database_execute(db, &COUNT_CANCELLED, error, "i", end->id);
	if (!rc)
		rc = database_execute(db, &CANCEL, error, "ii", end->by->id, end->id);
	const char *detail = arena_printf(arena,
		"rejudging %lld: %s, %s cancelled, every old result stays", (long long)end->id,
		rc ? "" : rejudging.scope, plural(arena, (int64_t)database_affected(db), "job"));
	if (!rc)
		rc = database_execute(db, &CLOSE, error, "ssi", "discarded", end->by->name, end->id);
	return rc ? rc : write_audit(db, end, &rejudging, "rejudging.discard", detail, error);
}

int rejudging_discard(struct database *db, int64_t id, const struct actor *by, struct error *error)
{
	struct rejudging_end end = { .id = id, .by = by };
	return database_transaction(db, discard_body, &end, error);
}

/* ---- the preview ---- */

struct rank {
	int64_t leaderboard_id, version;
	const char *leaderboard, *gpu, *user;
	int64_t user_id, place, is_tied;
	double score_ns, score_err_ns;
};
static const struct column RANK_COLUMNS[] = {
	INTEGER(struct rank, leaderboard_id),
	TEXT(struct rank, leaderboard),
	INTEGER(struct rank, version),
	TEXT(struct rank, gpu),
	TEXT(struct rank, user),
	INTEGER(struct rank, user_id),
	INTEGER(struct rank, place),
	INTEGER(struct rank, is_tied),
	REAL(struct rank, score_ns),
	REAL(struct rank, score_err_ns),
};
static const struct statement RANKS = SELECT(struct rank, RANK_COLUMNS,
	"SELECT k.leaderboard_id, l.name AS leaderboard, v.number AS version, k.gpu, "
	"u.name AS user, k.user_id, k.place, k.tied AS is_tied, k.score_ns, k.score_err_ns "
	"FROM ranking k "
	"JOIN leaderboards l ON l.id = k.leaderboard_id "
	"JOIN task_versions v ON v.id = k.task_version_id JOIN users u ON u.id = k.user_id "
	"WHERE k.leaderboard_id IN (SELECT s.leaderboard_id FROM rejudged_jobs r "
	"JOIN submissions s ON s.id = r.submission_id WHERE r.rejudging_id = ?) "
	"ORDER BY k.leaderboard_id, v.number DESC, k.gpu, k.user_id");

struct ranks {
	struct rank *rows;
	size_t count;
};
struct rehearsal {
	const struct rejudging *rejudging;
	struct arena *arena;
	struct ranks before, after;
	bool is_over;
};

static int read_ranks(struct database *db, const struct rehearsal *rehearsal, struct ranks *ranks,
	struct error *error)
{
	return database_rows(db, rehearsal->arena, &RANKS, &ranks->rows, &ranks->count, error, "i",
		rehearsal->rejudging->id);
}

/* Applies the rejudging and reads the ranks before and after. Always returns an error, so that the
 * transaction rolls back. */
static int rehearse_body(struct database *db, void *context, struct error *error)
{
	struct rehearsal *rehearsal = context;
	int64_t swapped;
	int rc = read_ranks(db, rehearsal, &rehearsal->before, error);
	if (!rc)
		rc = swap_results(db, rehearsal->arena, rehearsal->rejudging->id, &swapped, error);
	if (!rc)
		rc = read_ranks(db, rehearsal, &rehearsal->after, error);
	rehearsal->is_over = !rc;
	return rc ? rc : fail(error, ERROR_CONFLICT, "This was a rehearsal.");
}

/* Compares two rows in the order of the statement RANKS. */
static int compare_ranks(const struct rank *a, const struct rank *b)
{
	if (a->leaderboard_id != b->leaderboard_id)
		return a->leaderboard_id < b->leaderboard_id ? -1 : 1;
	if (a->version != b->version)
		return a->version > b->version ? -1 : 1;
	int order = strcmp(a->gpu, b->gpu);
	return order ? order : (a->user_id > b->user_id) - (a->user_id < b->user_id);
}

static struct rank_change change_of(const struct rank *before, const struct rank *after)
{
	const struct rank *any = before ? before : after;
	return (struct rank_change){
		.leaderboard = any->leaderboard,
		.version = any->version,
		.gpu = any->gpu,
		.user = any->user,
		.old_place = before ? before->place : SQL_NULL_INTEGER,
		.new_place = after ? after->place : SQL_NULL_INTEGER,
		.old_is_tied = before && before->is_tied,
		.new_is_tied = after && after->is_tied,
		.old_score_ns = before ? before->score_ns : NAN,
		.old_score_err_ns = before ? before->score_err_ns : NAN,
		.new_score_ns = after ? after->score_ns : NAN,
		.new_score_err_ns = after ? after->score_err_ns : NAN,
	};
}

static bool is_change(const struct rank *before, const struct rank *after)
{
	return !before || !after || before->place != after->place || before->is_tied != after->is_tied
		|| before->score_ns != after->score_ns;
}

/* Both lists are sorted alike, so one pass finds the users that are on both. */
static size_t find_changes(
	const struct ranks *before, const struct ranks *after, struct rank_change *changes)
{
	size_t b = 0, a = 0, count = 0;
	while (b < before->count || a < after->count) {
		int order = b == before->count ? 1
			: a == after->count        ? -1
									   : compare_ranks(&before->rows[b], &after->rows[a]);
		const struct rank *old = order <= 0 ? &before->rows[b++] : NULL,
						  *new = order >= 0 ? &after->rows[a++] : NULL;
		if (is_change(old, new))
			changes[count++] = change_of(old, new);
	}
	return count;
}

int rejudging_preview(struct database *db, struct arena *arena, const struct rejudging *rejudging,
	struct rank_change **changes, size_t *count, struct error *error)
{
	struct rehearsal rehearsal = { .rejudging = rejudging, .arena = arena };
	struct error over = { 0 };
	int rc = database_transaction(db, rehearse_body, &rehearsal, &over);
	if (!rehearsal.is_over) {
		*error = over;
		return rc;
	}
	*changes =
		arena_array(arena, struct rank_change, rehearsal.before.count + rehearsal.after.count + 1);
	*count = find_changes(&rehearsal.before, &rehearsal.after, *changes);
	return 0;
}
