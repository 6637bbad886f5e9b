/* Users, invite codes, announcements and the audit log. */
#include "cgi/action/invite.h"
#include "cgi/action/user_change.h"
#include "cgi/admin/admin.h"
#include "cgi/admin/leaderboard.h"
#include "cgi/api/admin.h"
#include "cgi/page/announcement.h"
#include "lib/account/factor.h"
#include "lib/base/text.h"

#include <string.h>

/* ---- users ---- */

static const struct column USER_COLUMNS[] = {
	INTEGER(struct admin_user, id),
	TEXT(struct admin_user, name),
	TEXT(struct admin_user, role),
	TEXT(struct admin_user, kind),
	INTEGER(struct admin_user, must_change_password),
	TIME(struct admin_user, banned_at_ms),
	TIME(struct admin_user, deleted_at_ms),
	TIME(struct admin_user, created_at_ms),
	INTEGER(struct admin_user, has_factor),
};
#define OWN_FACTOR SQL_HAS_FACTOR("u.id")
static const struct statement USERS = SELECT(struct admin_user, USER_COLUMNS,
	"SELECT id, name, role, kind, must_change_password, banned_at AS banned_at_ms, "
	"deleted_at AS deleted_at_ms, created_at AS created_at_ms, " OWN_FACTOR " AS has_factor "
	"FROM users u WHERE id > ? AND LOCATE(?, name) ORDER BY id LIMIT ?");

static json_t *user_json(const char *name, const char *role, const char *kind, bool has_factor,
	int64_t banned_at_ms, int64_t deleted_at_ms, int64_t created_at_ms)
{
	return json_pack("{s:s, s:s, s:s, s:b, s:o, s:o, s:o}", "name", name, "role", role, "kind",
		kind, "second_factor", has_factor, "banned_at", json_moment(banned_at_ms), "deleted_at",
		json_moment(deleted_at_ms), "created_at", json_moment(created_at_ms));
}

int api_admin_users(struct request *request)
{
	struct api_list list;
	struct admin_user *rows;
	size_t count = 0;
	const char *search = request_query(request, "q");
	int rc = api_list_read(request, &list);
	if (!rc && text_is_ascii(search ? search : ""))
		rc = database_rows(request->db, request->arena, &USERS, &rows, &count, request->error,
			"isi", list.after[0], search ? search : "", list.limit + 1);
	if (rc)
		return rc;
	json_t *items = json_array();
	bool has_more = (int64_t)count > list.limit;
	count -= has_more;
	for (size_t i = 0; i < count; i++)
		json_array_append_new(items,
			user_json(rows[i].name, rows[i].role, rows[i].kind, rows[i].has_factor,
				rows[i].banned_at_ms, rows[i].deleted_at_ms, rows[i].created_at_ms));
	return respond_list(
		request, items, has_more ? api_cursor(request, rows[count - 1].id, 0) : NULL);
}

/* Finds the user named in the address, if the actor may change the account. */
static int find_user_of_path(struct request *request, const struct actor *actor, struct user *user)
{
	return user_find_other(
		request->db, request->arena, request->path_parameters[0], actor, user, request->error);
}

static int respond_user(struct request *request, int64_t id)
{
	struct user user;
	struct factors factors;
	int rc = user_by_id(request->db, request->arena, id, &user, request->error);
	if (!rc)
		rc = factors_of_user(request->db, request->arena, id, &factors, request->error);
	return rc ? rc
			  : respond_json(request,
				  user_json(user.name, user.role, user.kind, factors_any(&factors),
					  user.banned_at_ms, user.deleted_at_ms, user.created_at_ms));
}

int api_admin_role(struct request *request)
{
	struct actor actor = actor_of(request);
	struct user user;
	enum role role;
	const char *name;
	int rc = find_user_of_path(request, &actor, &user);
	if (!rc)
		rc = api_text_or_nothing(request, "role", &name);
	if (!rc && role_from_name(name, &role))
		rc = fail_field(
			request->error, "role", "A role is participant, creator or admin; choose one of them.");
	if (!rc)
		rc = user_change_role(request->db, request->arena, &user, role, &actor, request->error);
	return rc ? rc : respond_user(request, user.id);
}

int api_admin_ban(struct request *request)
{
	struct actor actor = actor_of(request);
	struct user user;
	int rc = find_user_of_path(request, &actor, &user);
	if (!rc)
		rc = api_confirm(request, "the user's name", user.name);
	if (!rc)
		rc = user_ban(request->db, request->arena, &user, &actor, request->error);
	return rc ? rc : respond_user(request, user.id);
}

int api_admin_unban(struct request *request)
{
	struct actor actor = actor_of(request);
	struct user user;
	int rc = find_user_of_path(request, &actor, &user);
	if (!rc)
		rc = user_unban(request->db, request->arena, &user, &actor, request->error);
	return rc ? rc : respond_user(request, user.id);
}

int api_admin_remove_factors(struct request *request)
{
	struct actor actor = actor_of(request);
	struct user user;
	int rc = find_user_of_path(request, &actor, &user);
	if (!rc)
		rc = api_confirm(request, "the user's name", user.name);
	if (!rc)
		rc = user_remove_factors(request->db, request->arena, &user, &actor, request->error);
	return rc ? rc : respond_user(request, user.id);
}

/* ---- invite codes ---- */

static json_t *invite_json(const struct invite *one)
{
	return json_pack("{s:s, s:s, s:s, s:o, s:I, s:o, s:o, s:o, s:o}", "code", one->code, "state",
		invite_state(one), "note", one->note, "leaderboards", json_text(one->leaderboards), "uses",
		(json_int_t)one->uses, "most_uses", json_count(one->most_uses), "expires_at",
		json_moment(one->expires_at_ms), "created_by", json_text(one->creator), "created_at",
		json_moment(one->created_at_ms));
}

