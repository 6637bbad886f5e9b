#include "cli/podium/settings.h"

#include "cli/podium/http.h"
#include "lib/base/buffer.h"
#include "lib/base/quote.h"
#include "lib/base/scope.h"
#include "lib/base/text.h"

#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

enum { most_bytes = 256 * 1024 };

bool settings_is_name(const char *name)
{
	size_t length = strlen(name);
	return length >= 1 && length <= 64 && isalnum((unsigned char)name[0])
		&& strspn(name, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_.")
		== length;
}

/* ---- reading ---- */

struct reading {
	struct settings *settings;
	struct settings_server *server; /* of the current section; NULL before the first */
	int line;
	struct error *error;
};

static int take_text(struct reading *reading, const char **place, const char *value)
{
	*place = arena_strdup(reading->settings->arena, value);
	return 0;
}

static int take_url(struct reading *reading, const char *value)
{
	int rc = http_address(reading->settings->arena, value, &reading->server->url, reading->error);
	return rc ? fail_context(reading->error, "%s line %d", reading->settings->path, reading->line)
			  : 0;
}

static int take_token(struct reading *reading, const char *value)
{
	return take_text(reading, &reading->server->token, value);
}
static int take_user(struct reading *reading, const char *value)
{
	return take_text(reading, &reading->server->user, value);
}
static int take_ca_file(struct reading *reading, const char *value)
{
	return take_text(reading, &reading->server->ca_file, value);
}

static int take_insecure_http(struct reading *reading, const char *value)
{
	reading->server->insecure_http = strcmp(value, "yes") == 0;
	return 0;
}

static const struct key {
	const char *name;
	int (*take)(struct reading *reading, const char *value);
} KEYS[] = {
	{ "url", take_url },
	{ "token", take_token },
	{ "user", take_user },
	{ "ca_file", take_ca_file },
	{ "insecure_http", take_insecure_http },
};

static int take_setting(struct reading *reading, const char *name, const char *value)
{
	struct settings *settings = reading->settings;
	if (!reading->server && strcmp(name, "default") == 0)
		return take_text(reading, &settings->standard, value);
	for (size_t i = 0; reading->server && i < COUNT(KEYS); i++)
		if (strcmp(KEYS[i].name, name) == 0)
			return KEYS[i].take(reading, value);
	return fail(reading->error, ERROR_INPUT, "%s line %d: there is no setting %s%s.",
		settings->path, reading->line, quote(settings->arena, name),
		reading->server ? "" : " before the first [server]");
}

static int take_section(struct reading *reading, char *text)
{
	struct settings *settings = reading->settings;
	size_t length = strlen(text);
	bool closes = text[length - 1] == ']';
	text[length - 1] = '\0';
	if (!closes || !settings_is_name(text + 1))
		return fail(reading->error, ERROR_INPUT,
			"%s line %d: expected the name of a server in brackets, such as [lab].", settings->path,
			reading->line);
	if (settings_find(settings, text + 1))
		return fail(reading->error, ERROR_INPUT, "%s line %d: [%s] occurs twice. Keep one of them.",
			settings->path, reading->line, text + 1);
	if (settings->count == settings_most_servers)
		return fail(reading->error, ERROR_LIMIT, "%s has more than %d servers.", settings->path,
			(int)settings_most_servers);
	reading->server = &settings->servers[settings->count++];
	*reading->server =
		(struct settings_server){ .name = arena_strdup(settings->arena, text + 1), .url = "" };
	return 0;
}

static int take_line(struct reading *reading, char *line)
{
	char *text = text_trim(line), *equals = strchr(text, '=');
	if (!*text || *text == '#')
		return 0;
	if (*text == '[')
		return take_section(reading, text);
	if (!equals)
		return fail(reading->error, ERROR_INPUT, "%s line %d: expected `name = value`.",
			reading->settings->path, reading->line);
	*equals = '\0';
	return take_setting(reading, text_trim(text), text_trim(equals + 1));
}

static int check_servers(const struct settings *settings, struct error *error)
{
	for (size_t i = 0; i < settings->count; i++)
		if (!*settings->servers[i].url)
			return fail(error, ERROR_INPUT, "%s: [%s] has no url.", settings->path,
				settings->servers[i].name);
	return 0;
}

static int read_all(const char *path, int descriptor, struct buffer *text, struct error *error)
{
	char piece[4096];
	for (ssize_t length; (length = read(descriptor, piece, sizeof piece)) != 0;) {
		if (length < 0)
			return fail(error, ERROR_SYSTEM, "Cannot read %s: %s.", path, strerror(errno));
		buffer_append(text, piece, (size_t)length);
		if (text->length > most_bytes)
			return fail(error, ERROR_LIMIT, "%s is larger than %d KiB.", path, most_bytes >> 10);
	}
	return 0;
}

/* Refuses a file that others can read: anybody who has a token can act for the token's owner. */
static int check_privacy(const char *path, int descriptor, struct error *error)
{
	struct stat about;
	if (fstat(descriptor, &about))
		return fail(error, ERROR_SYSTEM, "Cannot look at %s: %s.", path, strerror(errno));
	if (!S_ISREG(about.st_mode))
		return fail(error, ERROR_INPUT, "%s is not a file.", path);
	if (about.st_uid != geteuid())
		return fail(error, ERROR_FORBIDDEN,
			"%s belongs to another user, so podium does not read it.", path);
	if (about.st_mode & 077)
		return fail(error, ERROR_FORBIDDEN,
			"Others can read %s and its tokens. Replace the tokens if somebody may have read them, "
			"then run: chmod 600 %s",
			path, path);
	return 0;
}

static const char *find_path(struct arena *arena)
{
	const char *path = getenv("PODIUM_SERVERS"), *config = getenv("XDG_CONFIG_HOME"),
			   *home = getenv("HOME");
	if (path && *path)
		return arena_strdup(arena, path);
	if (config && *config == '/')
		return arena_printf(arena, "%s/podium/config", config);
	return arena_printf(arena, "%s/.config/podium/config", home && *home ? home : "");
}

static int read_file(struct settings *settings, int descriptor, struct error *error)
{
	cleanup_buffer struct buffer text = { 0 };
	struct reading reading = { .settings = settings, .error = error };
	int rc = check_privacy(settings->path, descriptor, error);
	rc = rc ? rc : read_all(settings->path, descriptor, &text, error);
	char *rest = text.data;
	for (char *line; !rc && rest && (line = strsep(&rest, "\n"));) {
		reading.line++;
		rc = take_line(&reading, line);
	}
	if (text.data)
		explicit_bzero(text.data, text.capacity);
	return rc ? rc : check_servers(settings, error);
}

int settings_load(struct arena *arena, struct settings *settings, struct error *error)
{
	*settings = (struct settings){ .arena = arena, .path = find_path(arena) };
	cleanup_fd int descriptor = open(settings->path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	if (descriptor < 0 && (errno == ENOENT || errno == ENOTDIR))
		return 0;
	if (descriptor < 0)
		return fail(error, ERROR_SYSTEM, "Cannot open %s: %s.", settings->path, strerror(errno));
	return read_file(settings, descriptor, error);
}

/* ---- choosing ---- */

struct settings_server *settings_find(struct settings *settings, const char *name)
{
	for (size_t i = 0; i < settings->count; i++)
		if (strcmp(settings->servers[i].name, name) == 0)
			return &settings->servers[i];
	return NULL;
}

static const struct settings_server *find_by_url(const struct settings *settings, const char *url)
{
	for (size_t i = 0; i < settings->count; i++)
		if (strcmp(settings->servers[i].url, url) == 0)
			return &settings->servers[i];
	return NULL;
}

/* Finds a server by its name in the file or by its address, which the file need not contain. */
static int find_wish(const struct settings *settings, const char *wish,
	struct settings_server *server, struct error *error)
{
	const struct settings_server *found =
		settings_find((struct settings *)(uintptr_t)settings, wish);
	bool is_address = strchr(wish, '.') || strchr(wish, ':') || strcmp(wish, "localhost") == 0;
	if (!found && !is_address)
		return fail(error, ERROR_NOT_FOUND,
			"There is no server %s in %s. Sign in to it: podium login ADDRESS --name %s",
			quote(settings->arena, wish), settings->path, settings_is_name(wish) ? wish : "NAME");
	*server = (struct settings_server){ .name = "" };
	if (!found && http_address(settings->arena, wish, &server->url, error))
		return error->code;
	found = found ? found : find_by_url(settings, server->url);
	*server = found ? *found : *server;
	return 0;
}

static const char *read_variable(const char *name)
{
	const char *value = getenv(name);
	return value && *value ? value : NULL;
}

int settings_choose(const struct settings *settings, const char *wish,
	struct settings_server *server, struct error *error)
{
	const char *usual = read_variable("PODIUM_SERVER"), *token = read_variable("PODIUM_TOKEN");
	const char *fallback = settings->standard ? settings->standard
		: settings->count == 1                ? settings->servers[0].name
											  : NULL;
	const char *chosen = wish ? wish : usual ? usual : fallback;
	struct settings_server meant;
	if (token && !usual)
		return fail(error, ERROR_INPUT,
			"PODIUM_TOKEN is set without PODIUM_SERVER, so its server is unknown. Set both.");
	if (!chosen && settings->count)
		return fail(error, ERROR_NOT_FOUND,
			"%s has several servers and no default. Name one with --server.", settings->path);
	if (!chosen)
		return fail(error, ERROR_NOT_FOUND,
			"There is no server yet. Sign in first: podium login ADDRESS, or name a server with "
			"--server.");
	int rc = find_wish(settings, chosen, server, error);
	if (!rc && token && !(rc = find_wish(settings, usual, &meant, error))
		&& strcmp(meant.url, server->url) == 0)
		server->token = token;
	return rc;
}

/* ---- writing ---- */

int settings_put(
	struct settings *settings, const struct settings_server *server, struct error *error)
{
	struct settings_server *place = settings_find(settings, server->name);
	if (!place && settings->count == settings_most_servers)
		return fail(error, ERROR_LIMIT, "%s has %d servers already. Remove one with podium logout.",
			settings->path, (int)settings_most_servers);
	place = place ? place : &settings->servers[settings->count++];
	*place = *server;
	settings->standard = settings->standard ? settings->standard : place->name;
	return 0;
}

void settings_remove(struct settings *settings, const char *name)
{
	struct settings_server *place = settings_find(settings, name);
	if (!place)
		return;
	bool was_standard = settings->standard && strcmp(settings->standard, name) == 0;
	size_t behind = (size_t)(settings->servers + settings->count - place - 1);
	memmove(place, place + 1, behind * sizeof *place);
	settings->count--;
	if (was_standard)
		settings->standard = settings->count ? settings->servers[0].name : NULL;
}

static void write_setting(struct buffer *out, const char *name, const char *value)
{
	if (value)
		buffer_printf(out, "%s = %s\n", name, value);
}

static void write_all(struct buffer *out, const struct settings *settings)
{
	buffer_text(out,
		"# The servers of the command podium. Anybody with a token can act for its owner, so keep "
		"this file private.\n");
	write_setting(out, "default", settings->standard);
	for (size_t i = 0; i < settings->count; i++) {
		const struct settings_server *server = &settings->servers[i];
		buffer_printf(out, "\n[%s]\n", server->name);
		write_setting(out, "url", server->url);
		write_setting(out, "token", server->token);
		write_setting(out, "user", server->user);
		write_setting(out, "ca_file", server->ca_file);
		write_setting(out, "insecure_http", server->insecure_http ? "yes" : NULL);
	}
}

/* Creates all folders above a file, accessible to the owner only. */
static void make_folders(struct arena *arena, const char *path)
{
	char *copy = arena_strdup(arena, path);
	for (char *slash = strchr(copy + 1, '/'); slash; slash = strchr(slash + 1, '/')) {
		*slash = '\0';
		mkdir(copy, 0700);
		*slash = '/';
	}
}

/* If the file is a link to settings that are kept elsewhere, returns the link's target, so that
 * writing keeps the link. */
static const char *real_path(struct arena *arena, const char *path)
{
	cleanup_free char *real = realpath(path, NULL);
	return real ? arena_strdup(arena, real) : path;
}

static int write_file(const char *path, const struct buffer *text)
{
	cleanup_fd int descriptor =
		open(path, O_WRONLY | O_CREAT | O_TRUNC | O_NOFOLLOW | O_CLOEXEC, 0600);
	if (descriptor < 0 || fchmod(descriptor, 0600)
		|| write(descriptor, text->data, text->length) != (ssize_t)text->length)
		return -1;
	return fsync(descriptor);
}

int settings_save(const struct settings *settings, struct error *error)
{
	cleanup_buffer struct buffer text = { 0 };
	make_folders(settings->arena, settings->path);
	const char *path = real_path(settings->arena, settings->path);
	const char *fresh = arena_printf(settings->arena, "%s.new", path);
	write_all(&text, settings);
	unlink(fresh); /* whoever has an old file of this name open must not read the new one */
	int rc = write_file(fresh, &text) || rename(fresh, path) ? ERROR_SYSTEM : 0;
	if (rc)
		fail(error, rc, "Cannot write %s: %s.", path, strerror(errno));
	explicit_bzero(text.data, text.capacity);
	return rc;
}
