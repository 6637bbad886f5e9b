/* `worker invite`, `worker revoke` and `worker accounts`: manage hosts that have a separate
 * database user (docs/worker-hosts.md). */
#include "cli/admin/admin.h"
#include "lib/account/audit.h"
#include "lib/account/user.h"
#include "lib/base/format.h"
#include "lib/base/quote.h"
#include "lib/base/scope.h"
#include "lib/fleet/fleet.h"
#include "lib/fleet/worker_invitation.h"
#include "sql/rights.h"

#include <errno.h>
#include <getopt.h>
#include <sodium.h>
#include <stdlib.h>
#include <string.h>

struct account {
	int64_t id;
	const char *name, *user, *registered_from;
	int64_t registered_at_ms, expires_at_ms, is_over;
};
static const struct column ACCOUNT_COLUMNS[] = {
	INTEGER(struct account, id),
	TEXT(struct account, name),
	TEXT(struct account, user),
	TEXT(struct account, registered_from),
	TIME(struct account, registered_at_ms),
	TIME(struct account, expires_at_ms),
	INTEGER(struct account, is_over),
};
#define ACCOUNTS \
	"SELECT id, name, user, registered_from, registered_at AS registered_at_ms, expires_at AS " \
	"expires_at_ms, " \
	"expires_at < UTC_TIMESTAMP(3) AS is_over FROM worker_accounts "
static const struct statement ALL =
	SELECT(struct account, ACCOUNT_COLUMNS, ACCOUNTS "ORDER BY name");
static const struct statement ONE =
	SELECT(struct account, ACCOUNT_COLUMNS, ACCOUNTS "WHERE name = ?");
static const struct statement ADD =
	COMMAND("INSERT INTO worker_accounts (name, invited_by, expires_at) "
			"VALUES (?, ?, UTC_TIMESTAMP(3) + INTERVAL ? HOUR)");
static const struct statement SET_USER =
	COMMAND("UPDATE worker_accounts SET user = ? WHERE id = ?");
static const struct statement FORGET = COMMAND("DELETE FROM worker_accounts WHERE id = ?");

/* ---- database users; their names and passwords have only characters that need no quoting ---- */

static int make_user(struct database *db, const struct worker_invitation *invitation,
	bool needs_tls, struct error *error)
{
	cleanup_buffer struct buffer script = { 0 };
	buffer_printf(&script,
		"CREATE USER '%s'@'%%' IDENTIFIED BY '%s'%s WITH MAX_USER_CONNECTIONS 200; GRANT `%s` TO "
		"'%s'@'%%'; "
		"SET DEFAULT ROLE `%s` FOR '%s'@'%%'",
		invitation->user, invitation->secret, needs_tls ? " REQUIRE SSL" : "", invitation->database,
		invitation->user, invitation->database, invitation->user);
	int rc = database_script(db, buffer_string(&script), error);
	return rc ? fail_context(error, "Cannot create the database user") : 0;
}

/* Drops the user and closes its connections. The user sees no data even before that, because the
 * caller has deleted its row of worker_accounts. */
static int drop_user(struct database *db, const char *user, struct error *error)
{
	cleanup_buffer struct buffer drop = { 0 }, end = { 0 };
	if (!user)
		return 0;
	buffer_printf(&drop, "DROP USER IF EXISTS '%s'@'%%'", user);
	buffer_printf(&end, "KILL USER '%s'", user);
	int rc = database_script(db, buffer_string(&drop), error);
	if (!rc)
		/* fails if the user has no connection or this account lacks the right */
		database_script(db, buffer_string(&end), NULL);
	return rc;
}

/* ---- inviting ---- */

struct order {
	const char *name, *at, *ca;
	int64_t hours;
};

/* Returns -1 if the arguments are wrong. */
static int read_order(int argc, char **argv, struct order *order)
{
	static const struct option options[] = {
		{ "at", required_argument, NULL, 'a' },
		{ "ca", required_argument, NULL, 'c' },
		{ "hours", required_argument, NULL, 'h' },
		{ 0 },
	};
	*order = (struct order){ .hours = 24 };
	opterr = 0;
	for (int option; (option = getopt_long(argc, argv, "", options, NULL)) != -1;) {
		char *end = "";
		if (option == 'a')
			order->at = optarg;
		else if (option == 'c')
			order->ca = optarg;
		else if (option == 'h')
			order->hours = strtoll(optarg, &end, 10);
		if (option == '?' || *end || order->hours < 1 || order->hours > 24 * 90)
			return -1;
	}
	order->name = optind < argc ? argv[optind++] : NULL;
	return order->name && optind == argc ? 0 : -1;
}

