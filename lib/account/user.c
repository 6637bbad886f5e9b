#include "lib/account/user.h"

#include "lib/base/scope.h"
#include "lib/base/text.h"

#include <pthread.h>
#include <sodium.h>
#include <string.h>
#include <strings.h>

static const char *const ROLES[] = {
	[ROLE_PARTICIPANT] = "participant",
	[ROLE_CREATOR] = "creator",
	[ROLE_ADMIN] = "admin",
};

const char *role_name(enum role role)
{
	return ROLES[role];
}

int role_from_name(const char *name, enum role *role)
{
	for (size_t i = 0; i < COUNT(ROLES); i++)
		if (strcmp(ROLES[i], name) == 0) {
			*role = (enum role)i;
			return 0;
		}
	return -1;
}

/* ---- passwords ---- */

static pthread_mutex_t hashing_lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t hashing_done = PTHREAD_COND_INITIALIZER;
static int64_t hashing_allowed = 2, waiting_allowed = INT64_MAX, hashing_now, waiting_now;

void password_limit(int64_t at_once, int64_t waiting)
{
	pthread_mutex_lock(&hashing_lock);
	hashing_allowed = at_once;
	waiting_allowed = waiting;
	pthread_mutex_unlock(&hashing_lock);
}

/* Waits for a turn. ERROR_BUSY: too many wait already. */
static int enter_hashing(struct error *error)
{
	pthread_mutex_lock(&hashing_lock);
	bool must_wait = hashing_now >= hashing_allowed, has_turn;
	has_turn = !must_wait || waiting_now < waiting_allowed;
	waiting_now += has_turn && must_wait;
	while (has_turn && hashing_now >= hashing_allowed)
		pthread_cond_wait(&hashing_done, &hashing_lock);
	waiting_now -= has_turn && must_wait;
	hashing_now += has_turn;
	pthread_mutex_unlock(&hashing_lock);
	return has_turn ? 0
					: fail(error, ERROR_BUSY,
						"Podium checks many passwords at the moment. Wait a few seconds and try "
						"again.");
}

static void leave_hashing(void)
{
	pthread_mutex_lock(&hashing_lock);
	hashing_now--;
	pthread_cond_signal(&hashing_done);
	pthread_mutex_unlock(&hashing_lock);
}

static int check_length(const char *password, struct error *error)
{
	size_t length = strlen(password);
	if (length < password_least_bytes)
		return fail_field(
			error, "password", "A password needs at least %d characters.", password_least_bytes);
	if (length > password_most_bytes)
		return fail_field(
			error, "password", "A password may have at most %d bytes.", password_most_bytes);
	return 0;
}

static int hash_password(
	const char *password, char hash[static crypto_pwhash_STRBYTES], struct error *error)
{
	int bad = check_length(password, error);
	if (bad)
		return bad;
	size_t length = strlen(password);
	if (sodium_init() < 0)
		return fail(error, ERROR_SYSTEM, "libsodium could not be started.");
	int rc = enter_hashing(error);
	if (rc)
		return rc;
	rc = crypto_pwhash_str(hash, password, length, crypto_pwhash_OPSLIMIT_INTERACTIVE,
		crypto_pwhash_MEMLIMIT_INTERACTIVE);
	leave_hashing();
	return rc
		? fail(error, ERROR_SYSTEM, "There is not enough memory to hash a password; try again.")
		: 0;
}

/* The hash to compare with when there is no user or no password. Comparing takes as long as with a
 * real hash. */
static char dummy_hash[crypto_pwhash_STRBYTES];

static void create_dummy_hash(void)
{
	unsigned char secret[32];
	randombytes_buf(secret, sizeof secret);
	if (crypto_pwhash_str(dummy_hash, (const char *)secret, sizeof secret,
			crypto_pwhash_OPSLIMIT_INTERACTIVE, crypto_pwhash_MEMLIMIT_INTERACTIVE))
		dummy_hash[0] = '\0';
}

