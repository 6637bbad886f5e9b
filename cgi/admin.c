/* The panel: an overview for creators and admins; users and the audit log for admins. */
#include "cgi/admin.h"

#include "cgi/pages.h"
#include "cgi/paging.h"
#include "lib/comparison.h"
#include "lib/fleet.h"
#include "lib/gpu.h"
#include "lib/leaderboard.h"
#include "lib/scope.h"
#include "lib/text.h"
#include "lib/visibility.h"
#include "templates/admin.h"
#include "templates/admin_audit.h"
#include "templates/admin_users.h"

#include <sodium.h>
#include <stdlib.h>
#include <string.h>

enum { recent_changes = 10, users_per_page = 100, changes_per_page = 100 };

/* ---- the overview ---- */

static const struct column LEADERBOARD_COLUMNS[] = {
	INTEGER(struct admin_leaderboard, id), TEXT(struct admin_leaderboard, name), TEXT(struct admin_leaderboard, creator),
	INTEGER(struct admin_leaderboard, creator_id), TIME(struct admin_leaderboard, deadline_ms),
	INTEGER(struct admin_leaderboard, ended), INTEGER(struct admin_leaderboard, accepting),
	INTEGER(struct admin_leaderboard, version), INTEGER(struct admin_leaderboard, submissions),
	TEXT(struct admin_leaderboard, gpus),
};
static const struct statement LEADERBOARDS = SELECT(struct admin_leaderboard, LEADERBOARD_COLUMNS,
	"SELECT l.id, l.name, u.name AS creator, l.creator_id, l.deadline AS deadline_ms, "
	"COALESCE(l.deadline <= UTC_TIMESTAMP(3), 0) AS ended, l.accepting, v.number AS version, "
	"(SELECT COUNT(*) FROM submissions s WHERE s.leaderboard_id = l.id) AS submissions, "
	"(SELECT GROUP_CONCAT(g.gpu ORDER BY g.position SEPARATOR ', ') FROM leaderboard_gpus g "
	"WHERE g.leaderboard_id = l.id) AS gpus "
	"FROM leaderboards l JOIN task_versions v ON v.id = l.task_version_id LEFT JOIN users u ON u.id = l.creator_id "
	"WHERE " SQL_MAY_SEE("l") " ORDER BY ended, l.name");


static const struct column WORKER_COLUMNS[] = {
	INTEGER(struct admin_worker, id), TEXT(struct admin_worker, name), TEXT(struct admin_worker, version),
	TIME(struct admin_worker, started_at_ms), TIME(struct admin_worker, seen_at_ms), INTEGER(struct admin_worker, online),
	INTEGER(struct admin_worker, running), INTEGER(struct admin_worker, warnings), INTEGER(struct admin_worker, faults),
	INTEGER(struct admin_worker, pause),
};
static const struct statement WORKERS = SELECT(struct admin_worker, WORKER_COLUMNS,
	"SELECT w.id, w.name, w.version, w.started_at AS started_at_ms, w.seen_at AS seen_at_ms, "
	"w.seen_at" SQL_IS_ONLINE "AS online, "
	"(SELECT COUNT(*) FROM jobs j WHERE j.state = 'running' AND j.lease_owner = w.name) AS running, "
	"JSON_LENGTH(JSON_SEARCH(w.checks, 'all', 'warning', NULL, '$[*].state')) AS warnings, "
	"JSON_LENGTH(JSON_SEARCH(w.checks, 'all', 'fault', NULL, '$[*].state')) AS faults, "
	SQL_PAUSE("w.name", "''") " AS pause "
	"FROM workers w ORDER BY online DESC, w.name LIMIT 200");

static const struct column DEVICE_COLUMNS[] = {
	INTEGER(struct admin_device, worker_id), TEXT(struct admin_device, model), TEXT(struct admin_device, product),
	TEXT(struct admin_device, driver), TEXT(struct admin_device, compute_capability),
	INTEGER(struct admin_device, memory_bytes), INTEGER(struct admin_device, count),
};
static const struct statement DEVICES = SELECT(struct admin_device, DEVICE_COLUMNS,
	"SELECT worker_id, model, product, driver, compute_capability, memory_bytes, COUNT(*) AS count FROM gpus "
	"GROUP BY worker_id, model, product, driver, compute_capability, memory_bytes ORDER BY worker_id, model");

static const struct column AUDIT_COLUMNS[] = {
	INTEGER(struct audit_row, id), TIME(struct audit_row, at_ms), TEXT(struct audit_row, actor),
	TEXT(struct audit_row, address), TEXT(struct audit_row, action), TEXT(struct audit_row, subject),
	TEXT(struct audit_row, detail),
};
static const struct statement AUDIT_BEFORE = SELECT(struct audit_row, AUDIT_COLUMNS,
	"SELECT id, at AS at_ms, actor, address, action, subject, detail FROM audit_log WHERE id < ? ORDER BY id DESC LIMIT ?");

