#include "cgi/action/invite.h"

#include "lib/account/audit.h"
#include "lib/account/user.h"
#include "lib/base/format.h"
#include "lib/base/quote.h"
#include "lib/base/scope.h"
#include "lib/base/text.h"
#include "lib/leaderboard/right.h"

#include <sodium.h>
#include <string.h>

static const struct column INVITE_COLUMNS[] = {
	INTEGER(struct invite, id),
	TEXT(struct invite, code),
	TEXT(struct invite, note),
	INTEGER(struct invite, most_uses),
	INTEGER(struct invite, uses),
	TIME(struct invite, expires_at_ms),
	TIME(struct invite, revoked_at_ms),
	INTEGER(struct invite, expired),
	INTEGER(struct invite, suspended),
	TEXT(struct invite, creator),
	TIME(struct invite, created_at_ms),
	TEXT(struct invite, leaderboards),
};
/* SQL condition: the creator of a code may invite to this leaderboard. `maker` is the creator's row
 * in users, whose columns are NULL if the code has no creator. */
#define SQL_MAY_INVITE(maker, leaderboard) \
	"(" maker ".id IS NULL OR " maker ".deleted_at IS NOT NULL OR (" maker \
	".banned_at IS NULL AND " SQL_RIGHT_OF(maker, leaderboard) " >= 2))"
/* Joins a code `c` with its leaderboards `l` and its creator `maker`. */
#define OF_CODE \
	"invites c JOIN invite_leaderboards b ON b.invite_id = c.id " \
	"JOIN leaderboards l ON l.id = b.leaderboard_id " \
	"LEFT JOIN users maker ON maker.id = c.created_by"
#define MAKER_MAY_INVITE SQL_MAY_INVITE("maker", "l")
#define INVITES_WHERE(condition) \
	SELECT(struct invite, INVITE_COLUMNS, \
		"SELECT i.id, i.code, i.note, i.most_uses, i.uses, i.expires_at AS expires_at_ms, " \
		"i.revoked_at AS revoked_at_ms, " \
		"COALESCE(i.expires_at <= UTC_TIMESTAMP(3), 0) AS expired, " \
		"(SELECT COUNT(*) > 0 AND NOT SUM(" MAKER_MAY_INVITE ") " \
		"FROM " OF_CODE " WHERE c.id = i.id) AS suspended, " \
		"u.name AS creator, i.created_at AS created_at_ms, " \
		"(SELECT GROUP_CONCAT(l.name ORDER BY l.name SEPARATOR ', ') FROM invite_leaderboards b " \
		"JOIN leaderboards l ON l.id = b.leaderboard_id " \
		"WHERE b.invite_id = i.id) AS leaderboards " \
		"FROM invites i LEFT JOIN users u ON u.id = i.created_by WHERE " condition)
static const struct statement INVITES =
	INVITES_WHERE("? IN (0, i.created_by) ORDER BY i.id DESC LIMIT 500");
/* Locks the code, so that only one user gets the last use. */
static const struct statement LOCK_CODE = INVITES_WHERE("i.code = ? FOR UPDATE");
static const struct statement LOCK_ID =
	INVITES_WHERE("i.id = ? AND ? IN (0, i.created_by) FOR UPDATE");

/* SQL condition: the code admits the user to the leaderboard `l`. Binds the user's ID. */
#define GIVES_SEAT \
	MAKER_MAY_INVITE " AND NOT EXISTS (SELECT 1 FROM leaderboard_removals gone " \
					 "WHERE gone.leaderboard_id = l.id AND gone.user_id = ?)"

static const struct statement INSERT = COMMAND(
	"INSERT INTO invites (code, note, most_uses, expires_at, created_by) VALUES (?, ?, ?, ?, ?)");
static const struct statement INSERT_LEADERBOARD =
	COMMAND("INSERT INTO invite_leaderboards (invite_id, leaderboard_id) SELECT ?, id "
			"FROM leaderboards l WHERE name = ? AND " SQL_MAY_CHANGE("l"));
static const struct statement REVOKE =
	COMMAND("UPDATE invites SET revoked_at = UTC_TIMESTAMP(3) WHERE id = ?");
