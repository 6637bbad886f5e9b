#include "worker/register_host.h"

#include "lib/base/config.h"
#include "lib/base/scope.h"
#include "lib/base/text.h"
#include "lib/database/database.h"
#include "lib/fleet/worker_invitation.h"

#include <errno.h>
#include <fcntl.h>
#include <getopt.h>
#include <sodium.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

static const char USAGE[] =
	"Usage: podium-worker register [--config FILE] INVITATION\n"
	"\n"
	"Makes this host a worker. `podium-admin worker invite` on the site's host prints the\n"
	"invitation; \"-\" reads it from standard input. Writes the settings into a new file: FILE,\n"
	"or the file that PODIUM_CONFIG names, or /etc/podium/worker.conf.\n";

static const char DEFAULT_PATH[] = "/etc/podium/worker.conf";
enum { wrong_usage = 2 };

/* ---- the file of settings ---- */

struct settings_paths {
	char path[248], certificates[256];
};

static int find_settings(const char *option, struct settings_paths *paths, struct error *error)
{
	const char *path = option ? option : getenv("PODIUM_CONFIG");
	path = path && *path ? path : DEFAULT_PATH;
	if (strlen(path) >= sizeof paths->path || strpbrk(path, "\n\r"))
		return fail(
			error, ERROR_INPUT, "The path of the settings is too long, or has a line break.");
	snprintf(paths->path, sizeof paths->path, "%s", path);
	snprintf(paths->certificates, sizeof paths->certificates, "%s.ca.pem", path);
	return 0;
}