int user_match_password(
	const struct user *user, const char *password, bool *matches, struct error *error)
{
	*matches = false;
	if (sodium_init() < 0 || strlen(password) > password_most_bytes)
		return 0;
	static pthread_once_t once = PTHREAD_ONCE_INIT;
	int rc = enter_hashing(error);
	if (rc)
		return rc;
	pthread_once(&once, create_dummy_hash);
	bool has_password = user && *user->password_hash;
	const char *hash = has_password ? user->password_hash : dummy_hash;
	bool same = crypto_pwhash_str_verify(hash, password, strlen(password)) == 0;
	leave_hashing();
	*matches = same && has_password;
	return 0;
}

/* ---- rows ---- */

static const struct column USER_COLUMNS[] = {
	INTEGER(struct user, id),
	TEXT(struct user, name),
	TEXT(struct user, password_hash),
	TEXT(struct user, role),
	TEXT(struct user, kind),
	INTEGER(struct user, must_change_password),
	TIME(struct user, banned_at_ms),
	TIME(struct user, deleted_at_ms),
	TIME(struct user, created_at_ms),
};
#define USER_FIELDS \
	"id, name, password_hash, role, kind, must_change_password, banned_at AS banned_at_ms, " \
	"deleted_at AS deleted_at_ms, created_at AS created_at_ms"

static const struct statement USER_BY_NAME =
	SELECT(struct user, USER_COLUMNS, "SELECT " USER_FIELDS " FROM users WHERE name = ?");
static const struct statement USER_BY_ID =
	SELECT(struct user, USER_COLUMNS, "SELECT " USER_FIELDS " FROM users WHERE id = ?");
static const struct statement INSERT_USER = COMMAND(
	"INSERT INTO users (name, password_hash, role, must_change_password) VALUES (?, ?, ?, ?)");
static const struct statement SET_PASSWORD =
	COMMAND("UPDATE users SET password_hash = ?, must_change_password = ? WHERE id = ? "
			"AND deleted_at IS NULL AND kind = 'person'");
static const struct statement END_SESSIONS = COMMAND("DELETE FROM sessions WHERE user_id = ?");
static const struct statement SET_ROLE =
	COMMAND("UPDATE users SET role = ? WHERE id = ? AND deleted_at IS NULL "
			"AND kind = 'person'");
struct id_row {
	int64_t id;
};
static const struct column ID_COLUMNS[] = { INTEGER(struct id_row, id) };
static const struct statement LOCK_ADMIN = SELECT(struct id_row, ID_COLUMNS,
	"SELECT id FROM users WHERE id = ? AND role = 'admin' AND banned_at IS NULL "
	"AND deleted_at IS NULL FOR UPDATE");

int user_by_name(struct database *db, struct arena *arena, const char *name, struct user *user,
	struct error *error)
{
	int rc = database_row(db, arena, &USER_BY_NAME, user, error, "s", name);
	return rc == ERROR_NOT_FOUND ? fail(error, rc, "There is no user named %.40s.", name) : rc;
}

int user_by_id(
	struct database *db, struct arena *arena, int64_t id, struct user *user, struct error *error)
{
	int rc = database_row(db, arena, &USER_BY_ID, user, error, "i", id);
	return rc == ERROR_NOT_FOUND ? fail(error, rc, "There is no such user.") : rc;
}

/* Programs such as podium-admin appear under names with this prefix in the audit log and as givers
 * of roles and exceptions. No user may have such a name. */
#define PROGRAM_PREFIX "podium-"

static int check_name(const char *name, struct error *error)
{
	if (!text_is_user_name(name))
		return fail_field(error, "name",
			"A name has 2 to 32 letters, digits, dots, dashes or underscores, and begins with a "
			"letter or digit.");
	if (strncasecmp(name, DELETED_USER_PREFIX, sizeof DELETED_USER_PREFIX - 1) == 0)
		return fail_field(error, "name",
			"Names that begin with " DELETED_USER_PREFIX
			" are reserved for deleted accounts; choose another.");
	if (strncasecmp(name, PROGRAM_PREFIX, sizeof PROGRAM_PREFIX - 1) == 0)
		return fail_field(error, "name",
			"Names that begin with " PROGRAM_PREFIX
			" are reserved for programs of Podium; choose another.");
	return 0;
}

