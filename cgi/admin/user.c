/* Users: roles, bans, links to choose a password, and accounts that an admin creates for others. */
#include "cgi/admin/admin.h"

#include "cgi/action/user_change.h"
#include "cgi/admin/leaderboard.h"
#include "cgi/http/confirmation.h"
#include "cgi/http/notice.h"
#include "cgi/http/paging.h"
#include "cgi/page/account.h"
#include "cgi/page/pages.h"
#include "lib/account/audit.h"
#include "lib/account/factor.h"
#include "lib/account/password_link.h"
#include "lib/base/scope.h"
#include "lib/base/text.h"
#include "templates/admin_users.h"

#include <sodium.h>
#include <stdlib.h>
#include <string.h>

enum { users_per_page = 25 };

static const struct column USER_COLUMNS[] = {
	INTEGER(struct admin_user, id),
	TEXT(struct admin_user, name),
	TEXT(struct admin_user, role),
	TEXT(struct admin_user, kind),
	INTEGER(struct admin_user, must_change_password),
	TIME(struct admin_user, banned_at_ms),
	TIME(struct admin_user, deleted_at_ms),
	TIME(struct admin_user, created_at_ms),
	TIME(struct admin_user, seen_at_ms),
	INTEGER(struct admin_user, submissions),
	INTEGER(struct admin_user, has_factor),
};
#define OWN_FACTOR SQL_HAS_FACTOR("u.id")
/* The inner query selects the users on the page, so that the outer query counts submissions for
 * them only. */
static const struct statement USERS = SELECT(struct admin_user, USER_COLUMNS,
	"SELECT u.id, u.name, u.role, u.kind, u.must_change_password, u.banned_at AS banned_at_ms, "
	"u.deleted_at AS deleted_at_ms, "
	"u.created_at AS created_at_ms, "
	"(SELECT MAX(s.seen_at) FROM sessions s WHERE s.user_id = u.id AND NOT s.awaits_factor) "
	"AS seen_at_ms, "
	"(SELECT COUNT(*) FROM submissions s WHERE s.user_id = u.id AND NOT s.dry_run) AS "
	"submissions, " OWN_FACTOR " AS has_factor "
	"FROM (SELECT id FROM users WHERE LOCATE(?, name) ORDER BY name LIMIT ? OFFSET ?) page "
	"JOIN users u ON u.id = page.id ORDER BY u.name");

struct user_count {
	int64_t total;
};
static const struct column COUNT_COLUMNS[] = { INTEGER(struct user_count, total) };
static const struct statement COUNT_USERS = SELECT(
	struct user_count, COUNT_COLUMNS, "SELECT COUNT(*) AS total FROM users WHERE LOCATE(?, name)");

static int read_users(struct request *request, struct users_view *view, struct error *error)
{
	struct user_count count = { 0 };
	bool matches = text_is_ascii(view->search);
	int rc = matches
		? database_row(request->db, request->arena, &COUNT_USERS, &count, error, "s", view->search)
		: 0;
	view->total = count.total;
	if (!rc)
		rc = paging_make(
			&view->paging, count.total, users_per_page, query_number(request, "page", 1), error);
	if (!rc && count.total)
		rc = database_rows(request->db, request->arena, &USERS, &view->users, &view->count, error,
			"sii", view->search, (int64_t)users_per_page, view->paging.first - 1);
	return rc;
}

static int show_users(struct request *request, struct users_view *view)
{
	const char *search = request_query(request, "q");
	view->search = search ? search : "";
	view->viewer_id = request->viewer.id;
	struct error error = { 0 };
	int rc = read_users(request, view, &error);
	if (rc) {
		*request->error = error;
		return rc;
	}
	view->name_error = form_error(request, "name");
	view->role_error = form_error(request, "role");
	struct page page = form_page_make(request, "Users", "admin");
	admin_users_page(&request->body, &page, view);
	return 0;
}

