#include "lib/account/user.h"
#include "cli/admin/admin.h"
#include "cli/admin/password.h"
#include "lib/account/audit.h"
#include "lib/account/factor.h"
#include "lib/account/identity.h"
#include "lib/base/format.h"
#include "lib/base/scope.h"

#include <getopt.h>
#include <sodium.h>
#include <string.h>
#include <unistd.h>

/* ---- arguments ---- */

struct arguments {
	const char *name, *role, *password_file;
};

enum { takes_name = 1, takes_role = 2, takes_password_file = 4 };

/* Reads NAME and the command's options. Returns -1 if they are wrong. */
static int read_arguments(int argc, char **argv, int takes, struct arguments *arguments)
{
	static const struct option OPTIONS[] = {
		{ "role", required_argument, NULL, takes_role },
		{ "password-file", required_argument, NULL, takes_password_file },
		{ 0 },
	};
	opterr = 0; /* getopt prints no message, because the usage line is enough */
	for (int option; (option = getopt_long(argc, argv, "", OPTIONS, NULL)) != -1;) {
		if (option == '?' || !(option & takes))
			return -1;
		*(option == takes_role ? &arguments->role : &arguments->password_file) = optarg;
	}
	if (takes & takes_name && optind < argc)
		arguments->name = argv[optind++];
	return optind != argc || (takes & takes_name && !arguments->name) ? -1 : 0;
}

static int read_role(const char *name, enum role *role, struct error *error)
{
	return role_from_name(name, role) ? fail(error, ERROR_INPUT,
			   "There is no role %.40s. The roles are participant, creator and admin.", name)
									  : 0;
}

/* ---- user add ---- */

static int add_user(struct database *db, const struct arguments *arguments, struct error *error)
{
	enum role role;
	password_text password;
	int rc = read_role(arguments->role, &role, error);
	if (!rc)
		rc = password_read(arguments->password_file, password, error);
	if (!rc)
		rc = user_create(db, arguments->name, password, role, false, NULL, error);
	if (!rc)
		rc =
			audit(db, 0, admin_actor.name, "", "user.add", arguments->name, role_name(role), error);
	sodium_memzero(password, sizeof password);
	return rc;
}

int user_add_command(int argc, char **argv)
{
	struct arguments arguments = { .role = "participant" };
	if (read_arguments(argc, argv, takes_name | takes_role | takes_password_file, &arguments))
		return admin_usage("user add");
	struct error error = { 0 };
	cleanup_database struct database *db = admin_connect();
	if (!db)
		return admin_failed;
	if (add_user(db, &arguments, &error))
		return admin_complain(&error);
	admin_say("Created the account %s with the role %s.", arguments.name, arguments.role);
	return admin_done;
}

/* ---- user role ---- */

static int change_role(
	struct database *db, const char *name, const char *role_text, struct error *error)
{
	cleanup_arena struct arena *arena = arena_new();
	enum role role;
	struct user user;
	int rc = read_role(role_text, &role, error);
	if (!rc)
		rc = user_by_name(db, arena, name, &user, error);
	if (!rc)
		rc = user_set_role(db, user.id, role, error);
	return rc ? rc : audit(db, 0, admin_actor.name, "", "user.role", user.name, role_text, error);
}

int user_role_command(int argc, char **argv)
{
	if (argc != 3)
		return admin_usage("user role");
	struct error error = { 0 };
	cleanup_database struct database *db = admin_connect();
	if (!db)
		return admin_failed;
	if (change_role(db, argv[1], argv[2], &error))
		return admin_complain(&error);
	admin_say("%s now has the role %s.", argv[1], argv[2]);
	return admin_done;
}

/* ---- user password ---- */

static int change_password(
	struct database *db, const struct arguments *arguments, struct error *error)
{
	cleanup_arena struct arena *arena = arena_new();
	struct user user;
	password_text password;
	int rc = user_by_name(db, arena, arguments->name, &user, error);
	if (!rc)
		rc = password_read(arguments->password_file, password, error);
	if (!rc)
		rc = user_set_password(db, user.id, password, false, error);
	sodium_memzero(password, sizeof password);
	return rc ? rc : audit(db, 0, admin_actor.name, "", "user.password", user.name, "", error);
}

int user_password_command(int argc, char **argv)
{
	struct arguments arguments = { 0 };
	if (read_arguments(argc, argv, takes_name | takes_password_file, &arguments))
		return admin_usage("user password");
	struct error error = { 0 };
	cleanup_database struct database *db = admin_connect();
	if (!db)
		return admin_failed;
	if (change_password(db, &arguments, &error))
		return admin_complain(&error);
	admin_say("%s has a new password. Earlier sessions have ended.", arguments.name);
	return admin_done;
}

