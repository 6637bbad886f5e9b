#include "lib/account/factor.h"

#include "lib/account/user.h"
#include "lib/base/scope.h"
#include "lib/base/text.h"

#include <ctype.h>
#include <sodium.h>
#include <stdio.h>
#include <string.h>

/* ---- what a user has ---- */

static const struct column FACTORS_COLUMNS[] = {
	INTEGER(struct factors, has_app),
	TIME(struct factors, app_confirmed_at_ms),
	TIME(struct factors, app_used_at_ms),
	INTEGER(struct factors, passkeys),
	INTEGER(struct factors, recovery_codes),
};
static const struct statement FACTORS = SELECT(struct factors, FACTORS_COLUMNS,
	"SELECT a.user_id IS NOT NULL AS has_app, a.confirmed_at AS app_confirmed_at_ms, "
	"a.used_at AS app_used_at_ms, "
	"(SELECT COUNT(*) FROM passkeys p WHERE p.user_id = u.id) AS passkeys, "
	"(SELECT COUNT(*) FROM recovery_codes c WHERE c.user_id = u.id) AS recovery_codes "
	"FROM users u LEFT JOIN authenticator_apps a ON a.user_id = u.id AND a.confirmed_at IS NOT "
	"NULL WHERE u.id = ?");

struct id_row {
	int64_t id;
};
static const struct column ID_COLUMNS[] = { INTEGER(struct id_row, id) };
/* Two changes to one user's factors wait for each other on this lock. */
static const struct statement LOCK_USER =
	SELECT(struct id_row, ID_COLUMNS, "SELECT id FROM users WHERE id = ? FOR UPDATE");

int factors_of_user(struct database *db, struct arena *arena, int64_t user_id,
	struct factors *factors, struct error *error)
{
	return database_row(db, arena, &FACTORS, factors, error, "i", user_id);
}

bool factors_any(const struct factors *factors)
{
	return factors->has_app || factors->passkeys;
}

static int lock_factors(struct database *db, struct arena *arena, int64_t user_id,
	struct factors *factors, struct error *error)
{
	struct id_row user;
	int rc = database_row(db, arena, &LOCK_USER, &user, error, "i", user_id);
	return rc ? rc : factors_of_user(db, arena, user_id, factors, error);
}

static int audit_factor(struct database *db, const struct actor *actor, const char *action,
	const char *user_name, const char *detail, struct error *error)
{
	return audit(db, actor->id, actor->name, actor->address, action, user_name, detail, error);
}

/* ---- recovery codes ---- */

/* A code has 80 random bits, far too many to guess. A plain SHA-256 therefore protects it enough.
 */