int page_admin_users(struct request *request)
{
	struct users_view view = { .invited_name = "", .invited_role = "participant" };
	return show_users(request, &view);
}

/* A change to one user. */
struct user_change {
	struct request *request;
	const struct user *user;
	const char *name; /* name of the account to create */
	enum role role;
	password_link_text link;
};

static int audit_user_change(struct database *db, const struct user_change *change,
	const char *action, const char *detail, struct error *error)
{
	const struct request *request = change->request;
	return audit(db, request->viewer.id, request->viewer.name, request->address, action,
		change->user->name, detail, error);
}

/* Says what the user may do with the new role, and which role the user has now. */
static struct confirmation question_about_role(const struct user_change *change)
{
	static const char *const may[] = {
		[ROLE_PARTICIPANT] =
			"Participants submit. They create no leaderboards and cannot change those that they "
			"created earlier. Their invite codes admit nobody.",
		[ROLE_CREATOR] =
			"Creators create leaderboards, see everything on their own ones and may delete them.",
		[ROLE_ADMIN] = "Admins may do everything: read every source, change and delete every "
					   "leaderboard, ban, and make others admins.",
	};
	struct request *request = change->request;
	struct confirmation question = {
		.title = arena_printf(
			request->arena, "Give %s the role %s?", change->user->name, role_name(change->role)),
		.section = "admin",
		.button = "Set the role",
		.back = "/admin/users",
	};
	confirmation_says(request, &question, "%s has the role %s now. %s", change->user->name,
		change->user->role, may[change->role]);
	return question;
}

static int read_role(const char *text, enum role *role, struct error *error)
{
	return role_from_name(text, role)
		? fail_field(error, "role", "Choose a role: participant, creator or admin.")
		: 0;
}

static int change_role(struct user_change *change, struct users_view *view)
{
	struct request *request = change->request;
	if (read_role(request_form_or(request, "role", ""), &change->role, request->error))
		return ERROR_INPUT;
	struct confirmation question = question_about_role(change);
	if (!confirmation_given(request, &question)) {
		view->asks = true;
		return confirmation_ask(request, &question);
	}
	struct actor actor = actor_of(request);
	int rc = user_change_role(
		request->db, request->arena, change->user, change->role, &actor, request->error);
	if (!rc)
		notice_leave(
			request, "%s has the role %s now.", change->user->name, role_name(change->role));
	return rc;
}

static int unban_user(struct user_change *change, struct users_view *view)
{
	(void)view;
	struct request *request = change->request;
	struct actor actor = actor_of(request);
	int rc = user_unban(request->db, request->arena, change->user, &actor, request->error);
	if (!rc)
		notice_leave(request, "%s may log in again.", change->user->name);
	return rc;
}

static int remove_factors(struct user_change *change, struct users_view *view)
{
	struct request *request = change->request;
	const char *name = change->user->name;
	struct actor actor = actor_of(request);
	struct confirmation question = { .title = arena_printf(
										 request->arena, "Remove the second factors of %s?", name),
		.section = "admin",
		.what = "the user’s name",
		.typed = name,
		.button = "Remove them",
		.back = "/admin/users" };
	if (!confirmation_given(request, &question)) {
		view->asks = true;
		confirmation_says(request, &question,
			"Do this only for somebody who has lost them, and only if you are sure who asks. The "
			"password alone then opens the account. Every session ends.");
		return confirmation_ask(request, &question);
	}
	int rc = user_remove_factors(request->db, request->arena, change->user, &actor, request->error);
	if (!rc)
		notice_leave(request, "%s has no second factor any more.", name);
	return rc;
}

/* ---- links ---- */

static int store_link(struct database *db, void *context, struct error *error)
{
	struct user_change *change = context;
	const char *detail = arena_printf(change->request->arena,
		"a link to choose a password, which works once, for %d hours", password_link_hours);
	int rc =
		password_link_make(db, change->user->id, change->request->viewer.name, change->link, error);
	return rc ? rc : audit_user_change(db, change, "user.link", detail, error);
}