static int read_overview(struct request *request, struct admin_view *view)
{
	struct database *db = request->db;
	struct arena *arena = request->arena;
	int rc = database_rows(db, arena, &LEADERBOARDS, &view->leaderboards, &view->leaderboard_count, request->error, "i", request->viewer.id);
	if (!rc)
		rc = database_rows(db, arena, &WORKERS, &view->workers, &view->worker_count, request->error, "");
	if (!rc)
		rc = database_rows(db, arena, &DEVICES, &view->devices, &view->device_count, request->error, "");
	if (!rc)
		rc = gpus_quarantined(db, arena, &view->quarantined, &view->quarantined_count, request->error);
	if (!rc && view->is_admin)
		rc = database_rows(db, arena, &AUDIT_BEFORE, &view->audit, &view->audit_count, request->error, "ii", INT64_MAX,
			(int64_t)recent_changes);
	return rc;
}

int page_admin(struct request *request)
{
	struct admin_view view = { .is_admin = request->viewer.role == ROLE_ADMIN, .viewer_id = request->viewer.id };
	int rc = read_overview(request, &view);
	if (rc)
		return rc;
	struct page page = page_make(request, "Admin", "admin");
	if (request_query(request, "deleted"))
		page.notice = "The leaderboard was deleted with everything that belonged to it.";
	if (request_query(request, "released"))
		page.notice = "The GPU is released. Its worker looks whether it works, and puts it back if it does not.";
	admin_page(&request->body, &page, &view);
	return 0;
}

int action_gpu_release(struct request *request)
{
	const struct actor by = { request->viewer.id, request->viewer.name, request->address };
	int rc = gpu_release(request->db, request_form_or(request, "uuid", ""), &by, request->error);
	return rc ? rc : redirect(request, "/admin?released=1");
}

/* ---- the audit log ---- */

int page_admin_audit(struct request *request)
{
	int64_t before = query_number(request, "before", INT64_MAX);
	struct audit_view view = { .is_first = before == INT64_MAX };
	int rc = database_rows(request->db, request->arena, &AUDIT_BEFORE, &view.rows, &view.count, request->error, "ii", before,
		(int64_t)changes_per_page + 1);
	if (rc)
		return rc;
	if (view.count > changes_per_page) {
		view.count = changes_per_page;
		view.before = view.rows[view.count - 1].id;
	}
	struct page page = page_make(request, "Audit log", "admin");
	admin_audit_page(&request->body, &page, &view);
	return 0;
}

/* ---- users ---- */

static const struct column USER_COLUMNS[] = {
	INTEGER(struct admin_user, id), TEXT(struct admin_user, name), TEXT(struct admin_user, role),
	INTEGER(struct admin_user, must_change_password), TIME(struct admin_user, banned_at_ms),
	TIME(struct admin_user, created_at_ms), TIME(struct admin_user, seen_at_ms), INTEGER(struct admin_user, submissions),
};
static const struct statement USERS = SELECT(struct admin_user, USER_COLUMNS,
	"SELECT u.id, u.name, u.role, u.must_change_password, u.banned_at AS banned_at_ms, u.created_at AS created_at_ms, "
	"(SELECT MAX(s.seen_at) FROM sessions s WHERE s.user_id = u.id) AS seen_at_ms, "
	"(SELECT COUNT(*) FROM submissions s WHERE s.user_id = u.id) AS submissions "
	"FROM users u WHERE LOCATE(?, u.name) ORDER BY u.name LIMIT ? OFFSET ?");

/* A name is ASCII; other letters can be in none, and the column could not be compared with them. */
static bool may_be_in_a_name(const char *search)
{
	for (const char *c = search; *c; c++)
		if ((unsigned char)*c >= 0x80)
			return false;
	return true;
}

static int show_users(struct request *request, struct users_view *view)
{
	const char *search = request_query(request, "q");
	view->search = search ? search : "";
	view->number = query_number(request, "page", 1);
	view->viewer_id = request->viewer.id;
	if (may_be_in_a_name(view->search)) {
		struct error error = {0};
		int rc = database_rows(request->db, request->arena, &USERS, &view->users, &view->count, &error, "sii", view->search,
			(int64_t)users_per_page + 1, (view->number - 1) * users_per_page);
		if (rc) {
			*request->error = error;
			return rc;
		}
	}
	view->has_next = view->count > users_per_page;
	view->count -= view->has_next;
	struct page page = page_make(request, "Users", "admin");
	if (request_query(request, "done"))
		page.notice = "The change was made; the audit log has it.";
	admin_users_page(&request->body, &page, view);
	return 0;
}

int page_admin_users(struct request *request)
{
	struct users_view view = {0};
	return show_users(request, &view);
}

/* One change to one user. */
struct user_change {
	struct request *request;
	const struct user *user;
	enum role role;
};

static int write_audit(struct database *db, const struct user_change *change, const char *action, const char *detail,
	struct error *error)
{
	const struct request *request = change->request;
	return audit(db, request->viewer.id, request->viewer.name, request->address, action, change->user->name, detail, error);
}