/* Creates the file so that only this user can read it from the start. */
static int write_file(const char *path, const char *text, struct error *error)
{
	cleanup_fd int file = open(path, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
	if (file < 0 && errno == EEXIST)
		return fail(error, ERROR_CONFLICT,
			"%s already exists. Move it away, or name another file with --config.", path);
	if (file < 0)
		return fail(error, ERROR_SYSTEM, "Cannot write %s: %s.", path, strerror(errno));
	size_t length = strlen(text);
	if (write(file, text, length) == (ssize_t)length && fsync(file) == 0)
		return 0;
	fail(error, ERROR_SYSTEM, "Cannot write %s: %s.", path, strerror(errno));
	unlink(path);
	return ERROR_SYSTEM;
}

static int make_folder(const char *path, struct error *error)
{
	char folder[sizeof((struct settings_paths *)0)->certificates];
	snprintf(folder, sizeof folder, "%s", path);
	char *slash = strrchr(folder, '/');
	if (!slash || slash == folder)
		return 0;
	*slash = '\0';
	return mkdir(folder, 0755) && errno != EEXIST
		? fail(error, ERROR_SYSTEM, "Cannot create the folder %s: %s.", folder, strerror(errno))
		: 0;
}

/* Returns false for a value that the file cannot hold: the file has one line for each value and no
 * quoting. */
static bool put_setting(struct buffer *text, const char *key, const char *value)
{
	buffer_printf(text, "%s = %s\n", key, value);
	return !strpbrk(value, "\r\n") && *value && *value != ' ' && value[strlen(value) - 1] != ' ';
}

static int write_settings(const struct worker_invitation *invitation,
	const struct settings_paths *paths, const char *password, struct error *error)
{
	cleanup_buffer struct buffer text = { 0 };
	bool fits;
	buffer_printf(&text,
		"# Written by `podium-worker register`. No other file has the password.\ndatabase_port = "
		"%lld\n",
		(long long)invitation->port);
	fits = put_setting(&text, "worker_name", invitation->name)
		&& put_setting(&text, "database_host", invitation->host)
		&& put_setting(&text, "database_name", invitation->database)
		&& put_setting(&text, "database_user", invitation->user)
		&& put_setting(&text, "database_password", password);
	if (*invitation->tls)
		fits = fits && put_setting(&text, "database_tls", invitation->tls);
	if (*invitation->certificates)
		fits = fits && put_setting(&text, "database_tls_ca", paths->certificates);
	int rc = fits ? make_folder(paths->path, error)
				  : fail(error, ERROR_INPUT,
					  "The invitation has a value that a settings file cannot hold. Create a new "
					  "invitation.");
	return rc ? rc : write_file(paths->path, buffer_string(&text), error);
}

static int write_certificates(const struct worker_invitation *invitation,
	const struct settings_paths *paths, struct error *error)
{
	return *invitation->certificates
		? write_file(paths->certificates, invitation->certificates, error)
		: 0;
}

/* ---- the database ---- */

static const struct statement REGISTER = COMMAND("CALL register(?)");

static void copy_text(char *to, size_t size, const char *from)
{
	snprintf(to, size, "%s", from);
}

static int use_invitation(const struct worker_invitation *invitation,
	const struct settings_paths *paths, const char *password, struct error *error)
{
	struct config config = { .database_port = invitation->port, .database_timeout_s = 60 };
	copy_text(config.database_host, sizeof config.database_host, invitation->host);
	copy_text(config.database_name, sizeof config.database_name, invitation->database);
	copy_text(config.database_user, sizeof config.database_user, invitation->user);
	copy_text(config.database_password, sizeof config.database_password, invitation->secret);
	copy_text(config.database_tls, sizeof config.database_tls, invitation->tls);
	if (*invitation->certificates)
		copy_text(config.database_tls_ca, sizeof config.database_tls_ca, paths->certificates);
	cleanup_database struct database *db = database_open(&config, error);
	if (!db)
		return fail_context(error,
			"The invitation could not be used; it may be used up, expired or revoked, or this host "
			"does not reach the database");
	return database_execute(db, &REGISTER, error, "s", password);
}

/* Writes the files before the invitation is used, because the password exists nowhere else. Removes
 * them on failure. */
static int register_host(const struct worker_invitation *invitation,
	const struct settings_paths *paths, struct error *error)
{
	char password[worker_secret_size];
	worker_secret_draw(password);
	int rc = write_settings(invitation, paths, password, error);
	if (rc)
		return rc;
	rc = write_certificates(invitation, paths, error);
	if (!rc && (rc = use_invitation(invitation, paths, password, error))
		&& *invitation->certificates)
		unlink(paths->certificates);
	if (rc)
		unlink(paths->path);
	sodium_memzero(password, sizeof password);
	return rc;
}

/* ---- the command ---- */

static int read_invitation(struct arena *arena, const char *word,
	struct worker_invitation *invitation, struct error *error)
{
	enum { most_bytes = 4100 };
	char *line = arena_alloc(arena, most_bytes);
	if (strcmp(word, "-") != 0)
		return worker_invitation_read(arena, word, invitation, error);
	if (!fgets(line, most_bytes, stdin))
		*line = '\0';
	return worker_invitation_read(arena, line, invitation, error);
}

static int register_with(const char *option, const char *word, struct error *error)
{
	cleanup_arena struct arena *arena = arena_new();
	struct settings_paths paths;
	struct worker_invitation invitation;
	int rc = find_settings(option, &paths, error);
	if (!rc)
		rc = read_invitation(arena, word, &invitation, error);
	if (!rc)
		rc = register_host(&invitation, &paths, error);
	if (!rc) /* anybody may have written the invitation, so escape its control characters */
		text_print_line(stdout,
			"This host is registered as the worker %s. It starts with: PODIUM_CONFIG=%s "
			"podium-worker",
			invitation.name, paths.path);
	return rc;
}

int register_command(int count, char **words)
{
	static const struct option options[] = { { "config", required_argument, NULL, 'c' },
		{ "help", no_argument, NULL, 'h' }, { 0 } };
	const char *path = NULL;
	struct error error = { 0 };
	opterr = 0;
	for (int option; (option = getopt_long(count, words, "", options, NULL)) != -1;) {
		if (option == 'h')
			return fputs(USAGE, stdout) < 0;
		if (option == '?')
			return fputs(USAGE, stderr), wrong_usage;
		path = optarg;
	}
	if (optind + 1 != count)
		return fputs(USAGE, stderr), wrong_usage;
	if (sodium_init() < 0)
		fail(&error, ERROR_SYSTEM, "The library for random numbers cannot be used.");
	else if (!register_with(path, words[optind], &error))
		return EXIT_SUCCESS;
	text_print_line(stderr, "podium-worker: %s", error.text);
	return EXIT_FAILURE;
}