static int refuse_link(struct request *request)
{
	return fail(request->error, ERROR_INPUT,
		"This site has no passwords, so a link to choose one would not work.");
}

/* Makes a link to choose a password and shows it in the response; no later page shows it. */
static int make_link(struct user_change *change, struct users_view *view)
{
	struct request *request = change->request;
	if (!request->config->passwords)
		return refuse_link(request);
	if (change->user->banned_at_ms != TIME_NULL)
		return fail(request->error, ERROR_INPUT,
			"%s is banned, so a link would not work. Lift the ban first.", change->user->name);
	int rc = database_transaction(request->db, store_link, change, request->error);
	view->link_name = change->user->name;
	view->link =
		arena_printf(request->arena, "%s/password/%s", request->config->public_url, change->link);
	return rc;
}

static const struct user_action {
	const char *name;
	int (*run)(struct user_change *change, struct users_view *view);
	bool needs_factor; /* if the admin has one, within the last minutes */
} USER_ACTIONS[] = {
	{ "role", change_role, true },
	{ "unban", unban_user, false },
	{ "factors", remove_factors, true },
	{ "link", make_link, true },
};

static int find_other(struct request *request, const char *name, struct user *user)
{
	struct actor actor = actor_of(request);
	return user_find_other(request->db, request->arena, name, &actor, user, request->error);
}

static int run_user_action(struct request *request, struct users_view *view)
{
	const char *action = request_form_or(request, "action", "");
	struct user user;
	int rc = find_other(request, request_form_or(request, "user", ""), &user);
	if (rc)
		return rc;
	struct user_change change = { .request = request, .user = &user };
	for (size_t i = 0; i < COUNT(USER_ACTIONS); i++)
		if (strcmp(USER_ACTIONS[i].name, action) == 0) {
			view->asks =
				USER_ACTIONS[i].needs_factor && !account_is_confirmed(request, "/admin/users");
			return view->asks ? 0 : USER_ACTIONS[i].run(&change, view);
		}
	return fail(
		request->error, ERROR_INPUT, "This page has no such action; reload it and try again.");
}

/* Shows the page of users again with the outcome: a link, or an error message. */
static int show_outcome(struct request *request, int rc, struct users_view *view)
{
	if (rc && rc != ERROR_INPUT && rc != ERROR_CONFLICT)
		return rc;
	if (!rc && view->asks)
		return 0;
	if (!rc && !view->link)
		return redirect(request, "/admin/users");
	request->status = !rc ? 200 : rc == ERROR_CONFLICT ? 409 : 422;
	return show_users(request, view);
}

int action_admin_user(struct request *request)
{
	struct users_view view = { .invited_name = "", .invited_role = "participant" };
	return show_outcome(request, run_user_action(request, &view), &view);
}

/* ---- accounts for others ---- */

/* Nobody learns this random password; the invited user chooses another with the link. */
static const char *make_password(struct arena *arena)
{
	unsigned char secret[32];
	char *password = arena_alloc(arena, 2 * sizeof secret + 1);
	randombytes_buf(secret, sizeof secret);
	return sodium_bin2hex(password, 2 * sizeof secret + 1, secret, sizeof secret);
}

static int store_invitation(struct database *db, void *context, struct error *error)
{
	struct user_change *change = context;
	struct user user = {
		.name = change->name, .banned_at_ms = TIME_NULL, .deleted_at_ms = TIME_NULL
	};
	const char *detail =
		arena_printf(change->request->arena, "role: %s; its link works once, for %d hours",
			role_name(change->role), password_link_hours);
	int rc = user_create(db, change->name, make_password(change->request->arena), change->role,
		false, &user.id, error);
	change->user = &user;
	if (!rc)
		rc = password_link_make(db, user.id, change->request->viewer.name, change->link, error);
	if (!rc)
		rc = audit_user_change(db, change, "user.invite", detail, error);
	change->user = NULL;
	return rc;
}