enum { code_bytes = 10, code_letters = 16 };
static const char LETTERS[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZ234567";

static const struct statement FORGET_CODES =
	COMMAND("DELETE FROM recovery_codes WHERE user_id = ?");
static const struct statement PUT_CODE =
	COMMAND("INSERT INTO recovery_codes (user_id, code_hash) VALUES (?, ?)");
static const struct statement USE_CODE =
	COMMAND("DELETE FROM recovery_codes WHERE user_id = ? AND code_hash = ?");

/* Reduces the typed text to 16 capital letters and digits. False: the text is not a code. */
static bool code_letters_of(const char *text, char letters[static code_letters + 1])
{
	size_t count = 0;
	for (; *text; text++) {
		char letter = (char)toupper((unsigned char)*text);
		if (letter == '-' || letter == ' ')
			continue;
		if (count == code_letters || !strchr(LETTERS, letter))
			return false;
		letters[count++] = letter;
	}
	letters[count] = '\0';
	return count == code_letters;
}

bool recovery_code_is(const char *text)
{
	char letters[code_letters + 1];
	return code_letters_of(text, letters);
}

static void hash_code(unsigned char hash[static crypto_hash_sha256_BYTES], const char *letters)
{
	crypto_hash_sha256(hash, (const unsigned char *)letters, code_letters);
}

static void make_code(recovery_code_text text, char letters[static code_letters + 1])
{
	for (size_t i = 0; i < code_letters; i++)
		letters[i] = LETTERS[randombytes_uniform(sizeof LETTERS - 1)];
	letters[code_letters] = '\0';
	snprintf(text, sizeof(recovery_code_text), "%.4s-%.4s-%.4s-%.4s", letters, letters + 4,
		letters + 8, letters + 12);
}

static int put_codes(
	struct database *db, int64_t user_id, struct recovery_codes *codes, struct error *error)
{
	int rc = database_execute(db, &FORGET_CODES, error, "i", user_id);
	for (size_t i = 0; i < recovery_code_count && !rc; i++) {
		char letters[code_letters + 1];
		unsigned char hash[crypto_hash_sha256_BYTES];
		make_code(codes->texts[i], letters);
		hash_code(hash, letters);
		rc = database_execute(db, &PUT_CODE, error, "ib", user_id, hash, sizeof hash);
	}
	codes->made = !rc;
	return rc;
}

struct code_change {
	int64_t user_id;
	const struct actor *actor;
	struct recovery_codes *codes;
};

static int make_codes_body(struct database *db, void *context, struct error *error)
{
	cleanup_arena struct arena *arena = arena_new();
	const struct code_change *change = context;
	struct factors factors;
	int rc = lock_factors(db, arena, change->user_id, &factors, error);
	if (!rc && !factors_any(&factors))
		rc = fail(error, ERROR_CONFLICT,
			"This account has no second factor, so it needs no recovery codes.");
	if (!rc)
		rc = put_codes(db, change->user_id, change->codes, error);
	if (!rc)
		rc = user_tell_owner(db, change->user_id,
			"New recovery codes were made. The earlier codes no longer work.", error);
	return rc ? rc
			  : audit_factor(db, change->actor, "user.recovery_codes", change->actor->name,
				  "new codes in place of all others", error);
}

int recovery_codes_make(struct database *db, int64_t user_id, const struct actor *actor,
	struct recovery_codes *codes, struct error *error)
{
	struct code_change change = { user_id, actor, codes };
	return database_transaction(db, make_codes_body, &change, error);
}

int recovery_code_use(struct database *db, int64_t user_id, const char *text,
	const struct actor *actor, struct error *error)
{
	char letters[code_letters + 1];
	unsigned char hash[crypto_hash_sha256_BYTES];
	bool is_code = code_letters_of(text, letters);
	int rc = 0;
	if (is_code) {
		hash_code(hash, letters);
		rc = database_execute(db, &USE_CODE, error, "ib", user_id, hash, sizeof hash);
	}
	if (!rc && !(is_code && database_affected(db)))
		rc = fail_field(error, "code", "This recovery code is wrong, or was used before.");
	return rc ? rc
			  : audit_factor(
				  db, actor, "user.recovery_code", actor->name, "a recovery code was used", error);
}

/* Every user with a factor has recovery codes. This makes new ones if the user has none left. */
static int provide_codes(struct database *db, int64_t user_id, const struct factors *before,
	struct recovery_codes *codes, struct error *error)
{
	codes->made = false;
	return before->recovery_codes ? 0 : put_codes(db, user_id, codes, error);
}

static int tell_of_addition(struct database *db, struct arena *arena, int64_t user_id,
	const char *factor, const struct recovery_codes *codes, struct error *error)
{
	return user_tell_owner(db, user_id,
		arena_printf(arena, "%s was added as a second factor%s.", factor,
			codes->made ? ", and recovery codes were made" : ""),
		error);
}

/* ---- passkeys ---- */

static const struct column PASSKEY_COLUMNS[] = {
	INTEGER(struct passkey, id),
	INTEGER(struct passkey, user_id),
	TEXT(struct passkey, name),
	BLOB(struct passkey, credential_id),
	BLOB(struct passkey, public_key),
	INTEGER(struct passkey, algorithm),
	INTEGER(struct passkey, sign_count),
	TIME(struct passkey, created_at_ms),
	TIME(struct passkey, used_at_ms),
};
#define PASSKEY_FIELDS \
	"SELECT id, user_id, name, credential_id, public_key, algorithm, sign_count, " \
	"created_at AS created_at_ms, used_at AS used_at_ms FROM passkeys "
static const struct statement PASSKEYS_OF_USER =
	SELECT(struct passkey, PASSKEY_COLUMNS, PASSKEY_FIELDS "WHERE user_id = ? ORDER BY id");
static const struct statement FIND_PASSKEY =
	SELECT(struct passkey, PASSKEY_COLUMNS, PASSKEY_FIELDS "WHERE credential_hash = ?");
static const struct statement ADD_PASSKEY =
	COMMAND("INSERT INTO passkeys (user_id, name, credential_id, credential_hash, algorithm, "
			"public_key, sign_count) VALUES (?, ?, ?, ?, ?, ?, ?)");
/* If one signature is used twice at the same time, the second use matches no row. A passkey whose
 * authenticator does not count always has the count 0. */
static const struct statement USE_PASSKEY =
	COMMAND("UPDATE passkeys SET used_at = UTC_TIMESTAMP(3), sign_count = ? WHERE id = ? "
			"AND (sign_count < ? OR (sign_count = 0 AND ? = 0))");

static void hash_id(
	unsigned char hash[static crypto_hash_sha256_BYTES], struct blob_value credential_id)
{
	crypto_hash_sha256(hash, credential_id.bytes, credential_id.length);
}

int passkeys_of_user(struct database *db, struct arena *arena, int64_t user_id,
	struct passkey **passkeys, size_t *count, struct error *error)
{
	return database_rows(db, arena, &PASSKEYS_OF_USER, passkeys, count, error, "i", user_id);
}

int passkey_find(struct database *db, struct arena *arena, struct blob_value credential_id,
	struct passkey *passkey, struct error *error)
{
	unsigned char hash[crypto_hash_sha256_BYTES];
	hash_id(hash, credential_id);
	return database_row(db, arena, &FIND_PASSKEY, passkey, error, "b", hash, sizeof hash);
}

int passkey_used(struct database *db, const struct passkey *passkey, int64_t sign_count,
	const struct actor *actor, struct error *error)
{
	cleanup_arena struct arena *arena = arena_new();
	int rc = database_execute(
		db, &USE_PASSKEY, error, "iiii", sign_count, passkey->id, sign_count, sign_count);
	if (rc || database_affected(db))
		return rc;
	rc = audit_factor(db, actor, "user.refuse_passkey", actor->name,
		arena_printf(arena, "passkey %lld: its counter did not grow, so it may have been copied",
			(long long)passkey->id),
		error);
	return rc ? rc
			  : fail(error, ERROR_FORBIDDEN,
				  "The passkey was not accepted: its counter did not grow, so somebody may have "
				  "copied it. Use another factor and remove this passkey.");
}

int passkey_check_name(const char *name, struct error *error)
{
	if (!text_is_line(name, 4 * passkey_name_most_characters)
		|| text_count_characters(name) > passkey_name_most_characters)
		return fail_field(error, "name", "A passkey's name is one line of 1 to %d characters.",
			passkey_name_most_characters);
	return 0;
}

struct addition {
	const struct passkey *passkey;
	const struct actor *actor;
	struct recovery_codes *codes;
};

static int insert_passkey(struct database *db, const struct passkey *passkey, struct error *error)
{
	unsigned char hash[crypto_hash_sha256_BYTES];
	hash_id(hash, passkey->credential_id);
	int rc = database_execute(db, &ADD_PASSKEY, error, "isbbibi", passkey->user_id, passkey->name,
		passkey->credential_id.bytes, passkey->credential_id.length, hash, sizeof hash,
		passkey->algorithm, passkey->public_key.bytes, passkey->public_key.length,
		passkey->sign_count);
	return rc == ERROR_CONFLICT ? fail(error, rc, "This passkey is registered already.") : rc;
}

static int add_passkey_body(struct database *db, void *context, struct error *error)
{
	cleanup_arena struct arena *arena = arena_new();
	const struct addition *addition = context;
	const struct passkey *passkey = addition->passkey;
	struct factors before;
	int rc = lock_factors(db, arena, passkey->user_id, &before, error);
	if (!rc && before.passkeys >= passkeys_most)
		rc = fail(error, ERROR_LIMIT, "An account has at most %d passkeys. Remove one first.",
			passkeys_most);
	if (!rc)
		rc = insert_passkey(db, passkey, error);
	int64_t id = rc ? 0 : (int64_t)database_insert_id(db);
	if (!rc)
		rc = provide_codes(db, passkey->user_id, &before, addition->codes, error);
	if (!rc)
		rc = tell_of_addition(db, arena, passkey->user_id, "A passkey", addition->codes, error);
	/* The entry leaves the passkey's name out, because the log outlives the account. */
	return rc ? rc
			  : audit_factor(db, addition->actor, "user.add_factor", addition->actor->name,
				  arena_printf(arena, "passkey %lld", (long long)id), error);
}

int passkey_add(struct database *db, const struct passkey *passkey, const struct actor *actor,
	struct recovery_codes *codes, struct error *error)
{
	struct addition addition = { passkey, actor, codes };
	int rc = passkey_check_name(passkey->name, error);
	return rc ? rc : database_transaction(db, add_passkey_body, &addition, error);
}

/* ---- the authenticator app ---- */

static const struct column APP_COLUMNS[] = { BLOB(struct app, secret),
	INTEGER(struct app, last_step) };
static const struct statement APP_THAT_WORKS = SELECT(struct app, APP_COLUMNS,
	"SELECT secret, last_step FROM authenticator_apps WHERE user_id = ? "
	"AND confirmed_at IS NOT NULL");
#define BEING_SET_UP "confirmed_at IS NULL AND begun_at > UTC_TIMESTAMP(3) - INTERVAL 60 MINUTE"
_Static_assert(app_setup_minutes == 60, "BEING_SET_UP has the same time");
static const struct statement APP_BEING_SET_UP = SELECT(struct app, APP_COLUMNS,
	"SELECT secret, last_step FROM authenticator_apps WHERE user_id = ? AND " BEING_SET_UP);
static const struct statement FORGET_SETUP =
	COMMAND("DELETE FROM authenticator_apps WHERE user_id = ? AND confirmed_at IS NULL");
static const struct statement BEGIN_APP =
	COMMAND("INSERT INTO authenticator_apps (user_id, secret) VALUES (?, ?)");
static const struct statement CONFIRM_APP =
	COMMAND("UPDATE authenticator_apps SET confirmed_at = UTC_TIMESTAMP(3), last_step = ? "
			"WHERE user_id = ? AND " BEING_SET_UP);
/* A second request with the same or an older code matches no row. */
static const struct statement USE_APP =
	COMMAND("UPDATE authenticator_apps SET used_at = UTC_TIMESTAMP(3), last_step = ? "
			"WHERE user_id = ? AND confirmed_at IS NOT NULL AND last_step < ?");

int app_begin(struct database *db, int64_t user_id,
	const unsigned char secret[static app_secret_bytes], struct error *error)
{
	int rc = database_execute(db, &FORGET_SETUP, error, "i", user_id);
	if (!rc)
		rc = database_execute(
			db, &BEGIN_APP, error, "ib", user_id, (const void *)secret, (size_t)app_secret_bytes);
	return rc == ERROR_CONFLICT ? fail(error, rc,
			   "This account has an authenticator app. Remove it before you set up another.")
								: rc;
}

int app_read(struct database *db, struct arena *arena, int64_t user_id, bool is_set_up,
	struct app *app, struct error *error)
{
	int rc = database_row(
		db, arena, is_set_up ? &APP_THAT_WORKS : &APP_BEING_SET_UP, app, error, "i", user_id);
	return !rc && app->secret.length != app_secret_bytes
		? fail(error, ERROR_SYSTEM, "A stored secret has a wrong length.")
		: rc;
}

struct confirmation {
	int64_t user_id, step;
	const struct actor *actor;
	struct recovery_codes *codes;
};

static int confirm_app_body(struct database *db, void *context, struct error *error)
{
	cleanup_arena struct arena *arena = arena_new();
	const struct confirmation *confirmation = context;
	struct factors before;
	int rc = lock_factors(db, arena, confirmation->user_id, &before, error);
	if (!rc)
		rc = database_execute(
			db, &CONFIRM_APP, error, "ii", confirmation->step, confirmation->user_id);
	if (!rc && !database_affected(db))
		rc = fail(error, ERROR_CONFLICT,
			"The set-up of the app was finished or begun again elsewhere. Begin again.");
	if (!rc)
		rc = provide_codes(db, confirmation->user_id, &before, confirmation->codes, error);
	if (!rc)
		rc = tell_of_addition(
			db, arena, confirmation->user_id, "An authenticator app", confirmation->codes, error);
	return rc ? rc
			  : audit_factor(db, confirmation->actor, "user.add_factor", confirmation->actor->name,
				  "authenticator app", error);
}

int app_confirm(struct database *db, int64_t user_id, int64_t step, const struct actor *actor,
	struct recovery_codes *codes, struct error *error)
{
	struct confirmation confirmation = { user_id, step, actor, codes };
	return database_transaction(db, confirm_app_body, &confirmation, error);
}

int app_used(struct database *db, int64_t user_id, int64_t step, struct error *error)
{
	int rc = database_execute(db, &USE_APP, error, "iii", step, user_id, step);
	return rc || database_affected(db)
		? rc
		: fail_field(error, "code", "This code was used before. Wait for the next one.");
}

/* ---- removal ---- */

static const struct statement REMOVE_APP =
	COMMAND("DELETE FROM authenticator_apps WHERE user_id = ? AND (confirmed_at IS NOT NULL OR ?)");
static const struct statement REMOVE_PASSKEY =
	COMMAND("DELETE FROM passkeys WHERE user_id = ? AND (id = ? OR ?)");

struct removal {
	int64_t user_id, passkey_id;
	const char *user_name;
	enum factor_kind kind;
	const struct actor *actor;
};

static int remove_rows(
	struct database *db, const struct removal *removal, uint64_t *removed, struct error *error)
{
	int64_t all = removal->kind == FACTOR_ALL;
	int rc = 0;
	*removed = 0;
	if (removal->kind != FACTOR_PASSKEY) {
		rc = database_execute(db, &REMOVE_APP, error, "ii", removal->user_id, all);
		*removed += rc ? 0 : database_affected(db);
	}
	if (!rc && removal->kind != FACTOR_APP) {
		rc = database_execute(
			db, &REMOVE_PASSKEY, error, "iii", removal->user_id, removal->passkey_id, all);
		*removed += rc ? 0 : database_affected(db);
	}
	return rc;
}

static int tell_of_removal(struct database *db, struct arena *arena, const struct removal *removal,
	const struct factors *left, struct error *error)
{
	static const char *const names[] = { [FACTOR_APP] = "The authenticator app",
		[FACTOR_PASSKEY] = "A passkey",
		[FACTOR_ALL] = "Every second factor" };
	return user_tell_owner(db, removal->user_id,
		arena_printf(arena, "%s was removed%s.%s", names[removal->kind],
			removal->actor->id == removal->user_id ? "" : " by an admin",
			factors_any(left) ? "" : " The account has no second factor now."),
		error);
}

static int remove_body(struct database *db, void *context, struct error *error)
{
	cleanup_arena struct arena *arena = arena_new();
	const struct removal *removal = context;
	struct factors left;
	uint64_t removed;
	int rc = lock_factors(db, arena, removal->user_id, &left, error);
	if (!rc)
		rc = remove_rows(db, removal, &removed, error);
	if (!rc && !removed)
		rc = fail(error, ERROR_NOT_FOUND, "This account has no such factor.");
	if (!rc)
		rc = factors_of_user(db, arena, removal->user_id, &left, error);
	if (!rc && !factors_any(&left))
		rc = database_execute(db, &FORGET_CODES, error, "i", removal->user_id);
	if (!rc)
		rc = tell_of_removal(db, arena, removal, &left, error);
	const char *detail = removal->kind == FACTOR_APP ? "authenticator app"
		: removal->kind == FACTOR_PASSKEY
		? arena_printf(arena, "passkey %lld", (long long)removal->passkey_id)
		: "every factor";
	return rc
		? rc
		: audit_factor(db, removal->actor, "user.remove_factor", removal->user_name, detail, error);
}

int factor_remove(struct database *db, int64_t user_id, const char *user_name,
	enum factor_kind kind, int64_t passkey_id, const struct actor *actor, struct error *error)
{
	struct removal removal = { user_id, passkey_id, user_name, kind, actor };
	return database_transaction(db, remove_body, &removal, error);
}