/* Does not touch memberships that the user already has. Otherwise the statement would wait for a
 * transaction that is removing such a membership, and would then create it again. */
static const struct statement SEAT =
	COMMAND("INSERT IGNORE INTO leaderboard_members (leaderboard_id, user_id) SELECT l.id, u.id "
			"FROM " OF_CODE " JOIN users u ON u.id = ? "
			"WHERE c.id = ? AND " GIVES_SEAT
			" AND NOT EXISTS (SELECT 1 FROM leaderboard_members m WHERE m.leaderboard_id = l.id "
			"AND m.user_id = u.id)");
static const struct statement NOTE_USE =
	COMMAND("INSERT IGNORE INTO invite_uses (invite_id, user_id) VALUES (?, ?)");
static const struct statement COUNT_USE =
	COMMAND("UPDATE invites SET uses = uses + 1 WHERE id = ?");

static const struct column LEADERBOARD_COLUMNS[] = { TEXT(struct invite_leaderboard, name) };
static const struct statement LEADERBOARDS = SELECT(struct invite_leaderboard, LEADERBOARD_COLUMNS,
	"SELECT l.name FROM invite_leaderboards b JOIN leaderboards l ON l.id = b.leaderboard_id "
	"JOIN leaderboard_members m ON m.leaderboard_id = l.id AND m.user_id = ? "
	"WHERE b.invite_id = ? ORDER BY l.name");

/* Counts the invite code's leaderboards of which the user is not a member. `count`: all of them.
 * `seats`: those to which the code admits the user. `removed`: those from which the user was
 * removed. */
struct missing {
	int64_t count, seats, removed;
};
static const struct column MISSING_COLUMNS[] = {
	INTEGER(struct missing, count),
	INTEGER(struct missing, seats),
	INTEGER(struct missing, removed),
};
static const struct statement MISSING = SELECT(struct missing, MISSING_COLUMNS,
	"SELECT COUNT(*) AS count, COALESCE(SUM(" GIVES_SEAT "), 0) AS seats, "
	"  COALESCE(SUM(EXISTS (SELECT 1 FROM leaderboard_removals r WHERE r.leaderboard_id = l.id "
	"AND r.user_id = ?)), 0) AS removed "
	"FROM " OF_CODE " WHERE c.id = ? AND NOT EXISTS "
	"(SELECT 1 FROM leaderboard_members m WHERE m.leaderboard_id = l.id AND m.user_id = ?)");

const char *invite_state(const struct invite *invite)
{
	if (invite->revoked_at_ms != TIME_NULL)
		return "revoked";
	if (invite->expired)
		return "expired";
	if (invite->suspended)
		return "suspended";
	return invite->most_uses != SQL_NULL_INTEGER && invite->uses >= invite->most_uses ? "used up"
																					  : "open";
}

/* ---- creating a code ---- */

struct creation {
	struct arena *arena;
	const struct invite_request *request;
	const struct actor *actor;
	const char *code;
};

/* Draws letters and digits that do not look alike; 20 of them have about 99 bits. */
static const char *make_code(struct arena *arena)
{
	static const char letters[] = "abcdefghjkmnpqrstuvwxyz23456789";
	char *code = arena_alloc(arena, invite_code_length + 1);
	for (size_t i = 0; i < invite_code_length; i++)
		code[i] = letters[randombytes_uniform(sizeof letters - 1)];
	code[invite_code_length] = '\0';
	return code;
}

int invite_check_leaderboards(
	struct arena *arena, const struct invite_request *request, struct error *error)
{
	if (!request->leaderboard_count)
		return fail_field(
			error, "leaderboard", "Choose at least one leaderboard that the code is for.");
	for (size_t i = 0; i < request->leaderboard_count; i++)
		if (!text_is_leaderboard_name(request->leaderboards[i]))
			return fail_field(error, "leaderboard", "There is no leaderboard named %s.",
				quote(arena, request->leaderboards[i]));
	return 0;
}

