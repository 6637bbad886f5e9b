/* `init`: sets up a fresh installation. The command asks for the settings, writes them, checks the
 * host, migrates the database and creates the first admin. When the command runs again, it offers
 * the current settings as answers. */
#include "cli/admin/admin.h"
#include "cli/admin/question.h"
#include "cli/admin/settings_file.h"
#include "lib/account/audit.h"
#include "lib/account/user.h"
#include "lib/base/config.h"
#include "lib/base/scope.h"
#include "lib/job/programs.h"

#include <ctype.h>
#include <errno.h>
#include <getopt.h>
#include <limits.h>
#include <pwd.h>
#include <sodium.h>
#include <spawn.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>

struct admins {
	int64_t total;
};
static const struct column ADMINS_COLUMNS[] = { INTEGER(struct admins, total) };
static const struct statement ADMINS = SELECT(
	struct admins, ADMINS_COLUMNS, "SELECT COUNT(*) AS total FROM users WHERE role = 'admin'");

static const char *const KEYS[] = { "database", "database_port", "database_name", "database_user",
	"database_password", "make_database", "public_url", "admin", "admin_password", NULL };

static const char DEBIAN_SOCKET[] = "/run/mysqld/mysqld.sock";

struct init {
	struct questions questions;
	struct config config;
	char path[PATH_MAX]; /* path of the settings file */
};

/* ---- checking answers ---- */

/* One answer says where MariaDB is: a path is its socket, anything else is its host. */
static int check_place(answer_text answer, struct error *error)
{
	struct stat there;
	if (*answer == '/' && strlen(answer) >= sizeof((struct config *)0)->database_socket)
		return fail(error, ERROR_INPUT, "The path of a socket may have at most %zu bytes.",
			sizeof((struct config *)0)->database_socket - 1);
	if (*answer == '/' && stat(answer, &there))
		return fail(error, ERROR_INPUT,
			"There is no socket %s. Start MariaDB on this host, or give the name of its host.",
			answer);
	if (*answer == '/' && !S_ISSOCK(there.st_mode))
		return fail(
			error, ERROR_INPUT, "%s is not a socket. Give the path of MariaDB's socket.", answer);
	if (strpbrk(answer, " \t:") || strlen(answer) >= sizeof((struct config *)0)->database_host)
		return fail(error, ERROR_INPUT,
			"\"%.80s\" is neither the path of a socket nor the name of a host.", answer);
	return 0;
}

static int check_port(answer_text answer, struct error *error)
{
	char *end;
	long port = strtol(answer, &end, 10);
	return *end || end == answer || port < 1 || port > 65535 ? fail(error, ERROR_INPUT,
			   "The port must be a whole number from 1 to 65535, not \"%.40s\".", answer)
															 : 0;
}

/* The names of the database and its user become part of a statement's text, so only these
 * characters are allowed. */
static int check_identifier(answer_text answer, struct error *error)
{
	for (const char *c = answer; *c; c++)
		if (!isascii((unsigned char)*c) || !(isalnum((unsigned char)*c) || *c == '_'))
			return fail(error, ERROR_INPUT,
				"\"%.80s\" is not allowed here. Use only the letters A to Z, digits and _.",
				answer);
	return strlen(answer) > 60
		? fail(error, ERROR_INPUT, "The name is too long. Use at most 60 characters.")
		: 0;
}

static int check_url(answer_text answer, struct error *error)
{
	size_t length = strlen(answer),
		   scheme = strncmp(answer, "http://", 7) == 0 ? 7
		: strncmp(answer, "https://", 8) == 0          ? 8
													   : 0;
	while (length > scheme && answer[length - 1] == '/')
		answer[--length] = '\0';
	if (!scheme || length == scheme || length >= sizeof((struct config *)0)->public_url)
		return fail(error, ERROR_INPUT,
			"\"%.80s\" is not a web address. Start it with http:// or https://, followed by a host "
			"name.",
			answer);
	if (strpbrk(answer, " \t\"'<>\\") || strpbrk(answer + scheme, "/?#@"))
		return fail(error, ERROR_INPUT,
			"\"%.80s\" has more than scheme, host and port. Leave out the rest.", answer);
	return 0;
}

static int check_yes(answer_text answer, struct error *error)
{
	char first = (char)tolower((unsigned char)*answer);
	if (first != 'y' && first != 'n')
		return fail(error, ERROR_INPUT, "Answer yes or no, not \"%.40s\".", answer);
	answer[0] = first;
	answer[1] = '\0';
	return 0;
}

/* ---- the database ---- */