/* Reads the database's address: HOST, HOST:PORT or [IPv6 ADDRESS]:PORT. HOST may be a cluster's
 * hosts, separated by commas. */
static int read_place(const char *at, struct config *config, struct error *error)
{
	bool has_brackets = *at == '[';
	const char *host = at + has_brackets, *last = has_brackets ? strchr(at, ']') : strchr(at, ':');
	size_t length = last ? (size_t)(last - host) : strlen(host);
	const char *rest = host + length + has_brackets;
	char *end = "";
	long port = *rest == ':' ? strtol(rest + 1, &end, 10) : (long)config->database_port;
	if (!length || length >= sizeof config->database_host || (has_brackets && !last)
		|| (*rest && *rest != ':') || *end || port < 1 || port > 65535)
		return fail(error, ERROR_INPUT, "%.80s is not of the form HOST or HOST:PORT.", at);
	snprintf(config->database_host, sizeof config->database_host, "%.*s", (int)length, host);
	config->database_port = port;
	return 0;
}

/* Changes this host's settings of the database into those that the invited host will use. */
static int as_from_there(const struct order *order, struct config *config, struct error *error)
{
	int rc = 0;
	if (config->database_socket[0] && !order->at)
		return fail(error, ERROR_INPUT,
			"This host reaches the database over a socket. Say with --at HOST:PORT how the other "
			"host reaches it.");
	if (order->at)
		rc = read_place(order->at, config, error);
	config->database_socket[0] = config->database_tls_cert[0] = config->database_tls_key[0] = '\0';
	if (order->ca)
		snprintf(config->database_tls_ca, sizeof config->database_tls_ca, "%s", order->ca);
	return rc ? rc : database_check_tls(config, error);
}

static int read_certificates(
	struct arena *arena, const char *path, const char **text, struct error *error)
{
	enum { most_bytes = 16384 };
	char *bytes = arena_alloc(arena, most_bytes);
	*text = "";
	if (!*path)
		return 0;
	cleanup_file FILE *file = fopen(path, "re");
	size_t length = file ? fread(bytes, 1, most_bytes - 1, file) : 0;
	bytes[length] = '\0';
	*text = bytes;
	return length ? 0
				  : fail(error, ERROR_INPUT, "Cannot read the certificates in %s: %s.", path,
					  file ? "the file has none" : strerror(errno));
}

/* Removes an unused invitation of this name, so that a new one can replace it. ERROR_CONFLICT if a
 * host is registered under the name. */
static int make_way(struct database *db, struct arena *arena, const char *name, struct error *error)
{
	struct account there;
	int rc = database_row(db, arena, &ONE, &there, error, "s", name);
	if (rc)
		return rc == ERROR_NOT_FOUND ? 0 : rc;
	if (there.registered_at_ms != TIME_NULL)
		return fail(error, ERROR_CONFLICT,
			"A host is registered as %s already. To revoke its account, run `podium-admin worker "
			"revoke %s`.",
			name, name);
	rc = database_execute(db, &FORGET, error, "i", there.id);
	return rc ? rc : drop_user(db, there.user, error);
}

/* Adds the account's row, then creates the database user and stores the user's name in the row. No
 * transaction covers these steps, since MariaDB creates users outside transactions. */
static int add_account(struct database *db, struct arena *arena, const struct order *order,
	struct worker_invitation *invitation, bool needs_tls, struct error *error)
{
	int rc = database_execute(db, &ADD, error, "ssi", order->name, admin_actor.name, order->hours);
	int64_t id = (int64_t)database_insert_id(db);
	if (rc)
		return rc;
	invitation->user = arena_printf(arena, "%s_%lld", invitation->database, (long long)id);
	rc = make_user(db, invitation, needs_tls, error);
	if (!rc)
		rc = database_execute(db, &SET_USER, error, "si", invitation->user, id);
	return rc ? rc
			  : audit(db, 0, admin_actor.name, "", "worker.invite", order->name,
				  arena_printf(arena, "for %lld hours, as the database's user %s",
					  (long long)order->hours, invitation->user),
				  error);
}