int invite_check_note(const struct invite_request *request, struct error *error)
{
	if (strlen(request->note) > invite_most_note_bytes)
		return fail_field(
			error, "note", "The note is too long: it may have %d bytes.", invite_most_note_bytes);
	return 0;
}

int invite_check_expiry(const struct invite_request *request, struct error *error)
{
	if (request->expires_at_ms != TIME_NULL && request->expires_at_ms <= now_ms())
		return fail_field(error, "expires",
			"This time is in the past. Choose a later one, or leave the field empty.");
	return 0;
}

/* Describes the code for the audit log. The code itself stays out, because many admins read the
 * log. */
static const char *invite_words(struct arena *arena, const char *leaderboards, const char *note)
{
	return arena_printf(arena, "for %s%s%s", leaderboards, *note ? ": " : "", note);
}

static int write_creation(
	struct database *db, const struct creation *creation, int64_t id, struct error *error)
{
	struct arena *arena = creation->arena;
	const struct invite_request *request = creation->request;
	const struct actor *actor = creation->actor;
	const char *names = request->leaderboards[0];
	for (size_t i = 1; i < request->leaderboard_count; i++)
		names = arena_printf(arena, "%s, %s", names, request->leaderboards[i]);
	return audit(db, actor->id, actor->name, actor->address, "invite.create",
		arena_printf(arena, "invite %lld", (long long)id),
		invite_words(arena, names, request->note), error);
}

static int create_body(struct database *db, void *context, struct error *error)
{
	struct creation *creation = context;
	const struct invite_request *request = creation->request;
	const struct actor *actor = creation->actor;
	int rc = database_execute(db, &INSERT, error, "ssiti", creation->code, request->note,
		request->most_uses ? request->most_uses : SQL_NULL_INTEGER, request->expires_at_ms,
		actor->id ? actor->id : SQL_NULL_INTEGER);
	int64_t id = (int64_t)database_insert_id(db);
	for (size_t i = 0; i < request->leaderboard_count && !rc; i++) {
		const char *name = request->leaderboards[i];
		rc = database_execute(db, &INSERT_LEADERBOARD, error, "isi", id, name, actor->id);
		if (rc == ERROR_CONFLICT)
			rc = 0; /* the request named the leaderboard twice */
		else if (!rc && !database_affected(db))
			rc = fail_field(error, "leaderboard",
				"There is no leaderboard named %s that you may invite to.", name);
	}
	return rc ? rc : write_creation(db, creation, id, error);
}

int invite_create(struct database *db, struct arena *arena, const struct invite_request *request,
	const struct actor *actor, const char **code, struct error *error)
{
	struct creation creation = {
		.arena = arena, .request = request, .actor = actor, .code = make_code(arena)
	};
	int rc = invite_check_leaderboards(arena, request, error);
	if (!rc)
		rc = invite_check_note(request, error);
	if (!rc)
		rc = invite_check_expiry(request, error);
	if (!rc)
		rc = database_transaction(db, create_body, &creation, error);
	*code = creation.code;
	return rc;
}

int invites_list(struct database *db, struct arena *arena, int64_t creator_id,
	struct invite **invites, size_t *count, struct error *error)
{
	return database_rows(db, arena, &INVITES, invites, count, error, "i", creator_id);
}

/* ---- revoking a code ---- */

struct revocation {
	struct arena *arena;
	int64_t id, creator_id;
	const struct actor *actor;
};

static int revoke_body(struct database *db, void *context, struct error *error)
{
	const struct revocation *revocation = context;
	const struct actor *actor = revocation->actor;
	struct invite invite;
	int rc = database_row(db, revocation->arena, &LOCK_ID, &invite, error, "ii", revocation->id,
		revocation->creator_id);
	if (rc == ERROR_NOT_FOUND)
		return fail(error, rc, "There is no invite with this number that you may revoke.");
	if (rc || invite.revoked_at_ms != TIME_NULL)
		return rc;
	rc = database_execute(db, &REVOKE, error, "i", revocation->id);
	return rc ? rc
			  : audit(db, actor->id, actor->name, actor->address, "invite.revoke",
				  arena_printf(revocation->arena, "invite %lld", (long long)revocation->id),
				  invite_words(revocation->arena,
					  invite.leaderboards ? invite.leaderboards : "leaderboards that were deleted",
					  invite.note),
				  error);
}