static const char *usual_place(const struct config *config)
{
	struct stat there;
	if (config->database_socket[0])
		return config->database_socket;
	return stat(DEBIAN_SOCKET, &there) == 0 && S_ISSOCK(there.st_mode) ? DEBIAN_SOCKET
																	   : config->database_host;
}

static int ask_into(struct init *init, const char *key, const char *text, char *place, size_t size,
	int (*check)(answer_text answer, struct error *error), struct error *error)
{
	answer_text answer, before;
	snprintf(before, sizeof before, "%s", place);
	const struct question question = { .key = key,
		.text = text,
		.fallback = before,
		.is_secret = strcmp(key, "database_password") == 0,
		.check = check };
	int rc = question_ask(&init->questions, &question, answer, error);
	if (!rc && strlen(answer) >= size)
		rc = fail(error, ERROR_INPUT, "%s may have at most %zu bytes.", key, size - 1);
	if (!rc)
		snprintf(place, size, "%s", answer);
	sodium_memzero(answer, sizeof answer);
	sodium_memzero(before, sizeof before);
	return rc;
}

static int ask_port(struct init *init, struct error *error)
{
	char port[16];
	snprintf(port, sizeof port, "%lld", (long long)init->config.database_port);
	int rc = ask_into(
		init, "database_port", "MariaDB's port on that host", port, sizeof port, check_port, error);
	init->config.database_port = strtoll(port, NULL, 10);
	return rc;
}

static int ask_for_database(struct init *init, struct error *error)
{
	struct config *config = &init->config;
	char place[sizeof config->database_host];
	snprintf(place, sizeof place, "%s", usual_place(config));
	int rc = ask_into(init, "database", "MariaDB's socket, or the name of its host", place,
		sizeof place, check_place, error);
	bool is_local = *place == '/';
	if (!rc)
		snprintf(config->database_socket, sizeof config->database_socket, "%.107s",
			is_local ? place : "");
	if (!rc && !is_local) {
		snprintf(config->database_host, sizeof config->database_host, "%s", place);
		rc = ask_port(init, error);
	}
	if (!rc)
		rc = ask_into(init, "database_name", "Database", config->database_name,
			sizeof config->database_name, check_identifier, error);
	if (!rc)
		rc = ask_into(init, "database_user", "MariaDB user", config->database_user,
			sizeof config->database_user, check_identifier, error);
	if (!rc)
		rc = ask_into(init, "database_password",
			config->database_password[0] ? "Password of that user (empty: keep the current one)"
				: is_local
				? "Password of that user (empty: MariaDB trusts this host's user of that name)"
				: "Password of that user",
			config->database_password, sizeof config->database_password, NULL, error);
	return rc;
}

static int try_database(const struct init *init, struct error *error)
{
	cleanup_database struct database *db = admin_open(&init->config, error);
	return db ? database_ping(db, error) : error->code;
}

/* CREATE and GRANT take no parameters, so the names become part of the text; check_identifier has
 * checked them. In a GRANT an unescaped _ would match any character. */
static void write_statements(const struct config *config, struct buffer *sql)
{
	buffer_printf(sql,
		"CREATE DATABASE IF NOT EXISTS `%s` CHARACTER SET utf8mb4 COLLATE utf8mb4_unicode_ci;\n"
		"CREATE USER IF NOT EXISTS '%s'@'localhost' IDENTIFIED VIA unix_socket;\nGRANT ALL "
		"PRIVILEGES ON `",
		config->database_name, config->database_user);
	for (const char *c = config->database_name; *c; c++)
		buffer_printf(sql, "%s%c", *c == '_' ? "\\" : "", *c);
	buffer_printf(sql, "`.* TO '%s'@'localhost'", config->database_user);
}

/* Creates the database and its user as MariaDB's root, whom MariaDB trusts if the system's root
 * connects. */
static int make_database(const struct config *config, struct error *error)
{
	struct config root = *config;
	cleanup_buffer struct buffer sql = { 0 };
	if (!getpwnam(config->database_user))
		return fail(error, ERROR_INPUT,
			"This host has no user %s, so MariaDB cannot trust that user without a password. "
			"Create the user, or give MariaDB's user a password.",
			config->database_user);
	snprintf(root.database_user, sizeof root.database_user, "root");
	root.database_name[0] = '\0';
	write_statements(config, &sql);
	cleanup_database struct database *db = database_open(&root, error);
	return db ? database_script(db, sql.data, error) : error->code;
}