int user_fail_taken(const char *name, struct error *error)
{
	fail_field(error, "name", "The name %s is taken; choose another.", name);
	return error->code = ERROR_CONFLICT;
}

int user_check_name(struct database *db, struct arena *arena, const char *name, struct error *error)
{
	struct user user;
	int rc = check_name(name, error);
	if (rc)
		return rc;
	rc = user_by_name(db, arena, name, &user, error);
	if (!rc)
		return user_fail_taken(name, error);
	if (rc != ERROR_NOT_FOUND)
		return rc;
	*error = (struct error){ 0 };
	return 0;
}

int user_check_password(const char *name, const char *password, struct error *error)
{
	return strcasecmp(password, name) == 0 ? fail_field(error, "password",
			   "The password equals the name, which everybody can see; choose another.")
										   : check_length(password, error);
}

static int insert_user(struct database *db, const char *name, const char *hash, enum role role,
	bool must_change_password, int64_t *id, struct error *error)
{
	int rc = database_execute(db, &INSERT_USER, error, "sssi", name, hash, role_name(role),
		(int64_t)must_change_password);
	if (rc == ERROR_CONFLICT)
		return user_fail_taken(name, error);
	if (!rc && id)
		*id = (int64_t)database_insert_id(db);
	return rc;
}

int user_create(struct database *db, const char *name, const char *password, enum role role,
	bool must_change_password, int64_t *id, struct error *error)
{
	char hash[crypto_pwhash_STRBYTES];
	int rc = check_name(name, error);
	if (!rc)
		rc = user_check_password(name, password, error);
	if (!rc)
		rc = hash_password(password, hash, error);
	if (rc)
		return rc;
	return insert_user(db, name, hash, role, must_change_password, id, error);
}

int user_create_without_password(
	struct database *db, const char *name, enum role role, int64_t *id, struct error *error)
{
	int rc = check_name(name, error);
	return rc ? rc : insert_user(db, name, "", role, false, id, error);
}

struct new_password {
	int64_t user_id;
	const char *hash;
	bool must_change;
};

static const struct statement TELL_OWNER =
	COMMAND("INSERT INTO mails (user_id, kind, address, what) SELECT user_id, 'security', address, "
			"? FROM mail_addresses WHERE user_id = ? AND address IS NOT NULL");

int user_tell_owner(struct database *db, int64_t id, const char *what, struct error *error)
{
	return database_execute(db, &TELL_OWNER, error, "si", what, id);
}

static int store_password(struct database *db, void *context, struct error *error)
{
	const struct new_password *p = context;
	int rc = database_execute(
		db, &SET_PASSWORD, error, "sii", p->hash, (int64_t)p->must_change, p->user_id);
	if (!rc && !database_affected(db))
		rc = fail(error, ERROR_CONFLICT,
			"The owner deleted this account, or it is a team, so it cannot get a new password.");
	if (!rc)
		rc = user_tell_owner(
			db, p->user_id, "The password was changed, and every session was ended.", error);
	return rc ? rc : database_execute(db, &END_SESSIONS, error, "i", p->user_id);
}

int user_set_password(struct database *db, int64_t id, const char *password,
	bool must_change_password, struct error *error)
{
	char hash[crypto_pwhash_STRBYTES];
	int rc = hash_password(password, hash, error);
	struct new_password p = { .user_id = id, .hash = hash, .must_change = must_change_password };
	return rc ? rc : database_transaction(db, store_password, &p, error);
}

int user_set_role(struct database *db, int64_t id, enum role role, struct error *error)
{
	int rc = database_execute(db, &SET_ROLE, error, "si", role_name(role), id);
	return rc || database_affected(db)
		? rc
		: fail(error, ERROR_CONFLICT,
			"The owner deleted this account, or it is a team, so it cannot get a role.");
}

int user_lock_admin(struct database *db, int64_t id, struct error *error)
{
	cleanup_arena struct arena *arena = arena_new();
	struct id_row row;
	int rc = database_row(db, arena, &LOCK_ADMIN, &row, error, "i", id);
	return rc == ERROR_NOT_FOUND
		? fail(error, ERROR_FORBIDDEN, "You are no longer an admin, so nothing was changed.")
		: rc;
}