/* ---- user list ---- */

struct listed {
	const char *name, *role;
	int64_t banned, must_change_password, has_factor, created_at_ms;
};
static const struct column LISTED_COLUMNS[] = {
	TEXT(struct listed, name),
	TEXT(struct listed, role),
	INTEGER(struct listed, banned),
	INTEGER(struct listed, must_change_password),
	INTEGER(struct listed, has_factor),
	TIME(struct listed, created_at_ms),
};
#define OWN_FACTOR SQL_HAS_FACTOR("u.id")
static const struct statement LISTED = SELECT(struct listed, LISTED_COLUMNS,
	"SELECT name, IF(kind = 'team', kind, role) AS role, banned_at IS NOT NULL AS banned, "
	"must_change_password, " OWN_FACTOR " AS has_factor, created_at AS created_at_ms "
	"FROM users u ORDER BY name");

int user_list_command(int argc, char **argv)
{
	(void)argv;
	if (argc != 1)
		return admin_usage("user list");
	cleanup_arena struct arena *arena = arena_new();
	cleanup_database struct database *db = admin_connect();
	struct error error = { 0 };
	struct listed *users;
	size_t count;
	if (!db)
		return admin_failed;
	if (database_rows(db, arena, &LISTED, &users, &count, &error, ""))
		return admin_complain(&error);
	for (size_t i = 0; i < count; i++) {
		format_text created;
		format_utc(created, users[i].created_at_ms);
		admin_say("%-32s %-11s %s%s%s%s", users[i].name, users[i].role, created,
			users[i].has_factor ? "  second factor" : "", users[i].banned ? "  banned" : "",
			users[i].must_change_password ? "  must change the password" : "");
	}
	return admin_done;
}

/* ---- user identities, user unlink ---- */

int user_identities_command(int argc, char **argv)
{
	if (argc != 2)
		return admin_usage("user identities");
	cleanup_arena struct arena *arena = arena_new();
	cleanup_database struct database *db = admin_connect();
	struct error error = { 0 };
	struct user user;
	struct identity *identities;
	size_t count;
	if (!db)
		return admin_failed;
	if (user_by_name(db, arena, argv[1], &user, &error)
		|| identities_of_user(db, arena, user.id, &identities, &count, &error))
		return admin_complain(&error);
	for (size_t i = 0; i < count; i++) {
		format_text linked, used;
		format_utc(linked, identities[i].created_at_ms);
		format_utc(used, identities[i].used_at_ms);
		admin_say("%8lld  %s  %s  as %s, linked %s, last login %s", (long long)identities[i].id,
			identities[i].issuer, identities[i].subject, identities[i].shown_as, linked, used);
	}
	if (!count)
		admin_say("%s signs in with no provider.", user.name);
	return admin_done;
}

static const struct statement END_SESSIONS = COMMAND("DELETE FROM sessions WHERE user_id = ?");

/* Also ends the account's sessions: whoever signed in with the identity must not stay logged in.
 * May remove the account's only way to sign in, because the operator can set a password instead. */
static int unlink_identity(
	struct database *db, const char *name, int64_t number, struct error *error)
{
	cleanup_arena struct arena *arena = arena_new();
	struct user user;
	int rc = user_by_name(db, arena, name, &user, error);
	if (!rc)
		rc = identity_unlink(db, user.id, number, true, false, &admin_actor, error);
	return rc ? rc : database_execute(db, &END_SESSIONS, error, "i", user.id);
}

int user_unlink_command(int argc, char **argv)
{
	if (argc != 3)
		return admin_usage("user unlink");
	struct error error = { 0 };
	cleanup_database struct database *db = admin_connect();
	if (!db)
		return admin_failed;
	if (unlink_identity(db, argv[1], admin_number(argv[2]), &error))
		return admin_complain(&error);
	admin_say("Unlinked. The sessions of %s have ended.", argv[1]);
	return admin_done;
}

/* ---- user factors, user remove-factor ---- */