/* If the database or its user is missing on this host, root can create both. */
static int offer_to_make(struct init *init, struct error *error)
{
	const struct config *config = &init->config;
	answer_text answer;
	if (!config->database_socket[0] || config->database_password[0] || geteuid() != 0)
		return error->code;
	admin_say("%s", error->text);
	char text[400];
	snprintf(text, sizeof text,
		"Create the database %s, and the MariaDB user %s, who needs no password on this host? (yes "
		"or no)",
		config->database_name, config->database_user);
	struct error answering = { 0 };
	const struct question question = {
		.key = "make_database", .text = text, .fallback = "yes", .check = check_yes
	};
	int rc = question_ask(&init->questions, &question, answer, &answering);
	if (rc || *answer == 'n')
		return error->code;
	memset(error, 0, sizeof *error);
	rc = make_database(config, error);
	return rc ? rc : try_database(init, error);
}

static void explain_database(const struct init *init)
{
	admin_say("MariaDB needs a database, and a user with all privileges on it. Run as MariaDB's "
			  "administrator:");
	admin_say("  CREATE DATABASE %s CHARACTER SET utf8mb4 COLLATE utf8mb4_unicode_ci;",
		init->config.database_name);
	admin_say("  CREATE USER %s@'%%' IDENTIFIED BY '...';", init->config.database_user);
	admin_say("  GRANT ALL PRIVILEGES ON %s.* TO %s@'%%';", init->config.database_name,
		init->config.database_user);
}

static int settle_database(struct init *init, struct error *error)
{
	for (;;) {
		int rc = ask_for_database(init, error);
		if (rc)
			return rc;
		if (!try_database(init, error) || !offer_to_make(init, error))
			return 0;
		if (!question_may_repeat(&init->questions, "database"))
			return error->code;
		admin_complain(error);
		memset(error, 0, sizeof *error);
		explain_database(init);
	}
}

/* ---- the settings ---- */

static int ask_for_url(struct init *init, struct error *error)
{
	char *url = init->config.public_url, host[128] = "";
	bool is_set = strcmp(url, "http://127.0.0.1:8080") != 0; /* the default, which ./run uses */
	if (!is_set && gethostname(host, sizeof host - 1) == 0)
		snprintf(url, sizeof init->config.public_url, "http://%s", host);
	return ask_into(init, "public_url", "The address at which people reach this site", url,
		sizeof init->config.public_url, check_url, error);
}

static int write_settings(struct init *init, struct error *error)
{
	const struct config *config = &init->config;
	char port[24];
	snprintf(port, sizeof port, "%lld", (long long)config->database_port);
	const struct setting settings[] = {
		{ "database_socket", config->database_socket },
		{ "database_host", config->database_host },
		{ "database_port", port },
		{ "database_name", config->database_name },
		{ "database_user", config->database_user },
		{ "database_password", config->database_password },
		{ "public_url", config->public_url },
	};
	int rc = settings_write(init->path, settings, COUNT(settings), error);
	if (!rc)
		admin_say("Wrote %s.", init->path);
	return rc;
}

/* Reads the settings as the programs do, including the environment. */
static int read_back(struct init *init, struct error *error)
{
	setenv("PODIUM_CONFIG", init->path, 1);
	return config_load(&init->config, error);
}

/* ---- the host ---- */

/* Faults of the host do not stop init, because a site need not run a worker here. */
static void ask_doctor(void)
{
	cleanup_arena struct arena *arena = arena_new();
	const char *program = program_beside(arena, "podium-admin");
	char *const words[] = { (char *)(uintptr_t)program, (char *)(uintptr_t) "doctor", NULL };
	pid_t child;
	int status = 0;
	puts("");
	admin_say("What this host offers (podium-admin doctor):");
	fflush(stdout);
	if (posix_spawn(&child, program, NULL, NULL, words, environ) || waitpid(child, &status, 0) < 0)
		admin_say("Cannot run podium-admin doctor: %s.", strerror(errno));
	else if (status)
		admin_say(
			"Fix these faults if a worker runs on this host. The rest of Podium works without.");
	puts("");
}

/* ---- the first admin ---- */

static int ask_for_password(struct init *init, answer_text password, struct error *error)
{
	answer_text again;
	bool twice = isatty(STDIN_FILENO) && question_may_repeat(&init->questions, "admin_password");
	struct question question = { .key = "admin_password", .text = "Password", .is_secret = true };
	int rc = question_ask(&init->questions, &question, password, error);
	question.text = "Repeat the password";
	if (!rc && twice)
		rc = question_ask(&init->questions, &question, again, error);
	if (!rc && twice && strcmp(password, again) != 0)
		rc = fail(error, ERROR_INPUT, "The two passwords differ.");
	sodium_memzero(again, sizeof again);
	return rc;
}

