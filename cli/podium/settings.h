/* Reads and writes the servers that a user signed in to.
 *
 * The file is $PODIUM_SERVERS, else podium/config in $XDG_CONFIG_HOME or ~/.config. Only its owner
 * may read the file. The environment variable PODIUM_SERVER chooses a server by its name in the
 * file or by its address. PODIUM_TOKEN is the token of that server and is sent to no other. An
 * example of the file:
 *
 *	default = lab
 *
 *	[lab]
 *	url = https://podium.example.org
 *	token = podium_...
 *	user = ada
 *	ca_file = /home/ada/lab.pem       (optional: trust these certificates and no others)
 *	insecure_http = yes               (optional: the token may go over plain http)
 */
#ifndef PODIUM_CLI_PODIUM_SETTINGS_H
#define PODIUM_CLI_PODIUM_SETTINGS_H

#include "lib/base/arena.h"
#include "lib/base/error.h"

#include <stdbool.h>
#include <stddef.h>

enum { settings_most_servers = 64 };

struct settings_server {
	const char *name;                   /* "" if the file does not list it */
	const char *url;                    /* as http_address returns it */
	const char *token, *user, *ca_file; /* NULL: none */
	bool insecure_http;
};

struct settings {
	struct arena *arena;
	const char *path;
	const char *standard; /* name of the default server, or NULL */
	struct settings_server servers[settings_most_servers];
	size_t count;
};

/* A missing file counts as empty. ERROR_FORBIDDEN if others can read the file; ERROR_INPUT names
 * the wrong line. */
int settings_load(struct arena *arena, struct settings *settings, struct error *error);

/* Replaces the whole file; only the owner may read it. */
int settings_save(const struct settings *settings, struct error *error);

/* Finds the server that `wish` names, by name or address. If `wish` is NULL, finds the server that
 * PODIUM_SERVER or the file chooses. ERROR_NOT_FOUND if there is no such server. */
int settings_choose(const struct settings *settings, const char *wish,
	struct settings_server *server, struct error *error);

/* Returns the server with that name, or NULL. */
struct settings_server *settings_find(struct settings *settings, const char *name);

/* Adds a server, or replaces the one with the same name. The first server becomes the default.
 * ERROR_LIMIT if there are too many. */
int settings_put(
	struct settings *settings, const struct settings_server *server, struct error *error);
void settings_remove(struct settings *settings, const char *name);

/* Whether the name fits in the file's brackets: letters, digits, "-", "_" and ".". */
bool settings_is_name(const char *name);

#endif
