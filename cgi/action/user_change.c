#include "cgi/action/user_change.h"

#include "cgi/action/token.h"
#include "lib/account/audit.h"
#include "lib/account/factor.h"
#include "lib/base/format.h"
#include "lib/base/text.h"
#include "lib/database/job_count.h"
#include "lib/ranking/head_to_head.h"

int user_find_other(struct database *db, struct arena *arena, const char *name,
	const struct actor *actor, struct user *user, struct error *error)
{
	int rc = text_is_user_name(name) ? user_by_name(db, arena, name, user, error)
									 : fail(error, ERROR_NOT_FOUND, "There is no such user.");
	if (!rc && user->id == actor->id)
		rc = fail(error, ERROR_INPUT,
			"You cannot change your own account here; ask another admin, "
			"and change your password on your account's page.");
	if (!rc && user->deleted_at_ms != TIME_NULL)
		rc = fail(error, ERROR_CONFLICT,
			"The user has deleted this account, so there is nothing to change.");
	return rc;
}

struct change {
	struct arena *arena;
	const struct user *user;
	const struct actor *actor;
	enum role role;
};

static int audit_user_change(struct database *db, const struct change *change, const char *action,
	const char *detail, struct error *error)
{
	const struct actor *actor = change->actor;
	return audit(
		db, actor->id, actor->name, actor->address, action, change->user->name, detail, error);
}

static int store_role(struct database *db, void *context, struct error *error)
{
	const struct change *change = context;
	const char *detail = arena_printf(
		change->arena, "role: %s, was %s", role_name(change->role), change->user->role);
	int rc = user_lock_admin(db, change->actor->id, error);
	if (!rc)
		rc = user_set_role(db, change->user->id, change->role, error);
	return rc ? rc : audit_user_change(db, change, "user.role", detail, error);
}

static const struct statement BAN =
	COMMAND("UPDATE users SET banned_at = COALESCE(banned_at, UTC_TIMESTAMP(3)) WHERE id = ?");
static const struct statement UNBAN = COMMAND("UPDATE users SET banned_at = NULL WHERE id = ?");
static const struct statement END_SESSIONS = COMMAND("DELETE FROM sessions WHERE user_id = ?");
static const struct statement END_LINKS = COMMAND("DELETE FROM password_links WHERE user_id = ?");
#define QUEUED_JOBS "jobs j JOIN submissions s ON s.id = j.submission_id "
#define OF_USER "WHERE s.user_id = ? AND j.state = 'queued'"
static const struct statement COUNT_JOBS = COMMAND(SQL_COUNT_CANCELLED(QUEUED_JOBS OF_USER));
static const struct statement CANCEL_JOBS =
	COMMAND("UPDATE " QUEUED_JOBS
			"SET j.state = 'cancelled', j.verdict = 'cancelled', j.reason = 'The account was "
			"banned before the job started.', j.finished_at = UTC_TIMESTAMP(3) " OF_USER);

static int store_ban(struct database *db, void *context, struct error *error)
{
	const struct change *change = context;
	int64_t id = change->user->id;
	int rc = user_lock_admin(db, change->actor->id, error);
	if (!rc)
		rc = database_execute(db, &BAN, error, "i", id);
	if (!rc)
		rc = database_execute(db, &END_SESSIONS, error, "i", id);
	if (!rc)
		rc = database_execute(db, &COUNT_JOBS, error, "i", id);
	if (!rc)
		rc = database_execute(db, &CANCEL_JOBS, error, "i", id);
	const char *detail = arena_printf(change->arena, "banned; %s cancelled, every session ended",
		plural(change->arena, (int64_t)database_affected(db), "queued job"));
	if (!rc)
		rc = database_execute(db, &END_LINKS, error, "i", id);
	if (!rc)
		rc = token_revoke_all(db, id, error);
	if (!rc)
		rc = head_to_head_withdraw_user(db, id, error);
	return rc ? rc : audit_user_change(db, change, "user.ban", detail, error);
}

static int store_unban(struct database *db, void *context, struct error *error)
{
	const struct change *change = context;
	int rc = database_execute(db, &UNBAN, error, "i", change->user->id);
	return rc ? rc
			  : audit_user_change(db, change, "user.unban", "may log in and submit again", error);
}

static int store_removal(struct database *db, void *context, struct error *error)
{
	const struct change *change = context;
	const struct user *user = change->user;
	int rc = user_lock_admin(db, change->actor->id, error);
	if (!rc)
		rc = factor_remove(db, user->id, user->name, FACTOR_ALL, 0, change->actor, error);
	return rc ? rc : database_execute(db, &END_SESSIONS, error, "i", user->id);
}

int user_change_role(struct database *db, struct arena *arena, const struct user *user,
	enum role role, const struct actor *actor, struct error *error)
{
	struct change change = { .arena = arena, .user = user, .actor = actor, .role = role };
	return database_transaction(db, store_role, &change, error);
}

int user_ban(struct database *db, struct arena *arena, const struct user *user,
	const struct actor *actor, struct error *error)
{
	struct change change = { .arena = arena, .user = user, .actor = actor };
	return database_transaction(db, store_ban, &change, error);
}

int user_unban(struct database *db, struct arena *arena, const struct user *user,
	const struct actor *actor, struct error *error)
{
	struct change change = { .arena = arena, .user = user, .actor = actor };
	return database_transaction(db, store_unban, &change, error);
}

int user_remove_factors(struct database *db, struct arena *arena, const struct user *user,
	const struct actor *actor, struct error *error)
{
	struct change change = { .arena = arena, .user = user, .actor = actor };
	return database_transaction(db, store_removal, &change, error);
}
