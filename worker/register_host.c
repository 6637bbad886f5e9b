#include "worker/register.h"

#include "lib/config.h"
#include "lib/database.h"
#include "lib/scope.h"
#include "lib/text.h"
#include "lib/worker_invitation.h"

#include <errno.h>
#include <fcntl.h>
#include <getopt.h>
#include <sodium.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

static const char USAGE[] = "Usage: podium-worker register [--config FILE] INVITATION\n"
							"\n"
							"Makes this host a worker of the Podium whose `podium-admin worker "
                            "invite` has printed the invitation; \"-\" reads it from\n"
							"standard input. Writes the settings into FILE, which must not be "
                            "there yet; without the option PODIUM_CONFIG names it, else it\n"
							"is /etc/podium/worker.conf.\n";

static const char DEFAULT_PATH[] = "/etc/podium/worker.conf";
enum { wrong_usage = 2 };

/* ---- the file of settings ---- */

struct place {
	char path[248], certificates[256];
};

static int find_place(const char *option, struct place *place, struct error *error)
{
	const char *path = option ? option : getenv("PODIUM_CONFIG");
	path = path && *path ? path : DEFAULT_PATH;
	if (strlen(path) >= sizeof place->path || strpbrk(path, "\n\r"))
		return fail(
			error, ERROR_INPUT, "The path of the settings is too long, or has a line break.");
	snprintf(place->path, sizeof place->path, "%s", path);
	snprintf(place->certificates, sizeof place->certificates, "%s.ca.pem", path);
	return 0;
}

/* Of this user alone from the start. */
static int write_file(const char *path, const char *text, struct error *error)
{
	cleanup_fd int file = open(path, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
	if (file < 0 && errno == EEXIST)
		return fail(error, ERROR_CONFLICT,
			"%s is there already: move it away, or name another file with --config.", path);
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
	char folder[sizeof((struct place *)0)->certificates];
	snprintf(folder, sizeof folder, "%s", path);
	char *slash = strrchr(folder, '/');
	if (!slash || slash == folder)
		return 0;
	*slash = '\0';
	return mkdir(folder, 0755) && errno != EEXIST
		? fail(error, ERROR_SYSTEM, "Cannot make the folder %s: %s.", folder, strerror(errno))
		: 0;
}

/* A value stands in one line, and nothing there can be quoted. */
static bool put(struct buffer *text, const char *key, const char *value)
{
	buffer_printf(text, "%s = %s\n", key, value);
	return !strpbrk(value, "\r\n") && *value && *value != ' ' && value[strlen(value) - 1] != ' ';
}

static int write_settings(const struct worker_invitation *invitation, const struct place *place,
	const char *password, struct error *error)
{
	cleanup_buffer struct buffer text = { 0 };
	bool fits;
	buffer_printf(&text,
		"# Written by `podium-worker register`. The password is known nowhere else.\ndatabase_port "
	    "= %lld\n",
		(long long)invitation->port);
	fits = put(&text, "worker_name", invitation->name)
		&& put(&text, "database_host", invitation->host)
		&& put(&text, "database_name", invitation->database)
		&& put(&text, "database_user", invitation->user)
		&& put(&text, "database_password", password);
	if (*invitation->tls)
		fits = fits && put(&text, "database_tls", invitation->tls);
	if (*invitation->certificates)
		fits = fits && put(&text, "database_tls_ca", place->certificates);
	int rc = fits
		? make_folder(place->path, error)
		: fail(error, ERROR_INPUT, "The invitation has a value that no setting can have.");
	return rc ? rc : write_file(place->path, buffer_string(&text), error);
}

static int write_certificates(
	const struct worker_invitation *invitation, const struct place *place, struct error *error)
{
	return *invitation->certificates
		? write_file(place->certificates, invitation->certificates, error)
		: 0;
}

/* ---- the database ---- */

static const struct statement REGISTER = COMMAND("CALL register(?)");

static void copy(char *to, size_t size, const char *from)
{
	snprintf(to, size, "%s", from);
}

static int use(const struct worker_invitation *invitation, const struct place *place,
	const char *password, struct error *error)
{
	struct config config = { .database_port = invitation->port, .database_timeout_s = 60 };
	copy(config.database_host, sizeof config.database_host, invitation->host);
	copy(config.database_name, sizeof config.database_name, invitation->database);
	copy(config.database_user, sizeof config.database_user, invitation->user);
	copy(config.database_password, sizeof config.database_password, invitation->secret);
	copy(config.database_tls, sizeof config.database_tls, invitation->tls);
	if (*invitation->certificates)
		copy(config.database_tls_ca, sizeof config.database_tls_ca, place->certificates);
	cleanup_database struct database *db = database_open(&config, error);
	if (!db)
		return fail_context(error,
			"The invitation could not be used; it may be used up, expired or revoked, or this host "
		    "does not reach the database");
	return database_execute(db, &REGISTER, error, "s", password);
}

/* The files are there before the password is the only one, and go again where it came to nothing.
 */
static int register_host(
	const struct worker_invitation *invitation, const struct place *place, struct error *error)
{
	char password[worker_secret_size];
	worker_secret_draw(password);
	int rc = write_settings(invitation, place, password, error);
	if (rc)
		return rc;
	rc = write_certificates(invitation, place, error);
	if (!rc && (rc = use(invitation, place, password, error)) && *invitation->certificates)
		unlink(place->certificates);
	if (rc)
		unlink(place->path);
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

/* Words of an invitation may be anybody's, so nothing of them steers the terminal. */
static void say(FILE *stream, const char *format, ...) __attribute__((format(printf, 2, 3)));
static void say(FILE *stream, const char *format, ...)
{
	char text[2048];
	va_list arguments;
	va_start(arguments, format);
	vsnprintf(text, sizeof text, format, arguments);
	va_end(arguments);
	cleanup_buffer struct buffer line = { 0 };
	text_append_printable(&line, text);
	fprintf(stream, "%s\n", buffer_string(&line));
}

static int run(const char *option, const char *word, struct error *error)
{
	cleanup_arena struct arena *arena = arena_new();
	struct place place;
	struct worker_invitation invitation;
	int rc = find_place(option, &place, error);
	if (!rc)
		rc = read_invitation(arena, word, &invitation, error);
	if (!rc)
		rc = register_host(&invitation, &place, error);
	if (!rc)
		say(stdout,
			"This host is registered as the worker %s. It starts with: PODIUM_CONFIG=%s "
		    "podium-worker",
			invitation.name, place.path);
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
	else if (!run(path, words[optind], &error))
		return EXIT_SUCCESS;
	say(stderr, "podium-worker: %s", error.text);
	return EXIT_FAILURE;
}
