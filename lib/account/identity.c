#include "lib/account/identity.h"

#include "lib/account/user.h"
#include "lib/base/scope.h"

#include <string.h>

static const struct column COLUMNS[] = {
	INTEGER(struct identity, id),
	INTEGER(struct identity, user_id),
	TEXT(struct identity, issuer),
	TEXT(struct identity, subject),
	TEXT(struct identity, shown_as),
	TIME(struct identity, created_at_ms),
	TIME(struct identity, used_at_ms),
};
#define FIELDS \
	"SELECT id, user_id, issuer, subject, shown_as, created_at AS created_at_ms, " \
	"used_at AS used_at_ms FROM identities "
static const struct statement FIND =
	SELECT(struct identity, COLUMNS, FIELDS "WHERE issuer = ? AND subject = ?");
static const struct statement OF_USER =
	SELECT(struct identity, COLUMNS, FIELDS "WHERE user_id = ? ORDER BY id");
static const struct statement USED =
	COMMAND("UPDATE identities SET used_at = UTC_TIMESTAMP(3), shown_as = ? WHERE id = ?");
static const struct statement LINK =
	COMMAND("INSERT INTO identities (user_id, issuer, subject, shown_as) "
			"SELECT id, ?, ?, ? FROM users WHERE id = ? AND kind = 'person'");
static const struct statement UNLINK = COMMAND("DELETE FROM identities WHERE id = ?");

struct owner {
	const char *name;
	int64_t has_password;
};
static const struct column OWNER_COLUMNS[] = { TEXT(struct owner, name),
	INTEGER(struct owner, has_password) };
/* Two requests that unlink a user's last two identities wait for each other on this lock. */
static const struct statement LOCK_OWNER = SELECT(struct owner, OWNER_COLUMNS,
	"SELECT name, password_hash <> '' AS has_password FROM users WHERE id = ? FOR UPDATE");

int identity_find(struct database *db, struct arena *arena, const char *issuer, const char *subject,
	struct identity *identity, struct error *error)
{
	return database_row(db, arena, &FIND, identity, error, "ss", issuer, subject);
}

int identities_of_user(struct database *db, struct arena *arena, int64_t user_id,
	struct identity **identities, size_t *count, struct error *error)
{
	return database_rows(db, arena, &OF_USER, identities, count, error, "i", user_id);
}

int identity_used(struct database *db, int64_t id, const char *shown_as, struct error *error)
{
	return database_execute(db, &USED, error, "si", shown_as, id);
}

static int audit_identity(struct database *db, struct arena *arena, const char *action,
	const struct identity *identity, const char *user_name, const struct actor *actor,
	struct error *error)
{
	/* The entry leaves out the shown name, which may be an e-mail address, because the log outlives
	 * the account. */
	const char *detail =
		arena_printf(arena, "subject %s at %s", identity->subject, identity->issuer);
	return audit(db, actor->id, actor->name, actor->address, action, user_name, detail, error);
}

int identity_link(struct database *db, const struct identity *identity, const char *user_name,
	const struct actor *actor, struct error *error)
{
	cleanup_arena struct arena *arena = arena_new();
	int rc = database_execute(db, &LINK, error, "sssi", identity->issuer, identity->subject,
		identity->shown_as, identity->user_id);
	if (rc == ERROR_CONFLICT)
		return fail(error, rc, "This account of the provider is linked to an account already.");
	if (!rc && !database_affected(db))
		return fail(error, ERROR_CONFLICT, "Nobody logs into a team, so nothing was linked.");
	if (!rc)
		rc = user_tell_owner(db, identity->user_id,
			/* The e-mail leaves out the shown name: whoever linked the identity chose that name. */
			arena_printf(arena, "An account at %s was linked. It logs in to your account now.",
				identity->issuer),
			error);
	return rc ? rc
			  : audit_identity(db, arena, "user.link_identity", identity, user_name, actor, error);
}

struct unlinking {
	int64_t user_id, id;
	bool passwords, needs_another_way;
	const struct actor *actor;
};

static int unlink_body(struct database *db, void *context, struct error *error)
{
	cleanup_arena struct arena *arena = arena_new();
	const struct unlinking *unlinking = context;
	struct owner owner;
	struct identity *all;
	const struct identity *found = NULL;
	size_t count;
	int rc = database_row(db, arena, &LOCK_OWNER, &owner, error, "i", unlinking->user_id);
	if (!rc)
		rc = identities_of_user(db, arena, unlinking->user_id, &all, &count, error);
	if (rc)
		return rc;
	for (size_t i = 0; i < count; i++)
		if (all[i].id == unlinking->id)
			found = &all[i];
	if (!found)
		return fail(error, ERROR_NOT_FOUND, "This account has no such identity.");
	if (unlinking->needs_another_way && count == 1 && !(unlinking->passwords && owner.has_password))
		return fail(error, ERROR_CONFLICT,
			"This is the only way into the account, so nothing was unlinked. %s first.",
			unlinking->passwords ? "Set a password, or link another account,"
								 : "Link another account");
	rc = database_execute(db, &UNLINK, error, "i", found->id);
	return rc ? rc
			  : audit_identity(
				  db, arena, "user.unlink_identity", found, owner.name, unlinking->actor, error);
}

int identity_unlink(struct database *db, int64_t user_id, int64_t id, bool passwords,
	bool needs_another_way, const struct actor *actor, struct error *error)
{
	struct unlinking unlinking = { user_id, id, passwords, needs_another_way, actor };
	return database_transaction(db, unlink_body, &unlinking, error);
}