static int check_invitation(
	struct request *request, const struct users_view *view, struct user_change *change)
{
	int rc = form_note(
		request, user_check_name(request->db, request->arena, view->invited_name, request->error));
	if (!rc)
		rc = form_note(request, read_role(view->invited_role, &change->role, request->error));
	return rc ? rc : form_noted(request);
}

int action_admin_invite(struct request *request)
{
	struct users_view view = { .invited_name = request_form_or(request, "name", ""),
		.invited_role = request_form_or(request, "role", "") };
	struct user_change change = { .request = request, .name = view.invited_name };
	int rc = request->config->passwords ? check_invitation(request, &view, &change)
										: refuse_link(request);
	if (!rc && change.role != ROLE_PARTICIPANT && !account_is_confirmed(request, "/admin/users"))
		return 0;
	if (!rc)
		rc = database_transaction(request->db, store_invitation, &change, request->error);
	if (!rc) {
		view.link_name = view.invited_name;
		view.link = arena_printf(
			request->arena, "%s/password/%s", request->config->public_url, change.link);
		view.invited_name = "", view.invited_role = "participant";
	}
	return show_outcome(request, rc, &view);
}

/* ---- bans ---- */

static const struct column EXTENT_COLUMNS[] = {
	INTEGER(struct ban_form, sessions),
	INTEGER(struct ban_form, tokens),
	INTEGER(struct ban_form, waiting),
	INTEGER(struct ban_form, running),
	INTEGER(struct ban_form, codes),
};
static const struct statement EXTENT = SELECT(struct ban_form, EXTENT_COLUMNS,
	"SELECT (SELECT COUNT(*) FROM sessions WHERE user_id = u.id AND NOT awaits_factor "
	"AND expires_at > UTC_TIMESTAMP(3)) AS sessions, "
	"(SELECT COUNT(*) FROM api_tokens WHERE user_id = u.id) AS tokens, "
	"(SELECT COUNT(*) FROM jobs WHERE user_id = u.id AND state = 'queued') AS waiting, "
	"(SELECT COUNT(*) FROM jobs WHERE user_id = u.id AND state = 'running') AS running, "
	"(SELECT COUNT(*) FROM invites WHERE created_by = u.id AND revoked_at IS NULL "
	"AND COALESCE(expires_at > UTC_TIMESTAMP(3), TRUE) "
	"  AND COALESCE(uses < most_uses, TRUE)) AS codes FROM users u WHERE u.id = ?");

static int show_ban(struct request *request, const struct user *user)
{
	struct ban_form form;
	struct error error = { 0 };
	int rc = database_row(request->db, request->arena, &EXTENT, &form, &error, "i", user->id);
	if (rc) {
		*request->error = error;
		return rc;
	}
	form.name = user->name;
	form.typed = request_form_or(request, "name", "");
	form.error = form_error(request, "name");
	struct page page =
		form_page_make(request, arena_printf(request->arena, "Ban %s", user->name), "admin");
	admin_ban_page(&request->body, &page, &form);
	return 0;
}

int page_admin_ban(struct request *request)
{
	struct user user;
	int rc = find_other(request, request->path_parameters[0], &user);
	return rc ? rc : show_ban(request, &user);
}

int action_admin_ban(struct request *request)
{
	struct user user;
	struct actor actor = actor_of(request);
	int rc = find_other(request, request->path_parameters[0], &user);
	if (rc)
		return rc;
	if (strcmp(request_form_or(request, "name", ""), user.name) != 0) {
		fail_field(request->error, "name",
			"This is not the user’s name, so nobody was banned. Type %s.", user.name);
		request->status = 422;
		return show_ban(request, &user);
	}
	rc = user_ban(request->db, request->arena, &user, &actor, request->error);
	if (rc)
		return rc;
	notice_leave(request, "%s was banned.", user.name);
	return redirect(request, "/admin/users");
}
