#include "lib/account/password_link.h"

#include "lib/account/audit.h"
#include "lib/base/scope.h"

#include <sodium.h>
#include <string.h>

struct owner {
	int64_t user_id;
};
static const struct column OWNER_COLUMNS[] = { INTEGER(struct owner, user_id) };
#define FIND \
	"SELECT p.user_id FROM password_links p JOIN users u ON u.id = p.user_id " \
	"WHERE p.token_hash = ? AND p.expires_at > UTC_TIMESTAMP(3) AND u.banned_at IS NULL AND " \
	"u.deleted_at IS NULL AND u.kind = 'person'"
static const struct statement OWNER = SELECT(struct owner, OWNER_COLUMNS, FIND);
static const struct statement LOCK_OWNER = SELECT(struct owner, OWNER_COLUMNS, FIND " FOR UPDATE");
static const struct statement FORGET =
	COMMAND("DELETE FROM password_links WHERE user_id = ? OR expires_at < UTC_TIMESTAMP(3)");
static const struct statement PUT =
	COMMAND("INSERT INTO password_links (token_hash, user_id, made_by, expires_at) "
			"SELECT ?, id, ?, UTC_TIMESTAMP(3) + INTERVAL ? HOUR FROM users "
			"WHERE id = ? AND kind = 'person'");

typedef unsigned char link_hash[crypto_hash_sha256_BYTES];

/* ---- making ---- */

static int put_link(struct database *db, int64_t user_id, const char *made_by, int64_t hours,
	password_link_text text, struct error *error)
{
	unsigned char secret[password_link_bytes];
	link_hash hash;
	randombytes_buf(secret, sizeof secret);
	crypto_hash_sha256(hash, secret, sizeof secret);
	sodium_bin2hex(text, sizeof(password_link_text), secret, sizeof secret);
	int rc = database_execute(db, &PUT, error, "bsii", hash, sizeof hash, made_by, hours, user_id);
	return rc || database_affected(db)
		? rc
		: fail(error, ERROR_CONFLICT, "Nobody logs into a team, so it has no password.");
}

int password_link_make(struct database *db, int64_t user_id, const char *made_by,
	password_link_text text, struct error *error)
{
	int rc = database_execute(db, &FORGET, error, "i", user_id);
	return rc ? rc : put_link(db, user_id, made_by, password_link_hours, text, error);
}

/* In the column made_by. No user can have this name, because it contains a space. */
#define BY_MAIL "an e-mail"
static const struct statement FORGET_MAILED =
	COMMAND("DELETE FROM password_links WHERE user_id = ? AND made_by = '" BY_MAIL "'");

int password_link_mail(
	struct database *db, int64_t user_id, password_link_text text, struct error *error)
{
	int rc = database_execute(db, &FORGET_MAILED, error, "i", user_id);
	return rc ? rc : put_link(db, user_id, BY_MAIL, password_link_mail_hours, text, error);
}

/* ---- using ---- */

static int fail_unusable(struct error *error)
{
	return fail(error, ERROR_NOT_FOUND,
		"This link is no longer valid: it was used, has expired, or was replaced by a newer one. "
		"Ask an admin for another.");
}

/* Hashes the text of a link. Returns false if the text is not a link. */
static bool link_hash_of(const char *text, link_hash hash)
{
	unsigned char secret[password_link_bytes];
	size_t length;
	if (strlen(text) != 2 * sizeof secret
		|| sodium_hex2bin(secret, sizeof secret, text, 2 * sizeof secret, NULL, &length, NULL)
		|| length != sizeof secret)
		return false;
	crypto_hash_sha256(hash, secret, sizeof secret);
	return true;
}

static int find_link_owner(struct database *db, struct arena *arena,
	const struct statement *statement, const char *text, struct user *user, struct error *error)
{
	link_hash hash;
	struct owner owner;
	int rc = link_hash_of(text, hash)
		? database_row(db, arena, statement, &owner, error, "b", hash, sizeof hash)
		: ERROR_NOT_FOUND;
	if (rc)
		return rc == ERROR_NOT_FOUND ? fail_unusable(error) : rc;
	return user_by_id(db, arena, owner.user_id, user, error);
}

int password_link_find(struct database *db, struct arena *arena, const char *text,
	struct user *user, struct error *error)
{
	return find_link_owner(db, arena, &OWNER, text, user, error);
}

struct choice {
	struct arena *arena;
	const char *text, *password, *address;
	struct user *user;
};

static int use_body(struct database *db, void *context, struct error *error)
{
	const struct choice *choice = context;
	int rc = find_link_owner(db, choice->arena, &LOCK_OWNER, choice->text, choice->user, error);
	if (!rc)
		rc = user_set_password(db, choice->user->id, choice->password, false, error);
	if (!rc)
		rc = database_execute(db, &FORGET, error, "i", choice->user->id);
	return rc ? rc
			  : audit(db, choice->user->id, choice->user->name, choice->address, "user.password",
				  choice->user->name, "chosen with a link; every session was ended", error);
}

int password_link_use(struct database *db, struct arena *arena, const char *text,
	const char *password, const char *address, struct user *user, struct error *error)
{
	struct choice choice = {
		.arena = arena, .text = text, .password = password, .address = address, .user = user
	};
	return database_transaction(db, use_body, &choice, error);
}