static int list_factors(struct database *db, const char *name, struct error *error)
{
	cleanup_arena struct arena *arena = arena_new();
	struct user user;
	struct factors factors;
	struct passkey *passkeys;
	size_t count;
	format_text at;
	int rc = user_by_name(db, arena, name, &user, error);
	if (!rc)
		rc = factors_of_user(db, arena, user.id, &factors, error);
	if (!rc)
		rc = passkeys_of_user(db, arena, user.id, &passkeys, &count, error);
	if (rc)
		return rc;
	if (factors.has_app) {
		format_utc(at, factors.app_confirmed_at_ms);
		admin_say("     app  authenticator app, set up %s", at);
	}
	for (size_t i = 0; i < count; i++) {
		format_utc(at, passkeys[i].created_at_ms);
		admin_say("%8lld  passkey %s, added %s", (long long)passkeys[i].id, passkeys[i].name, at);
	}
	if (factors_any(&factors))
		admin_say("          %lld recovery codes left", (long long)factors.recovery_codes);
	else
		admin_say("%s has no second factor.", user.name);
	return 0;
}

int user_factors_command(int argc, char **argv)
{
	if (argc != 2)
		return admin_usage("user factors");
	cleanup_database struct database *db = admin_connect();
	struct error error = { 0 };
	if (!db)
		return admin_failed;
	return list_factors(db, argv[1], &error) ? admin_complain(&error) : admin_done;
}

/* Also ends the account's sessions: whoever found the lost device must not stay logged in. */
static int remove_factor(
	struct database *db, const char *name, const char *which, struct error *error)
{
	cleanup_arena struct arena *arena = arena_new();
	struct user user;
	enum factor_kind kind = strcmp(which, "app") == 0 ? FACTOR_APP
		: strcmp(which, "all") == 0                   ? FACTOR_ALL
													  : FACTOR_PASSKEY;
	int rc = user_by_name(db, arena, name, &user, error);
	if (!rc)
		rc = factor_remove(db, user.id, user.name, kind, admin_number(which), &admin_actor, error);
	return rc ? rc : database_execute(db, &END_SESSIONS, error, "i", user.id);
}

int user_remove_factor_command(int argc, char **argv)
{
	if (argc != 3)
		return admin_usage("user remove-factor");
	struct error error = { 0 };
	cleanup_database struct database *db = admin_connect();
	if (!db)
		return admin_failed;
	if (remove_factor(db, argv[1], argv[2], &error))
		return admin_complain(&error);
	admin_say("Removed. The sessions of %s have ended.", argv[1]);
	return admin_done;
}

/* ---- user first-admin ---- */

struct admins {
	int64_t total, waiting;
};
static const struct column ADMINS_COLUMNS[] = { INTEGER(struct admins, total),
	INTEGER(struct admins, waiting) };
static const struct statement ADMINS = SELECT(struct admins, ADMINS_COLUMNS,
	"SELECT COUNT(*) AS total, CAST(COALESCE(SUM(must_change_password), 0) AS SIGNED) AS waiting "
	"FROM users WHERE role = 'admin'");

static const char FIRST_ADMIN[] = "admin";

/* Write the file first: an account with an unknown password would lock everybody out. */
static int make_first_admin(struct database *db, const char *file, struct error *error)
{
	password_text password;
	password_make(password);
	int rc = password_write(file, password, error);
	if (!rc)
		rc = user_create(db, FIRST_ADMIN, password, ROLE_ADMIN, true, NULL, error);
	sodium_memzero(password, sizeof password);
	if (rc == ERROR_CONFLICT)
		return fail(error, rc,
			"There is no admin, and the user %s is not one. Choose an admin with `podium-admin "
			"user role NAME admin`.",
			FIRST_ADMIN);
	return rc ? rc : audit(db, 0, admin_actor.name, "", "user.add", FIRST_ADMIN, "admin", error);
}

/* Prints where the initial password is stored; deletes the file once that password has changed. */
static int first_admin(struct database *db, const char *file, struct error *error)
{
	cleanup_arena struct arena *arena = arena_new();
	struct admins admins;
	int rc = database_row(db, arena, &ADMINS, &admins, error, "");
	if (!rc && !admins.total) {
		rc = make_first_admin(db, file, error);
		admins.waiting = 1;
	}
	if (rc)
		return rc;
	if (!admins.waiting)
		unlink(file);
	else if (access(file, R_OK) == 0)
		admin_say("Log in as %s with the one-time password in %s", FIRST_ADMIN, file);
	return 0;
}

int user_first_admin_command(int argc, char **argv)
{
	struct arguments arguments = { 0 };
	if (read_arguments(argc, argv, takes_password_file, &arguments) || !arguments.password_file)
		return admin_usage("user first-admin");
	struct error error = { 0 };
	cleanup_database struct database *db = admin_connect();
	if (!db)
		return admin_failed;
	return sodium_init() < 0 || first_admin(db, arguments.password_file, &error)
		? admin_complain(&error)
		: admin_done;
}