static int invite_host(struct database *db, struct arena *arena, const struct order *order,
	struct config *config, const char **word, struct error *error)
{
	rights_name rights;
	char secret[worker_secret_size];
	struct worker_invitation invitation = { .name = order->name, .secret = secret };
	if (!worker_name_is_fine(order->name))
		return fail(error, ERROR_INPUT,
			"%s is not a valid name for a worker host. Use at most 63 letters, digits, dots, "
			"hyphens and underscores.",
			quote(arena, order->name));
	int rc = as_from_there(order, config, error);
	if (!rc)
		rc = read_certificates(arena, config->database_tls_ca, &invitation.certificates, error);
	if (!rc)
		rc = rights_name_of(config->database_name, rights, error);
	if (!rc)
		rc = rights_install(db, config->database_name, error);
	if (!rc)
		rc = make_way(db, arena, order->name, error);
	worker_secret_draw(secret);
	invitation.host = config->database_host;
	invitation.port = config->database_port;
	invitation.database = rights;
	invitation.tls = config->database_tls;
	if (!rc)
		rc = add_account(db, arena, order, &invitation, database_wants_tls(config), error);
	*word = rc ? NULL : worker_invitation_write(arena, &invitation, error);
	sodium_memzero(secret, sizeof secret);
	return rc || *word ? rc : error->code;
}

int worker_invite_command(int argc, char **argv)
{
	struct order order;
	struct config config;
	struct error error = { 0 };
	const char *word;
	if (read_order(argc, argv, &order))
		return admin_usage("worker invite");
	if (sodium_init() < 0)
		return admin_failed;
	cleanup_arena struct arena *arena = arena_new();
	cleanup_database struct database *db = admin_connect_to(&config);
	if (!db)
		return admin_failed;
	if (invite_host(db, arena, &order, &config, &word, &error))
		return admin_complain(&error);
	admin_say("Run this on the new worker host %s, once and within %lld %s:", order.name,
		(long long)order.hours, order.hours == 1 ? "hour" : "hours");
	admin_say("podium-worker register %s", word);
	return admin_done;
}

/* ---- revoking ---- */

struct revoking {
	struct arena *arena;
	const char *name, *user;
	int64_t given_back;
};

static int revoke_body(struct database *db, void *context, struct error *error)
{
	struct revoking *revoking = context;
	struct account account;
	int rc = database_row(db, revoking->arena, &ONE, &account, error, "s", revoking->name);
	if (rc)
		return rc == ERROR_NOT_FOUND ? fail(error, rc,
				   "No host is registered or invited as %s. `podium-admin worker accounts` lists "
				   "them.",
				   quote(revoking->arena, revoking->name))
									 : rc;
	revoking->user = account.user;
	rc = database_execute(db, &FORGET, error, "i", account.id);
	if (!rc)
		rc = fleet_take_back(db, revoking->arena, account.name,
			arena_printf(revoking->arena, "worker %s was removed by an admin.", account.name),
			&revoking->given_back, error);
	return rc ? rc
			  : audit(db, 0, admin_actor.name, "", "worker.revoke", account.name,
				  arena_printf(
					  revoking->arena, "%lld running given back", (long long)revoking->given_back),
				  error);
}

int worker_revoke_command(int argc, char **argv)
{
	if (argc != 2)
		return admin_usage("worker revoke");
	struct error error = { 0 };
	cleanup_arena struct arena *arena = arena_new();
	cleanup_database struct database *db = admin_connect();
	struct revoking revoking = { .arena = arena, .name = argv[1] };
	if (!db)
		return admin_failed;
	if (database_transaction(db, revoke_body, &revoking, &error)
		|| drop_user(db, revoking.user, &error))
		return admin_complain(&error);
	admin_say("The account of %s is revoked; %lld running %s queued again.", argv[1],
		(long long)revoking.given_back, revoking.given_back == 1 ? "job is" : "jobs are");
	return admin_done;
}

/* ---- listing ---- */

static void say_account(const struct account *account)
{
	bool is_registered = account->registered_at_ms != TIME_NULL;
	format_text at;
	format_utc(at, is_registered ? account->registered_at_ms : account->expires_at_ms);
	if (is_registered)
		admin_say("%-24s registered %s from %s", account->name, at, account->registered_from);
	else
		admin_say("%-24s %s %s", account->name,
			account->is_over ? "invitation expired" : "invited until", at);
}

int worker_accounts_command(int argc, char **argv)
{
	(void)argv;
	if (argc != 1)
		return admin_usage("worker accounts");
	struct error error = { 0 };
	struct account *accounts;
	size_t count = 0;
	cleanup_arena struct arena *arena = arena_new();
	cleanup_database struct database *db = admin_connect();
	if (!db)
		return admin_failed;
	if (database_rows(db, arena, &ALL, &accounts, &count, &error, ""))
		return admin_complain(&error);
	for (size_t i = 0; i < count; i++)
		say_account(&accounts[i]);
	return admin_done;
}