static int make_admin(struct init *init, struct database *db, struct error *error)
{
	answer_text name, password;
	const struct question question = {
		.key = "admin", .text = "Name of the first admin", .fallback = "admin"
	};
	int rc = question_ask(&init->questions, &question, name, error);
	if (!rc)
		rc = ask_for_password(init, password, error);
	if (!rc)
		rc = user_create(db, name, password, ROLE_ADMIN, false, NULL, error);
	if (!rc)
		rc = audit(db, 0, admin_actor.name, "", "user.add", name, "admin", error);
	sodium_memzero(password, sizeof password);
	if (!rc)
		admin_say("Created the admin %s.", name);
	return rc;
}

static int settle_admin(struct init *init, struct database *db, struct error *error)
{
	cleanup_arena struct arena *arena = arena_new();
	struct admins admins;
	int rc = database_row(db, arena, &ADMINS, &admins, error, "");
	if (rc || admins.total)
		return rc;
	while ((rc = make_admin(init, db, error)) && rc != ERROR_DATABASE
		&& question_may_repeat(&init->questions, "admin_password")) {
		admin_complain(error);
		memset(error, 0, sizeof *error);
	}
	return rc;
}

/* ---- the command ---- */

static void say_what_is_next(const struct init *init)
{
	bool has_units = access("/run/systemd/system", F_OK) == 0;
	puts("");
	admin_say("Podium is set up. Next steps:");
	if (has_units)
		admin_say("  systemctl enable --now podium-web.socket podium-web podium-hooks   # on hosts "
				  "with GPUs also podium-worker");
	else
		admin_say("  start podium-web, podium-hooks and, on hosts with GPUs, podium-worker; see "
				  "install.md");
	if (access("/etc/nginx/sites-available/podium", F_OK) == 0)
		admin_say("  ln -s ../sites-available/podium /etc/nginx/sites-enabled/ && nginx -t && "
				  "systemctl reload nginx");
	if (access("/usr/share/podium/tasks", F_OK) == 0)
		admin_say("  podium-admin task load --unchecked /usr/share/podium/tasks   # example "
				  "leaderboards, once "
				  "a worker runs");
	admin_say("Then open %s and sign in.", init->config.public_url);
}

static int set_up_site(struct init *init, struct error *error)
{
	int rc = settle_database(init, error);
	if (!rc)
		rc = ask_for_url(init, error);
	if (!rc)
		rc = write_settings(init, error);
	if (!rc)
		rc = read_back(init, error);
	if (rc)
		return rc;
	ask_doctor();
	init->config.database_timeout_s = 0; /* a migration takes as long as its tables are large */
	cleanup_database struct database *db = admin_open(&init->config, error);
	if (!db)
		return error->code;
	rc = migrate(db, init->config.database_name, error);
	return rc ? rc : settle_admin(init, db, error);
}

static int read_arguments(int argc, char **argv, struct init *init, const char **answers)
{
	static const struct option OPTIONS[] = { { "answers-from", required_argument, NULL, 'a' },
		{ "yes", no_argument, NULL, 'y' }, { 0 } };
	opterr = 0; /* getopt prints no message, because the usage line is enough */
	for (int option; (option = getopt_long(argc, argv, "", OPTIONS, NULL)) != -1;) {
		if (option == 'a')
			*answers = optarg;
		else if (option == 'y')
			init->questions.takes_fallbacks = true;
		else
			return -1;
	}
	return optind == argc ? 0 : -1;
}

int init_command(int argc, char **argv)
{
	struct init init = { 0 };
	struct error error = { 0 };
	const char *answers = NULL;
	if (read_arguments(argc, argv, &init, &answers))
		return admin_usage("init");
	snprintf(
		init.path, sizeof init.path, "%s", *config_file() ? config_file() : config_default_file);
	/* config_load fails if PODIUM_CONFIG names a missing file. */
	setenv("PODIUM_CONFIG", access(init.path, F_OK) == 0 ? init.path : "", 1);
	if (sodium_init() < 0 || config_load(&init.config, &error)
		|| (answers && question_read_file(&init.questions, answers, KEYS, &error))
		|| set_up_site(&init, &error)) {
		sodium_memzero(&init, sizeof init);
		return admin_complain(&error);
	}
	say_what_is_next(&init);
	sodium_memzero(&init, sizeof init);
	return admin_done;
}