int invite_revoke(struct database *db, struct arena *arena, int64_t id, int64_t creator_id,
	const struct actor *actor, struct error *error)
{
	struct revocation revocation = {
		.arena = arena, .id = id, .creator_id = creator_id, .actor = actor
	};
	return database_transaction(db, revoke_body, &revocation, error);
}

/* ---- redeeming a code ---- */

struct redemption {
	struct arena *arena;
	const char *code;
	int64_t user_id;
	struct invite_leaderboard *leaderboards;
	size_t count;
};

static int refuse_closed(const struct invite *invite, struct error *error)
{
	static const struct {
		const char *state, *sentence;
	} refusals[] = {
		{ "revoked", "This code was revoked. Ask the person who gave it to you for another." },
		{ "expired", "This code has expired. Ask the person who gave it to you for another." },
		{ "suspended",
			"The person who created this code may no longer invite. Ask an admin for another "
			"code." },
		{ "used up", "This code has no uses left. Ask the person who gave it to you for another." },
	};
	for (size_t i = 0; i < COUNT(refusals); i++)
		if (strcmp(refusals[i].state, invite_state(invite)) == 0)
			return fail_field(error, "code", "%s", refusals[i].sentence);
	return 0;
}

/* Fails if the code is open but admits this user to no leaderboard. */
static int refuse_seat(const struct missing *missing, struct error *error)
{
	if (missing->seats)
		return 0;
	return missing->removed ? fail_field(error, "code",
			   "You were removed from the leaderboard that this code is for, so it does not let "
			   "you in; ask the leaderboard’s creator.")
							: fail_field(error, "code",
								"The person who created this code may no longer invite to its "
								"remaining leaderboards. Ask an admin for another code.");
}

/* Makes the user a member of the code's other leaderboards. Called only if there are any. */
static int take_seats(struct database *db, const struct redemption *redemption,
	const struct invite *invite, const struct missing *missing, struct error *error)
{
	int rc = refuse_closed(invite, error);
	if (!rc)
		rc = refuse_seat(missing, error);
	if (!rc)
		rc = database_execute(
			db, &SEAT, error, "iii", redemption->user_id, invite->id, redemption->user_id);
	if (!rc)
		rc = database_execute(db, &NOTE_USE, error, "ii", invite->id, redemption->user_id);
	return rc ? rc : database_execute(db, &COUNT_USE, error, "i", invite->id);
}

static int redeem_body(struct database *db, void *context, struct error *error)
{
	struct redemption *redemption = context;
	struct invite invite;
	struct missing missing;
	int64_t user = redemption->user_id;
	int rc = database_row(db, redemption->arena, &LOCK_CODE, &invite, error, "s", redemption->code);
	if (rc == ERROR_NOT_FOUND)
		return fail_field(error, "code", "There is no such code. Check that you copied all of it.");
	if (!rc)
		rc = database_row(
			db, redemption->arena, &MISSING, &missing, error, "iiii", user, user, invite.id, user);
	if (!rc && missing.count)
		rc = take_seats(db, redemption, &invite, &missing, error);
	return rc ? rc
			  : database_rows(db, redemption->arena, &LEADERBOARDS, &redemption->leaderboards,
				  &redemption->count, error, "ii", user, invite.id);
}

int invite_redeem(struct database *db, struct arena *arena, const char *code, int64_t user_id,
	struct invite_leaderboard **leaderboards, size_t *count, struct error *error)
{
	struct redemption redemption = { .arena = arena, .code = code, .user_id = user_id };
	/* Text that cannot be a code needs no query, and might not fit the ASCII column. */
	bool is_code = strlen(code) == invite_code_length
		&& strspn(code, "abcdefghijklmnopqrstuvwxyz0123456789") == invite_code_length;
	int rc = is_code
		? database_transaction(db, redeem_body, &redemption, error)
		: fail_field(error, "code", "There is no such code. Check that you copied all of it.");
	*leaderboards = redemption.leaderboards;
	*count = redemption.count;
	return rc;
}