int api_admin_invites(struct request *request)
{
	struct invite *rows;
	size_t count;
	int rc = invites_list(
		request->db, request->arena, managed_creator(request), &rows, &count, request->error);
	if (rc)
		return rc;
	json_t *items = json_array();
	for (size_t i = 0; i < count; i++)
		json_array_append_new(items, invite_json(&rows[i]));
	return respond_list(request, items, NULL);
}

static int find_invite(struct request *request, const char *code, struct invite *one)
{
	struct invite *rows;
	size_t count;
	int rc = invites_list(
		request->db, request->arena, managed_creator(request), &rows, &count, request->error);
	for (size_t i = 0; i < count && !rc; i++)
		if (strcmp(rows[i].code, code) == 0)
			return *one = rows[i], 0;
	return rc ? rc : fail(request->error, ERROR_NOT_FOUND, "There is no such invite code.");
}

static int read_invite(struct request *request, struct invite_request *wanted)
{
	int rc = api_texts(request, "leaderboards", &wanted->leaderboards, &wanted->leaderboard_count);
	if (!rc)
		rc = api_text_or_nothing(request, "note", &wanted->note);
	if (!rc)
		rc = api_integer(request, "most_uses", 0, &wanted->most_uses);
	if (!rc && (wanted->most_uses < 0 || wanted->most_uses > invite_most_uses))
		rc = fail_field(request->error, "most_uses",
			"The member most_uses is a whole number from 1 to %d, or null.", invite_most_uses);
	return rc ? rc : api_moment(request, "expires_at", TIME_NULL, &wanted->expires_at_ms);
}

int api_admin_invite_make(struct request *request)
{
	struct actor actor = actor_of(request);
	struct invite_request wanted = { 0 };
	struct invite one;
	const char *code;
	int rc = read_invite(request, &wanted);
	if (!rc)
		rc = invite_create(request->db, request->arena, &wanted, &actor, &code, request->error);
	if (!rc)
		rc = find_invite(request, code, &one);
	return rc ? rc : respond_created(request, invite_json(&one), "/api/v1/admin/invites");
}

int api_admin_invite_revoke(struct request *request)
{
	struct actor actor = actor_of(request);
	struct invite one;
	int rc = find_invite(request, request->path_parameters[0], &one);
	if (!rc)
		rc = invite_revoke(
			request->db, request->arena, one.id, managed_creator(request), &actor, request->error);
	return rc ? rc : respond_nothing(request);
}

/* ---- announcements ---- */

static json_t *announcement_json(const struct announcement *one)
{
	return json_pack("{s:I, s:s, s:o, s:o, s:o, s:s}", "id", (json_int_t)one->id, "text", one->text,
		"leaderboard", json_text(one->leaderboard), "from", json_moment(one->from_ms), "until",
		json_moment(one->until_ms), "made_by", one->made_by);
}

int api_admin_announcements(struct request *request)
{
	struct announcement *rows;
	size_t count;
	int rc = announcements_list(request, &rows, &count);
	if (rc)
		return rc;
	json_t *items = json_array();
	for (size_t i = 0; i < count; i++)
		json_array_append_new(items, announcement_json(&rows[i]));
	return respond_list(request, items, NULL);
}

int api_admin_announcement_make(struct request *request)
{
	struct announcements_view view = { 0 };
	struct announcement one;
	int64_t id;
	int rc = api_text_or_nothing(request, "text", &view.text);
	if (!rc)
		rc = api_text_or_nothing(request, "leaderboard", &view.leaderboard);
	if (!rc)
		rc = api_text_or_nothing(request, "from", &view.from);
	if (!rc)
		rc = api_text_or_nothing(request, "until", &view.until);
	if (!rc)
		rc = announcement_make(request, &view, &id);
	if (!rc)
		rc = announcement_find(request, id, &one);
	return rc ? rc
			  : respond_created(request, announcement_json(&one), "/api/v1/admin/announcements");
}

int api_admin_announcement_end(struct request *request)
{
	int64_t id;
	int rc = api_path_id(request, 0, "announcement", &id);
	if (!rc)
		rc = announcement_end(request, id);
	return rc ? rc : respond_nothing(request);
}

/* ---- the audit log ---- */

int api_admin_audit(struct request *request)
{
	struct api_list list;
	int rc = api_list_read(request, &list);
	struct audit_view view = {
		.actor = request_query_or(request, "actor", ""),
		.action = request_query_or(request, "action", ""),
		.words = request_query_or(request, "q", ""),
		.from = request_query_or(request, "from", ""),
		.to = request_query_or(request, "to", ""),
	};
	if (!rc)
		rc = audit_find(request, &view, list.is_first ? INT64_MAX : list.after[0]);
	if (!rc && view.error)
		rc = fail(request->error, ERROR_INPUT, "%s", view.error);
	if (rc)
		return rc;
	json_t *items = json_array();
	size_t shown = (int64_t)view.count > list.limit ? (size_t)list.limit : view.count;
	for (size_t i = 0; i < shown; i++) {
		const struct audit_row *row = &view.rows[i];
		json_array_append_new(items,
			json_pack("{s:I, s:o, s:s, s:s, s:s, s:s, s:s}", "id", (json_int_t)row->id, "at",
				json_moment(row->at_ms), "actor", row->actor, "address", row->address, "action",
				row->action, "subject", row->subject, "detail", row->detail));
	}
	/* A search by words may stop before the end of the log; the next page then continues at
	 * view.before. */
	int64_t next = shown < view.count ? view.rows[shown - 1].id : view.before;
	return respond_list(request, items, next ? api_cursor(request, next, 0) : NULL);
}