static int store_role(struct database *db, void *context, struct error *error)
{
	const struct user_change *change = context;
	const char *detail = arena_printf(change->request->arena, "role: %s, was %s", role_name(change->role), change->user->role);
	int rc = user_set_role(db, change->user->id, change->role, error);
	return rc ? rc : write_audit(db, change, "user.role", detail, error);
}

static const struct statement BAN = COMMAND("UPDATE users SET banned_at = COALESCE(banned_at, UTC_TIMESTAMP(3)) WHERE id = ?");
static const struct statement UNBAN = COMMAND("UPDATE users SET banned_at = NULL WHERE id = ?");
static const struct statement END_SESSIONS = COMMAND("DELETE FROM sessions WHERE user_id = ?");
static const struct statement CANCEL_JOBS = COMMAND(
	"UPDATE jobs j JOIN submissions s ON s.id = j.submission_id SET j.state = 'cancelled', j.verdict = 'cancelled', "
	"j.reason = 'The account was banned before the job began.', j.finished_at = UTC_TIMESTAMP(3) "
	"WHERE s.user_id = ? AND j.state = 'queued'");

static int store_ban(struct database *db, void *context, struct error *error)
{
	const struct user_change *change = context;
	int64_t id = change->user->id;
	int rc = database_execute(db, &BAN, error, "i", id);
	if (!rc)
		rc = database_execute(db, &END_SESSIONS, error, "i", id);
	if (!rc)
		rc = database_execute(db, &CANCEL_JOBS, error, "i", id);
	const char *detail = arena_printf(change->request->arena, "banned; %llu queued jobs cancelled",
		(unsigned long long)database_affected(db));
	if (!rc)
		rc = comparison_withdraw_user(db, id, error);
	return rc ? rc : write_audit(db, change, "user.ban", detail, error);
}

static int store_unban(struct database *db, void *context, struct error *error)
{
	const struct user_change *change = context;
	int rc = database_execute(db, &UNBAN, error, "i", change->user->id);
	return rc ? rc : write_audit(db, change, "user.unban", "may log in and submit again", error);
}

static int change_role(struct user_change *change, struct users_view *view)
{
	(void)view;
	struct request *request = change->request;
	if (role_from_name(request_form_or(request, "role", ""), &change->role))
		return fail(request->error, ERROR_INPUT, "Choose a role: participant, creator or admin.");
	return database_transaction(request->db, store_role, change, request->error);
}

static int ban(struct user_change *change, struct users_view *view)
{
	(void)view;
	return database_transaction(change->request->db, store_ban, change, change->request->error);
}

static int unban(struct user_change *change, struct users_view *view)
{
	(void)view;
	return database_transaction(change->request->db, store_unban, change, change->request->error);
}

/* Without letters and digits that look alike. */
static const char *make_password(struct arena *arena)
{
	static const char letters[] = "abcdefghijkmnpqrstuvwxyzABCDEFGHJKLMNPQRSTUVWXYZ23456789";
	enum { length = 20 };
	char *password = arena_alloc(arena, length + 1);
	for (size_t i = 0; i < length; i++)
		password[i] = letters[randombytes_uniform(sizeof letters - 1)];
	return password;
}

/* The password is on the page that answers this form and nowhere else. */
static int reset_password(struct user_change *change, struct users_view *view)
{
	struct request *request = change->request;
	view->reset_name = change->user->name;
	view->one_time_password = make_password(request->arena);
	int rc = user_set_password(request->db, change->user->id, view->one_time_password, true, request->error);
	return rc ? rc : write_audit(request->db, change, "user.password", "a one-time password was made; every session was ended",
		request->error);
}

static const struct user_action {
	const char *name;
	int (*run)(struct user_change *change, struct users_view *view);
} USER_ACTIONS[] = {
	{ "role", change_role }, { "ban", ban }, { "unban", unban }, { "reset", reset_password },
};

static int run_user_action(struct request *request, struct users_view *view)
{
	const char *action = request_form_or(request, "action", ""), *name = request_form_or(request, "user", "");
	struct user user;
	int rc = text_is_user_name(name) ? user_by_name(request->db, request->arena, name, &user, request->error)
		: fail(request->error, ERROR_NOT_FOUND, "There is no such user.");
	if (rc)
		return rc;
	/* Otherwise the last admin could lock everybody out. */
	if (user.id == request->viewer.id)
		return fail(request->error, ERROR_INPUT, "You cannot change your own account here; ask another admin, "
			"and change your password on your account's page.");
	struct user_change change = { .request = request, .user = &user };
	for (size_t i = 0; i < COUNT(USER_ACTIONS); i++)
		if (strcmp(USER_ACTIONS[i].name, action) == 0)
			return USER_ACTIONS[i].run(&change, view);
	return fail(request->error, ERROR_INPUT, "This page has no such action; reload it and try again.");
}

int action_admin_user(struct request *request)
{
	struct users_view view = {0};
	int rc = run_user_action(request, &view);
	if (rc && rc != ERROR_INPUT)
		return rc;
	if (!rc && !view.one_time_password)
		return redirect(request, "/admin/users?done=1");
	request->status = rc ? 422 : 200;
	view.error = rc ? request->error->text : NULL;
	return show_users(request, &view);
}
